//go:build linux || darwin

package files

import (
	"errors"
	"io"
	"os"

	"github.com/settle-cm/settle/model/disk"
	"golang.org/x/sys/unix"
)

// Remove removes what stands at a path; a directory, with all that is in it,
// only when tree is set. Done says whether anything was removed.
func Remove(path string, tree bool) (done bool, err error) {
	p, base, err := enter(path)
	if err != nil {
		return false, err
	}
	defer p.close()
	st, err := p.stat(base)
	if errors.Is(err, unix.ENOENT) {
		return false, nil
	}
	if err != nil {
		return false, fail("look at", path, err)
	}
	name := base
	if kind(&st) == disk.Directory {
		if !tree {
			return false, fail("remove", path, errors.New("it is a directory, which only force removes"))
		}
		// in one step: whatever stops the rest, the path is gone
		name = temporary(base)
		if err := p.clear(name); err != nil {
			return false, p.explain("remove", base, err)
		}
		if err := unix.Renameat(p.fd, base, p.fd, name); err != nil {
			return false, p.explain("remove", base, err)
		}
	}
	if err := p.removeAll(name); err != nil {
		return name != base, p.explain("remove", base, err)
	}
	if err := p.sync(); err != nil {
		return true, fail("sync directory", p.path, err)
	}
	return true, nil
}

// Sweep removes what a killed run left beside a path (FileState.Remains).
func Sweep(path string) error {
	p, base, err := enter(path)
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.clear(temporary(base)); err != nil {
		return p.explain("change", base, err)
	}
	return nil
}

// removeAll removes an entry and all below it. It enters real directories only.
func (p *parent) removeAll(name string) error {
	err := unix.Unlinkat(p.fd, name, 0)
	if !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.EPERM) { // which of them a directory is, depends on the system
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
		names, _ := dir.Readdirnames(1000) // what it hides keeps the directory from being removed
		if len(names) == 0 {
			break
		}
		for _, n := range names {
			if err := below.removeAll(n); err != nil && !errors.Is(err, unix.ENOENT) {
				return fail("remove", below.join(n), err)
			}
		}
		_, _ = dir.Seek(0, io.SeekStart) // some systems lose their place over a removal
	}
	return unix.Unlinkat(p.fd, name, unix.AT_REMOVEDIR)
}
