//go:build linux || darwin

package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/settle-cm/settle/model/disk"
	"golang.org/x/sys/unix"
)

// Put creates n and moves it to the path in one step. Done reports whether the
// path was replaced, also when err is set. Lost names the extended attributes of
// the former file that could not be kept.
func Put(path string, n disk.NewFile) (done bool, lost []string, err error) {
	p, base, err := openParent(path)
	if n.Parents && errors.Is(err, unix.ENOENT) {
		if err := makeParents(filepath.Dir(path)); err != nil {
			return false, nil, err
		}
		p, base, err = openParent(path)
	}
	if err != nil {
		return false, nil, describeMissing(err)
	}
	defer p.close()
	if err := p.replaceable(base, &n); err != nil {
		return false, nil, err
	}
	if st, err := p.stat(base); n.InPlace && err == nil && kind(&st) == disk.Regular {
		done, err := p.writeInPlace(base, &n)
		if err != nil {
			err = p.describe("write", base, err)
		}
		return done, nil, err
	}
	temp := temporary(base)
	made, err := p.make(temp, &n)
	if err != nil {
		return false, nil, p.describe("write", base, err)
	}
	defer made.close()
	lost, err = p.finish(made, temp, base, &n)
	swapped := false
	if err == nil {
		swapped, err = p.move(temp, base, &n)
	}
	if err != nil {
		_ = p.removeAll(temp) // the earlier error is the one to report
		return false, nil, p.describe("replace", base, err)
	}
	err = p.finishName(made, base, &n)
	if swapped && err == nil {
		err = fail("remove", p.join(temp), p.removeAll(temp))
	}
	return true, lost, err
}

// replaceable returns an error when n must not replace the entry that is there.
func (p *parent) replaceable(base string, n *disk.NewFile) error {
	st, err := p.stat(base)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return fail("look at", p.join(base), err)
	}
	is := kind(&st)
	switch {
	case is == disk.Special:
		return fail("replace", p.join(base), errors.New("it is "+is.String()+", which is never replaced"))
	case is == disk.Directory && n.Force && p.mountPoint(base) != "":
		return fail("replace", p.join(base), mountedError(p.mountPoint(base)))
	case (is == disk.Directory || n.Kind == disk.Directory) && !n.Force:
		return fail("replace", p.join(base), errors.New("it is "+is.String()+", which only force replaces"))
	}
	return nil
}

// finish writes the content and sets the attributes of a new entry, and syncs it.
func (p *parent) finish(made *newEntry, temp, base string, n *disk.NewFile) (lost []string, err error) {
	if made.file != nil {
		if n.Content != nil {
			w := sparseWriter{made.file}
			if err := n.Content(w); err != nil {
				return nil, err
			}
			if err := w.trim(); err != nil {
				return nil, err
			}
		}
		lost = p.copyAttributes(made.file, base, n.Mode)
	}
	if err := p.setAttributes(made, temp, n); err != nil {
		return nil, err
	}
	if made.file != nil {
		if err := made.file.Sync(); err != nil {
			return nil, err
		}
		if err := made.file.Close(); err != nil { // a validator cannot execute a file that is open for writing
			return nil, err
		}
	}
	if n.Ready != nil {
		if err := p.checkReady(temp, n.Ready); err != nil {
			return nil, err
		}
	}
	return lost, nil
}

// checkReady runs a check on the new file. It fails when the check has changed
// the file, because the file would no longer be as declared.
func (p *parent) checkReady(temp string, check func(path string) error) error {
	before, err := p.stat(temp)
	if err != nil {
		return err
	}
	if err := check(p.join(temp)); err != nil {
		return err
	}
	after, err := p.stat(temp)
	if err != nil || after.Ino != before.Ino || after.Size != before.Size || after.Mtim != before.Mtim {
		return fmt.Errorf("%s was changed or removed by the check", p.join(temp))
	}
	return nil
}

