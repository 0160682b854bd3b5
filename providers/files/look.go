//go:build linux || darwin

package files

import (
	"errors"
	"io"
	"os"

	"github.com/settle-cm/settle/model/disk"
	"golang.org/x/sys/unix"
)

// Look says what stands at an absolute path. Where a directory on the way is
// missing, or is none, nothing stands there.
func Look(path string) (disk.State, error) {
	p, base, err := enter(path)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return disk.State{}, nil
	}
	if err != nil {
		return disk.State{}, err
	}
	defer p.close()
	var found disk.State
	if _, err := p.stat(temporary(base)); err == nil {
		found.Remains = p.join(temporary(base))
	}
	st, err := p.stat(base)
	if errors.Is(err, unix.ENOENT) {
		return found, nil
	}
	if err != nil {
		return disk.State{}, fail("look at", path, err)
	}
	found.Kind, found.Mode, found.UID, found.GID = kind(&st), uint32(st.Mode)&permissions, st.Uid, st.Gid
	found.Size, found.Names = st.Size, int(st.Nlink)
	if found.Kind == disk.Link {
		if found.Target, err = readlink(p.fd, base); err != nil {
			return disk.State{}, fail("read link", path, err)
		}
	}
	return found, nil
}

// Open opens the regular file at a path for reading.
func Open(path string) (io.ReadCloser, error) {
	p, base, err := enter(path)
	if err != nil {
		return nil, err
	}
	defer p.close()
	// without O_NONBLOCK a pipe that took the file's place would be waited for
	fd, err := openRetry(p.fd, base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fail("open", path, err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		return nil, fail("look at", path, err)
	}
	switch {
	case kind(&st) != disk.Regular:
		err = errors.New("it is " + kind(&st).String())
	case p.planted(&st):
		err = errPlanted
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, fail("open", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// Obstacle returns why a change of the path would fail now: a missing or closed
// directory, or an attribute that forbids changes. It returns nil when no
// obstacle can be seen without trying.
func Obstacle(path string) error {
	p, base, err := enter(path)
	if err != nil {
		return absent(err)
	}
	defer p.close()
	if err := unix.Faccessat(p.fd, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
		return fail("write in", p.path, err)
	}
	if name := p.frozen(base); name != "" {
		return fail("change", path, frozenError(name))
	}
	return nil
}

// absent gives a missing directory on the way its own words.
func absent(err error) error {
	var e *Error
	if errors.As(err, &e) && errors.Is(e.Err, unix.ENOENT) {
		return fail(e.Verb, e.Path, missingError{})
	}
	return err
}

// missingError is a directory on the way that does not exist.
type missingError struct{}

func (missingError) Error() string {
	return "it does not exist, and settle makes only what is declared"
}
func (missingError) Unwrap() error { return unix.ENOENT }

// frozenError names what has the attribute that forbids any change.
type frozenError string

func (e frozenError) Error() string {
	return string(e) + " is immutable or append-only; " + thaw + " " + string(e)
}

// frozen returns the path, or its directory, when it may not be changed by
// anyone; "" when neither is known to be so.
func (p *parent) frozen(base string) string {
	names := map[string]string{".": p.path, base: p.join(base)}
	for _, name := range []string{base, "."} {
		st, err := p.stat(name)
		if k := kind(&st); err != nil || k != disk.Regular && k != disk.Directory {
			continue // to open a device may do something
		}
		fd, err := openRetry(p.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		is := frozen(fd)
		_ = unix.Close(fd)
		if is {
			return names[name]
		}
	}
	return ""
}

// explain puts what is behind a bare "operation not permitted" in its place.
func (p *parent) explain(verb, base string, err error) error {
	path := p.join(base)
	switch {
	case errors.Is(err, unix.EPERM):
		if name := p.frozen(base); name != "" {
			return fail(verb, path, frozenError(name))
		}
	case errors.Is(err, unix.EBUSY):
		return fail(verb, path, errors.New("something is mounted there: it can be changed only where it comes from"))
	}
	return fail(verb, path, err)
}

// readlink returns where a link points.
func readlink(dir int, name string) (string, error) {
	for size := 256; ; size *= 2 {
		buf := make([]byte, size)
		n, err := unix.Readlinkat(dir, name, buf)
		if err != nil {
			return "", err
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}
