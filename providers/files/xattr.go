//go:build linux || darwin

package files

import (
	"bytes"
	"errors"
	"os"
	"slices"

	"github.com/settle-cm/settle/model/disk"
	"golang.org/x/sys/unix"
)

// notInherited are attributes that belong to a content and not to a name: the
// kernel drops the first when a file is written, and signs with the others.
var notInherited = []string{"security.capability", "security.ima", "security.evm"}

// inherit gives a new file the extended attributes of the one that it replaces:
// access lists, the SELinux context, what users set. It returns those that were
// refused.
func (p *parent) inherit(file *os.File, base string) (lost []string) {
	st, err := p.stat(base)
	if err != nil || kind(&st) != disk.Regular {
		return nil
	}
	from, err := openRetry(p.fd, base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil // what cannot be read has nothing to show
	}
	defer unix.Close(from)
	to := int(file.Fd())
	for _, name := range list(from) {
		if slices.Contains(notInherited, name) {
			continue
		}
		value, err := attribute(from, name)
		if err != nil {
			continue // it went, or is not for us to see
		}
		if has, err := attribute(to, name); err == nil && bytes.Equal(has, value) {
			continue
		}
		if err := unix.Fsetxattr(to, name, value, 0); err != nil {
			lost = append(lost, name+": "+err.Error())
		}
	}
	return lost
}

func list(fd int) []string {
	buf, err := grow(func(buf []byte) (int, error) { return unix.Flistxattr(fd, buf) })
	if err != nil {
		return nil // no attributes on this file system
	}
	var names []string
	for name := range bytes.SplitSeq(buf, []byte{0}) {
		if len(name) > 0 {
			names = append(names, string(name))
		}
	}
	return names
}

func attribute(fd int, name string) ([]byte, error) {
	return grow(func(buf []byte) (int, error) { return unix.Fgetxattr(fd, name, buf) })
}

// grow reads into a buffer that is large enough.
func grow(read func([]byte) (int, error)) ([]byte, error) {
	for size := 256; ; size *= 4 {
		buf := make([]byte, size)
		n, err := read(buf)
		if err == nil {
			return buf[:n], nil
		}
		if !errors.Is(err, unix.ERANGE) || size > 1<<20 {
			return nil, err
		}
	}
}
