//go:build linux || darwin

package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/settle-cm/settle/model/disk"
	"golang.org/x/sys/unix"
)

// merging moves the entries of a staged tree over those of a directory.
type merging struct {
	ctx      context.Context
	uid, gid *uint32
	began    bool
}

// merge moves every entry of the tree into the directory, files by rename. It
// first looks whether all of them can take their place.
func (s *Staging) merge(ctx context.Context, n Placement) (began bool, err error) {
	from, err := openDirectoryAt(s.made.hold, stagedTree)
	if err != nil {
		return false, fail("open", s.p.join(s.temp), err)
	}
	defer from.Close()
	target := s.base
	if target == "" {
		target = "."
	}
	to, err := openDirectoryAt(s.p.fd, target)
	if err != nil {
		return false, fail("open", s.p.join(s.base), err)
	}
	defer to.Close()
	m := &merging{ctx: ctx, uid: n.UID, gid: n.GID}
	below := &parent{int(to.Fd()), s.p.join(s.base)}
	if err := m.check(from, below); err != nil {
		return false, err
	}
	if err := m.move(from, below); err != nil {
		return m.began, err
	}
	// the names have to be on the disk before the journal says that they are
	return m.began, fail("sync", below.path, syncFilesystem(below.fd))
}

// openDirectoryAt opens a directory for listing. It does not follow a link.
func openDirectoryAt(dir int, name string) (*os.File, error) {
	fd, err := openRetry(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// check looks for an entry that cannot take its place. A directory never takes
// the place of a file without a word, nor the other way round.
func (m *merging) check(from *os.File, to *parent) error {
	return m.each(from, to, func(e os.DirEntry, st *unix.Stat_t) (enter bool, err error) {
		is := kind(st)
		switch {
		case e.IsDir() && is == disk.Directory:
			return true, nil
		case e.IsDir():
			err = errors.New("it is " + is.String() + ", and a directory in the archive: remove it, or set purge: true")
		case is == disk.Directory:
			err = errors.New("it is a directory, and a file in the archive: remove it, or set purge: true")
		case is == disk.Special:
			err = errors.New("it is " + is.String() + ", which is never replaced")
		}
		return false, fail("replace", to.join(e.Name()), err)
	}, m.check)
}

// move moves the entries. A directory that is missing moves with all its contents.
func (m *merging) move(from *os.File, to *parent) error {
	if m.uid != nil || m.gid != nil {
		if err := to.chownSelf(m.uid, m.gid); err != nil {
			return err
		}
	}
	err := m.each(from, to, func(e os.DirEntry, st *unix.Stat_t) (enter bool, err error) {
		if e.IsDir() {
			return true, nil
		}
		return false, m.rename(from, e.Name(), to)
	}, m.move)
	if err != nil {
		return err
	}
	return m.moveMissing(from, to)
}

func (m *merging) rename(from *os.File, name string, to *parent) error {
	if err := unix.Renameat(int(from.Fd()), name, to.fd, name); err != nil {
		return fail("replace", to.join(name), err)
	}
	m.began = true
	return nil
}

// moveMissing moves the entries that have no counterpart.
func (m *merging) moveMissing(from *os.File, to *parent) error {
	_, err := from.Seek(0, 0)
	if err != nil {
		return err
	}
	entries, err := from.ReadDir(-1)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, err := to.stat(e.Name()); !errors.Is(err, unix.ENOENT) {
			continue // it was merged
		}
		if err := m.rename(from, e.Name(), to); err != nil {
			return err
		}
	}
	return nil
}

// each calls fn for every entry of a directory that has a counterpart in another
// one, and down for those that fn enters.
func (m *merging) each(from *os.File, to *parent, fn func(os.DirEntry, *unix.Stat_t) (bool, error), down func(*os.File, *parent) error) error {
	if m.ctx.Err() != nil {
		return context.Cause(m.ctx)
	}
	if _, err := from.Seek(0, 0); err != nil {
		return err
	}
	entries, err := from.ReadDir(-1)
	if err != nil {
		return err
	}
	for _, e := range entries {
		st, err := to.stat(e.Name())
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return fail("look at", to.join(e.Name()), err)
		}
		enter, err := fn(e, &st)
		if err != nil {
			return err
		}
		if !enter {
			continue
		}
		if err := m.enter(from, to, e.Name(), down); err != nil {
			return err
		}
	}
	return nil
}

func (m *merging) enter(from *os.File, to *parent, name string, down func(*os.File, *parent) error) error {
	inner, err := openDirectoryAt(int(from.Fd()), name)
	if err != nil {
		return fail("open", filepath.Join(from.Name(), name), err)
	}
	defer inner.Close()
	target, err := openDirectoryAt(to.fd, name)
	if err != nil {
		return fail("open", to.join(name), err)
	}
	defer target.Close()
	return down(inner, &parent{int(target.Fd()), to.join(name)})
}

// chownSelf sets the owner and group of an open directory where they are not nil.
func (p *parent) chownSelf(uid, gid *uint32) error {
	toUID, toGID := -1, -1
	if uid != nil {
		toUID = int(*uid)
	}
	if gid != nil {
		toGID = int(*gid)
	}
	return fail("give to "+ids(toUID, toGID), p.path, unix.Fchown(p.fd, toUID, toGID))
}
