//go:build linux || darwin

package files

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// removeAll removes an entry with all its contents. It does not follow links.
func (p *parent) removeAll(name string) error {
	err := unix.Unlinkat(p.fd, name, 0)
	if !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.EPERM) { // the error for a directory depends on the system
		return err
	}
	if unix.Unlinkat(p.fd, name, unix.AT_REMOVEDIR) == nil {
		return nil
	}
	fd, openErr := openRetry(p.fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if openErr != nil {
		if errors.Is(openErr, unix.ENOTDIR) {
			return err
		}
		return openErr
	}
	dir := os.NewFile(uintptr(fd), p.join(name))
	defer dir.Close()
	below := &parent{fd, dir.Name()}
	for {
		names, _ := dir.Readdirnames(1000) // an unread name makes the removal of the directory fail
		if len(names) == 0 {
			break
		}
		for _, n := range names {
			if err := below.removeAll(n); err != nil && !errors.Is(err, unix.ENOENT) {
				return fail("remove", below.join(n), err)
			}
		}
		_, _ = dir.Seek(0, io.SeekStart) // some systems lose the position when an entry is removed
	}
	return unix.Unlinkat(p.fd, name, unix.AT_REMOVEDIR)
}

// Contents returns the first paths below a directory in the order of their names,
// at most limit of them, and how many there are. It does not follow links.
func Contents(path string, limit int) (paths []string, total int, err error) {
	p, base, err := openParent(path)
	if err != nil {
		return nil, 0, err
	}
	defer p.close()
	err = p.list(base, func(path string) {
		if total++; len(paths) < limit {
			paths = append(paths, path)
		}
	})
	return paths, total, err
}

// list calls fn for every path below a directory.
func (p *parent) list(name string, fn func(path string)) error {
	fd, err := openRetry(p.fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return fail("list", p.join(name), err)
	}
	dir := os.NewFile(uintptr(fd), p.join(name))
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return fail("list", dir.Name(), err)
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	below := &parent{fd, dir.Name()}
	for _, e := range entries {
		fn(below.join(e.Name()))
		if e.IsDir() {
			if err := below.list(e.Name(), fn); err != nil {
				return err
			}
		}
	}
	return nil
}
