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

// notCopied lists attributes that belong to a content: the kernel drops the first
// when a file is written, and signs the content with the others.
var notCopied = []string{"security.capability", "security.ima", "security.evm"}

// copyAttributes copies the extended attributes of the former file to a new one:
// access lists, the SELinux context, attributes of users. It returns the
// attributes that were refused.
func (p *parent) copyAttributes(file *os.File, base string, mode *uint32) (lost []string) {
	st, err := p.stat(base)
	if err != nil || kind(&st) != disk.Regular {
		return nil
	}
	from, err := openRetry(p.fd, base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil // its attributes cannot be read either
	}
	defer unix.Close(from)
	to := int(file.Fd())
	for _, name := range listAttributes(from) {
		if slices.Contains(notCopied, name) {
			continue
		}
		value, err := readAttribute(from, name)
		if err != nil {
			continue // it is gone, or may not be read
		}
		if name == accessList && mode != nil {
			value = limitAccess(value, *mode)
		}
		if has, err := readAttribute(to, name); err == nil && bytes.Equal(has, value) {
			continue
		}
		if err := unix.Fsetxattr(to, name, value, 0); err != nil {
			lost = append(lost, name+": "+err.Error())
		}
	}
	return lost
}

// accessList is the attribute that holds the access list of a file.
const accessList = "system.posix_acl_access"

// limitAccess returns an access list as a change of the mode would leave it. The
// new file has its stricter mode later than its list, and the users in the list
// must not open it before.
func limitAccess(list []byte, mode uint32) []byte {
	const header, size = 4, 8 // bytes of a version, and of an entry: tag, permissions, id
	const owner, group, mask, other = 0x01, 0x04, 0x10, 0x20
	list = slices.Clone(list)
	bits := map[byte]uint32{owner: mode >> 6, group: mode >> 3, mask: mode >> 3, other: mode}
	for at := header; at+size <= len(list); at += size {
		if list[at] == mask {
			delete(bits, group) // the mask limits the group
		}
	}
	for at := header; at+size <= len(list); at += size {
		if b, ok := bits[list[at]]; ok {
			list[at+2] = byte(b & 7)
		}
	}
	return list
}

func listAttributes(fd int) []string {
	buf, err := readGrowing(func(buf []byte) (int, error) { return unix.Flistxattr(fd, buf) })
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

func readAttribute(fd int, name string) ([]byte, error) {
	return readGrowing(func(buf []byte) (int, error) { return unix.Fgetxattr(fd, name, buf) })
}

// readGrowing calls read with a larger buffer until the value fits.
func readGrowing(read func([]byte) (int, error)) ([]byte, error) {
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
