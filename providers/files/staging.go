//go:build linux || darwin

package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/settle-cm/settle/model/disk"
	"golang.org/x/sys/unix"
)

// Names in a staging directory.
const (
	stagedTree = "tree"
	stagedOld  = "old"
)

// Staging is a private directory beside a path, on the same file system. A new
// tree for the path is built in it, and moved to its place when it is complete.
// A killed run leaves the directory, which the next run finds and removes.
type Staging struct {
	Root *os.Root // of the staging directory
	p    *parent
	base string // "": the path is staged within itself
	temp string
	made *newEntry
}

// Placement says how a staged tree takes its place.
type Placement struct {
	Purge    bool // the whole tree is exchanged, else it is merged
	UID, GID *uint32
}

// NewStaging makes the staging directory of a path, with an empty directory tree
// in it. Missing directories above the path are made. The path itself must be a
// directory or missing.
func NewStaging(path string, purge bool) (*Staging, error) {
	p, base, err := openParent(path)
	if errors.Is(err, unix.ENOENT) {
		if err := makeParents(filepath.Dir(path)); err != nil {
			return nil, err
		}
		p, base, err = openParent(path)
	}
	if err != nil {
		return nil, describeMissing(err)
	}
	s := &Staging{p: p, base: base, temp: temporary(base)}
	if err := s.choosePlace(path, purge); err != nil {
		s.p.close()
		return nil, err
	}
	if err := s.open(); err != nil {
		s.p.close()
		return nil, fail("write", s.p.join(s.temp), err)
	}
	return s, nil
}

// choosePlace checks the path. The staging of a mount point is within it, because
// nothing can be moved from one file system to another.
func (s *Staging) choosePlace(path string, purge bool) error {
	st, err := s.p.stat(s.base)
	if s.base == "" {
		st, err = s.p.stat(".")
	}
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return fail("look at", path, err)
	}
	if k := kind(&st); k != disk.Directory {
		return fail("unpack into", path, errors.New("it is "+k.String()+", and no directory"))
	}
	var above unix.Stat_t
	if err := unix.Fstat(s.p.fd, &above); err != nil {
		return fail("look at", s.p.path, err)
	}
	mounted := s.base == "" || st.Dev != above.Dev
	if purge {
		if at := s.p.mountPoint(s.base); mounted || at != "" {
			return fail("exchange", path, errors.New("it is a mount point, or has one in it: unpack without purge"))
		}
	}
	if !mounted {
		return nil
	}
	inner, _, err := openParent(filepath.Join(path, stagedTree))
	if err != nil {
		return err
	}
	s.p.close()
	s.p, s.base, s.temp = inner, "", temporary(stagedTree)
	return nil
}

// open makes the staging directory and opens it.
func (s *Staging) open() error {
	private := uint32(0o700)
	made, err := s.p.make(s.temp, &disk.NewFile{Kind: disk.Directory, Mode: &private})
	if err != nil {
		return err
	}
	s.made = made
	if err = unix.Mkdirat(made.hold, stagedTree, 0o755); err == nil {
		err = unix.Fchmodat(made.hold, stagedTree, 0o755, 0) // whatever the umask is
	}
	if err == nil {
		s.Root, err = os.OpenRoot(s.p.join(s.temp))
	}
	if err == nil {
		err = s.checkRoot()
	}
	if err != nil {
		_ = s.discard() // the earlier error is the one to report
	}
	return err
}

// checkRoot checks that the root is the directory that was made: its path may lead
// elsewhere meanwhile.
func (s *Staging) checkRoot() error {
	dir, err := s.Root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &st); err != nil {
		return err
	}
	if !s.made.is(&st) {
		return fmt.Errorf("another process has replaced %s", s.p.join(s.temp))
	}
	return nil
}

// Close removes the staging directory with all that is left in it.
func (s *Staging) Close() error {
	defer s.p.close()
	return s.discard()
}

func (s *Staging) discard() error {
	if s.Root != nil {
		_ = s.Root.Close() // it was a handle only
	}
	err := s.p.removeAll(s.temp)
	s.made.close()
	if errors.Is(err, unix.ENOENT) {
		err = nil
	}
	return fail("remove", s.p.join(s.temp), err)
}

// Place moves the tree to the path. Began reports whether the path was touched,
// also when err is set. The tree is on the disk before it takes its place.
func (s *Staging) Place(ctx context.Context, n Placement) (began bool, err error) {
	if err := syncFilesystem(s.made.hold); err != nil {
		return false, fail("sync", s.p.path, err)
	}
	st, err := s.p.stat(s.base)
	if s.base == "" {
		st, err = s.p.stat(".")
	}
	switch {
	case errors.Is(err, unix.ENOENT):
		err = renameAcross(s.made.hold, stagedTree, s.p.fd, s.base)
		began = err == nil
	case err != nil:
	case kind(&st) != disk.Directory:
		err = errCreatedMeanwhile
	case n.Purge:
		began, err = s.exchange(&st, n)
	default:
		return s.merge(ctx, n)
	}
	if err != nil {
		return began, fail("replace", s.p.join(s.base), err)
	}
	return began, fail("sync directory", s.p.path, s.p.sync())
}

// renameAcross renames an entry to a free name in another directory.
func renameAcross(from int, name string, to int, base string) error {
	err := renameNoReplaceAt(from, name, to, base)
	switch {
	case errors.Is(err, unix.EEXIST):
		return errCreatedMeanwhile
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOTSUP):
		return unix.Renameat(from, name, to, base)
	}
	return err
}

// exchange puts the tree at the place of the old one, which goes with the staging.
// The new directory gets the attributes of the old one where none are declared.
func (s *Staging) exchange(old *unix.Stat_t, n Placement) (began bool, err error) {
	tree, err := openEntry(s.made.hold, stagedTree)
	if err != nil {
		return false, err
	}
	defer tree.close()
	mode, uid, gid := uint32(old.Mode)&permissions, n.UID, n.GID
	if uid == nil {
		uid = &old.Uid
	}
	if gid == nil {
		gid = &old.Gid
	}
	staged := &parent{s.made.hold, s.p.join(s.temp)}
	if err := staged.set(tree, stagedTree, &mode, uid, gid); err != nil {
		return false, err
	}
	err = exchangeAt(s.made.hold, stagedTree, s.p.fd, s.base)
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.ENOTSUP) {
		return err == nil, err
	}
	// a file system without exchange: two steps
	if err := unix.Renameat(s.p.fd, s.base, s.made.hold, stagedOld); err != nil {
		return false, err
	}
	if err := unix.Renameat(s.made.hold, stagedTree, s.p.fd, s.base); err != nil {
		return true, errors.Join(err, unix.Renameat(s.made.hold, stagedOld, s.p.fd, s.base))
	}
	return true, nil
}
