//go:build linux || darwin

package files

import (
	"errors"
	"fmt"

	"github.com/settle-cm/settle/model/disk"
	"golang.org/x/sys/unix"
)

// Obstacle returns why a change of the path would fail now: a missing or closed
// directory, or an attribute that forbids changes. It returns nil when no
// obstacle can be seen without trying.
func Obstacle(path string) error {
	p, base, err := openParent(path)
	if err != nil {
		return describeMissing(err)
	}
	defer p.close()
	if err := unix.Faccessat(p.fd, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
		return fail("write in", p.path, p.hintInPlace(base, err))
	}
	if at := p.mountPoint(base); at != "" {
		return fail("change", path, p.hintInPlace(base, mountedError(at)))
	}
	if name := p.immutablePath(base); name != "" {
		return fail("change", path, immutableError(name))
	}
	return nil
}

// describeMissing words the error for a missing directory on the way.
func describeMissing(err error) error {
	var e *Error
	if errors.As(err, &e) && errors.Is(e.Err, unix.ENOENT) {
		return fail(e.Verb, e.Path, missingError{})
	}
	return err
}

// missingError reports a directory on the way that does not exist.
type missingError struct{}

func (missingError) Error() string {
	return "it does not exist; set parents: true, or declare the directory as a file resource"
}
func (missingError) Unwrap() error { return unix.ENOENT }

// immutableError is the path whose attribute forbids any change.
type immutableError string

func (e immutableError) Error() string {
	return string(e) + " is immutable or append-only; " + allowChanges + " " + string(e)
}

// immutablePath returns the path or its directory when an attribute forbids any
// change of it, and "" when no such attribute can be read.
func (p *parent) immutablePath(base string) string {
	names := map[string]string{".": p.path, base: p.join(base)}
	for _, name := range []string{base, "."} {
		st, err := p.stat(name)
		if k := kind(&st); err != nil || k != disk.Regular && k != disk.Directory {
			continue // opening a device can have an effect
		}
		fd, err := openRetry(p.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		is := isImmutable(fd)
		_ = unix.Close(fd)
		if is {
			return names[name]
		}
	}
	return ""
}

// describe words an error of the system, and finds the cause of EPERM and EBUSY.
func (p *parent) describe(verb, base string, err error) error {
	path := p.join(base)
	switch {
	case errors.Is(err, unix.EPERM):
		if name := p.immutablePath(base); name != "" {
			return fail(verb, path, immutableError(name))
		}
	case errors.Is(err, unix.EBUSY):
		return fail(verb, path, p.hintInPlace(base, mountedError(path)))
	}
	return fail(verb, path, p.hintInPlace(base, err))
}

// mountedError is the path of a mount that forbids a change.
type mountedError string

func (e mountedError) Error() string {
	return "something is mounted at " + string(e) + ", which can only be changed where it comes from"
}

// hintInPlace adds to an error that write: in_place would succeed, when the file
// can be written itself and only its replacement fails.
func (p *parent) hintInPlace(base string, err error) error {
	var mounted mountedError
	helps := errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) || errors.As(err, &mounted)
	st, statErr := p.stat(base)
	if !helps || statErr != nil || kind(&st) != disk.Regular || unix.Faccessat(p.fd, base, unix.W_OK, unix.AT_EACCESS) != nil {
		return err
	}
	return fmt.Errorf("%w; write: in_place changes the content of the file itself", err)
}