// move moves the finished entry to its place in one step. When a directory is
// involved on either side, the two entries are swapped and the old one stands
// under the temporary name. That needs force: it may have appeared since Check.
func (p *parent) move(temp, base string, n *disk.NewFile) (swapped bool, err error) {
	if err := p.unchanged(base, n.Was); err != nil {
		return false, err
	}
	was, err := p.stat(base)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return false, err
	}
	now, nowErr := p.stat(temp)
	if nowErr != nil {
		return false, nowErr
	}
	directory := kind(&now) == disk.Directory
	switch {
	case err == nil && (directory || kind(&was) == disk.Directory):
		if !n.Force {
			return false, errCreatedMeanwhile
		}
		return true, exchangeAt(p.fd, temp, p.fd, base)
	case directory, n.Was != nil && n.Was.Kind == disk.Missing: // an empty directory that appeared meanwhile may be in use
		return false, renameNew(p.fd, temp, base)
	}
	return false, unix.Renameat(p.fd, temp, p.fd, base)
}

// errChangedMeanwhile reports an entry that differs from the one that was compared.
var errChangedMeanwhile = errors.New("another process has changed it meanwhile, and the change is kept: run settle again")

// unchanged returns an error when an entry is not the one that was compared.
func (p *parent) unchanged(base string, was *disk.State) error {
	if was == nil {
		return nil
	}
	st, err := p.stat(base)
	switch {
	case errors.Is(err, unix.ENOENT) && was.Kind == disk.Missing:
		return nil
	case err != nil:
		return err
	case was.Kind == disk.Missing:
		return errCreatedMeanwhile
	}
	if inode, changed := version(&st); inode != was.Inode || changed != was.Changed {
		return errChangedMeanwhile
	}
	return nil
}

// writeInPlace writes the content into the file that exists, and sets the
// attributes of n. Done reports whether the file may have changed.
func (p *parent) writeInPlace(base string, n *disk.NewFile) (done bool, err error) {
	fd, err := openRetry(p.fd, base, unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false, err
	}
	file := os.NewFile(uintptr(fd), p.join(base))
	defer file.Close() // Sync has reported what a write could not
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return false, err
	}
	switch {
	case kind(&st) != disk.Regular:
		return false, errChangedMeanwhile
	case p.hasForeignNames(&st):
		return false, errForeignNames
	}
	if err := p.unchanged(base, n.Was); err != nil {
		return false, err
	}
	if n.Content != nil {
		if err := n.Content(file); err != nil {
			return true, err
		}
	}
	end, err := file.Seek(0, io.SeekCurrent)
	if err == nil {
		err = file.Truncate(end)
	}
	if err == nil {
		err = file.Sync()
	}
	if err != nil {
		return true, err
	}
	i, err := openEntry(p.fd, base)
	if err != nil {
		return true, err
	}
	defer i.close()
	return true, p.set(i, base, n.Mode, n.UID, n.GID)
}

// makeParents creates a directory and the missing directories above it.
func makeParents(dir string) error {
	_, _, err := Put(dir, disk.NewFile{Kind: disk.Directory, Parents: true})
	if errors.Is(err, errCreatedMeanwhile) {
		return nil // by another resource of this run
	}
	return err
}

// finishName syncs the new name. It sets owner and mode again, because some
// file systems forget them over a rename.
func (p *parent) finishName(made *newEntry, base string, n *disk.NewFile) error {
	if err := p.setAttributes(made, base, n); err != nil {
		return p.describe("finish", base, err)
	}
	if err := p.sync(); err != nil {
		return fail("sync directory", p.path, err)
	}
	return nil
}

// sync syncs the names of the directory. A directory that can be entered but not
// read cannot be synced; its names are as durable as the file system makes them.
func (p *parent) sync() error {
	fd, err := openRetry(p.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if errors.Is(err, unix.EACCES) {
		return nil
	}
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(fd), p.path)
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) { // some file systems sync no directories
		return err
	}
	return nil
}
