//go:build linux || darwin

package files

import (
	"errors"

	"github.com/settle-cm/settle/model/disk"
	"golang.org/x/sys/unix"
)

// Remove removes a path, and a directory with all its contents only when tree is
// set. Done reports whether anything was removed.
func Remove(path string, tree bool) (done bool, err error) {
	p, base, err := openParent(path)
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
		if at := p.mountPoint(base); at != "" {
			return false, fail("remove", path, mountedError(at))
		}
		// rename first: whatever stops the removal, the path is gone in one step
		name = temporary(base)
		if err := p.removeRemains(name); err != nil {
			return false, p.describe("remove", base, err)
		}
		if err := unix.Renameat(p.fd, base, p.fd, name); err != nil {
			return false, p.describe("remove", base, err)
		}
	}
	if err := p.removeAll(name); err != nil {
		return name != base, p.describe("remove", base, err)
	}
	if err := p.sync(); err != nil {
		return true, fail("sync directory", p.path, err)
	}
	return true, nil
}

// Sweep removes the entry that a killed run left beside a path (State.Remains).
func Sweep(path string) error {
	p, base, err := openParent(path)
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.removeRemains(temporary(base)); err != nil {
		return p.describe("change", base, err)
	}
	return nil
}
