//go:build linux || darwin

package files

import (
	"errors"

	"github.com/settle-cm/settle/model/disk"
	"golang.org/x/sys/unix"
)

// entry is one entry of a directory, opened itself: a link is not followed.
type entry struct {
	fd     int // -1 where the system cannot open a link
	stat   unix.Stat_t
	target string // of a link
}

func (i *entry) close() {
	if i.fd >= 0 {
		_ = unix.Close(i.fd) // nothing was written through the descriptor
	}
}

// openRetry is openat, repeated when a signal interrupts it.
func openRetry(dir int, name string, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_CLOEXEC, mode)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// kind returns the kind of a stat.
func kind(st *unix.Stat_t) disk.Kind {
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return disk.Regular
	case unix.S_IFDIR:
		return disk.Directory
	case unix.S_IFLNK:
		return disk.Link
	}
	return disk.Special
}

// permissions are the twelve bits of a mode that chmod sets.
const permissions = 0o7777

// readlink returns the target of a link.
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

// fail returns an Error, or nil without a cause.
func fail(verb, path string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{verb, path, err}
}
