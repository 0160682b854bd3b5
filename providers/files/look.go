//go:build linux || darwin

package files

import (
	"errors"
	"io"
	"os"

	"github.com/settle-cm/settle/model/disk"
	"golang.org/x/sys/unix"
)

// Look returns the state of an absolute path. The path is missing when a
// directory on the way is missing or is another kind of entry.
func Look(path string) (disk.State, error) {
	p, base, err := openParent(path)
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
	found.Inode, found.Changed = version(&st)
	if found.Kind == disk.Link {
		if found.Target, err = readlink(p.fd, base); err != nil {
			return disk.State{}, fail("read link", path, err)
		}
	}
	return found, nil
}

// Open opens the regular file at a path for reading.
func Open(path string) (io.ReadCloser, error) {
	p, base, err := openParent(path)
	if err != nil {
		return nil, err
	}
	defer p.close()
	// O_NONBLOCK: opening a pipe that took the file's place must not block
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
	case p.hasForeignNames(&st):
		err = errForeignNames
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, fail("open", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}
