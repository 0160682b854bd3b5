//go:build linux || darwin

package files

import (
	"errors"
	"fmt"
	"os"

	"github.com/settle-cm/settle/model/disk"
	"golang.org/x/sys/unix"
)

// Put makes what n says and moves it to its place in one step. Done says
// whether something took the path's place, also when an error came after that;
// lost names the extended attributes of the former file that could not be kept.
func Put(path string, n disk.NewFile) (done bool, lost []string, err error) {
	p, base, err := enter(path)
	if err != nil {
		return false, nil, absent(err)
	}
	defer p.close()
	if err := p.replaceable(base, &n); err != nil {
		return false, nil, err
	}
	temp := temporary(base)
	made, err := p.make(temp, &n)
	if err != nil {
		return false, nil, p.explain("write", base, err)
	}
	defer made.close()
	lost, err = p.finish(made, temp, base, &n)
	swapped := false
	if err == nil {
		swapped, err = p.move(temp, base, n.Force)
	}
	if err != nil {
		_ = p.removeAll(temp) // the error that matters is the one before
		return false, nil, p.explain("replace", base, err)
	}
	err = p.settle(made, base, &n)
	if swapped && err == nil {
		err = fail("remove", p.join(temp), p.removeAll(temp))
	}
	return true, lost, err
}

// replaceable refuses what must not be replaced without Force, or ever.
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
	case (is == disk.Directory || n.Kind == disk.Directory) && !n.Force:
		return fail("replace", p.join(base), errors.New("it is "+is.String()+", which only force replaces"))
	}
	return nil
}

// making is something new under its temporary name, held so that no other
// settle takes it for the remains of a killed one.
type making struct {
	file *os.File    // of a file, open for writing until it is finished
	hold int         // a second descriptor with the lock; -1: none
	stat unix.Stat_t // of what hold holds
}

// is says whether an entry is what was made. A link cannot be held: any link
// will do, since nothing but its owner is ever set.
func (m *making) is(st *unix.Stat_t) bool {
	if m.hold < 0 {
		return kind(st) == disk.Link
	}
	return st.Ino == m.stat.Ino && st.Dev == m.stat.Dev
}

func (m *making) close() {
	if m.file != nil {
		_ = m.file.Close() // closed before, or thrown away
	}
	if m.hold >= 0 {
		_ = unix.Close(m.hold) // ends the lock
	}
}

// make creates the temporary name, empty and for nobody else's eyes.
func (p *parent) make(temp string, n *disk.NewFile) (*making, error) {
	const attempts = 100 // each time somebody else has to be in the way
	for range attempts {
		made, err := p.makeOnce(temp, n)
		switch {
		case err == nil && (n.Kind == disk.Link || p.holds(made, temp)):
			return made, nil
		case err == nil:
			made.close()
		case errors.Is(err, unix.EEXIST):
			if err := p.clear(temp); err != nil {
				return nil, err
			}
		default:
			return nil, err
		}
	}
	return nil, fmt.Errorf("somebody else keeps making %s", p.join(temp))
}

func (p *parent) makeOnce(temp string, n *disk.NewFile) (*making, error) {
	made := &making{hold: -1}
	switch n.Kind {
	case disk.Link:
		return made, unix.Symlinkat(n.Target, p.fd, temp)
	case disk.Directory:
		if err := unix.Mkdirat(p.fd, temp, 0o700); err != nil {
			return nil, err
		}
		p.admit(temp)
		return made, nil
	case disk.Regular:
		fd, err := openRetry(p.fd, temp, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		made.file = os.NewFile(uintptr(fd), p.join(temp))
		_ = made.file.Chmod(0o600) // for a strange umask; where it fails, so will the final mode
		return made, nil
	}
	return nil, fmt.Errorf("cannot make %s", n.Kind)
}

// admit lets us into a new directory, whatever the umask is.
func (p *parent) admit(temp string) {
	i, err := open(p.fd, temp)
	if err != nil {
		return
	}
	defer i.close()
	if kind(&i.stat) == disk.Directory && i.stat.Mode&0o700 != 0o700 {
		_ = i.chmod(p.fd, temp, 0o700) // where it fails, so will the final mode
	}
}

// holds locks what was made and says whether the name still stands for it.
func (p *parent) holds(made *making, temp string) bool {
	fd, err := openRetry(p.fd, temp, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	made.hold = fd
	if flock(fd, unix.LOCK_SH) != nil || unix.Fstat(fd, &made.stat) != nil {
		return false
	}
	st, err := p.stat(temp)
	return err == nil && made.is(&st)
}

// flock tries for a lock; where a file system has none, everybody has it.
func flock(fd, how int) error {
	for {
		err := unix.Flock(fd, how|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return err
		default:
			return nil
		}
	}
}

// clear removes what a killed settle left under a temporary name.
func (p *parent) clear(temp string) error {
	st, err := p.stat(temp)
	if err != nil {
		return nil // it is gone already
	}
	if k := kind(&st); k == disk.Regular || k == disk.Directory {
		fd, err := openRetry(p.fd, temp, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		switch {
		case errors.Is(err, unix.ENOENT):
			return nil
		case err != nil:
			return fmt.Errorf("remove %s of an earlier run: %w", p.join(temp), err)
		}
		defer unix.Close(fd)
		if flock(fd, unix.LOCK_EX) != nil {
			return fmt.Errorf("another run is writing it, as %s", p.join(temp))
		}
		var opened unix.Stat_t
		if now, err := p.stat(temp); err != nil || unix.Fstat(fd, &opened) != nil || now.Ino != opened.Ino {
			return nil // another run was faster
		}
	}
	if err := p.removeAll(temp); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("remove %s of an earlier run: %w", p.join(temp), err)
	}
	return nil
}

// finish fills what was made and gives it its attributes, durably.
func (p *parent) finish(made *making, temp, base string, n *disk.NewFile) (lost []string, err error) {
	if made.file != nil {
		if n.Content != nil {
			if err := n.Content(made.file); err != nil {
				return nil, err
			}
		}
		lost = p.inherit(made.file, base)
	}
	if err := p.attributes(made, temp, n); err != nil {
		return nil, err
	}
	if made.file != nil {
		if err := made.file.Sync(); err != nil {
			return nil, err
		}
		if err := made.file.Close(); err != nil { // else a validator could not execute it
			return nil, err
		}
	}
	if n.Ready != nil {
		if err := p.ready(temp, n.Ready); err != nil {
			return nil, err
		}
	}
	return lost, nil
}

// ready lets somebody look at the new file, who may not have changed it: it
// would not be what is declared.
func (p *parent) ready(temp string, look func(path string) error) error {
	before, err := p.stat(temp)
	if err != nil {
		return err
	}
	if err := look(p.join(temp)); err != nil {
		return err
	}
	after, err := p.stat(temp)
	if err != nil || after.Ino != before.Ino || after.Size != before.Size || after.Mtim != before.Mtim {
		return fmt.Errorf("%s was changed or removed by what was only to look at it", p.join(temp))
	}
	return nil
}

// attributes gives what was made its owner, group and mode: those that are not
// nil, and the usual ones.
func (p *parent) attributes(made *making, name string, n *disk.NewFile) error {
	i, err := open(p.fd, name)
	if err != nil {
		return err
	}
	defer i.close()
	if !made.is(&i.stat) {
		return fmt.Errorf("somebody else put something in the place of %s", p.join(name))
	}
	if n.Mode == nil && n.Kind != disk.Link {
		usual := uint32(0o644)
		if n.Kind == disk.Directory {
			usual = 0o755 | uint32(i.stat.Mode)&unix.S_ISGID // inherited from the directory
		}
		_ = i.chmod(p.fd, name, usual) // a file system without modes has its own usual one
	}
	return p.set(i, name, n.Mode, n.UID, n.GID)
}

// set changes what differs. Owner first: a change of owner takes setuid away.
func (p *parent) set(i *item, name string, mode, uid, gid *uint32) error {
	toUID, toGID := -1, -1
	if uid != nil && *uid != i.stat.Uid {
		toUID = int(*uid)
	}
	if gid != nil && *gid != i.stat.Gid {
		toGID = int(*gid)
	}
	chowned := toUID >= 0 || toGID >= 0
	if chowned {
		if err := i.chown(p.fd, name, toUID, toGID); err != nil {
			return fmt.Errorf("give it to %s: %w", ids(toUID, toGID), err)
		}
	}
	isLink := kind(&i.stat) == disk.Link
	if mode == nil || isLink || !chowned && *mode == uint32(i.stat.Mode)&permissions {
		return nil
	}
	if err := i.chmod(p.fd, name, *mode); err != nil {
		return fmt.Errorf("set mode %04o: %w", *mode, err)
	}
	if now, err := p.stat(name); err == nil && uint32(now.Mode)&permissions != *mode {
		return fmt.Errorf("set mode %04o: the system makes it %04o", *mode, now.Mode&permissions)
	}
	return nil
}

func ids(uid, gid int) string {
	switch {
	case gid < 0:
		return fmt.Sprintf("uid %d", uid)
	case uid < 0:
		return fmt.Sprintf("gid %d", gid)
	}
	return fmt.Sprintf("uid %d and gid %d", uid, gid)
}

// move puts the finished thing in its place in one step. When a directory is
// replaced, or replaces something, that stands under the temporary name then:
// only with force, since somebody may have made it after we looked.
func (p *parent) move(temp, base string, force bool) (swapped bool, err error) {
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
		if !force {
			return false, errMadeMeanwhile
		}
		return true, exchange(p.fd, temp, base)
	case directory: // an empty one that somebody has made meanwhile may be in use
		return false, renameNew(p.fd, temp, base)
	}
	return false, unix.Renameat(p.fd, temp, p.fd, base)
}

// settle makes the new name durable, and repeats by path what a file system
// forgot of owner and mode over the rename.
func (p *parent) settle(made *making, base string, n *disk.NewFile) error {
	if err := p.attributes(made, base, n); err != nil {
		return p.explain("finish", base, err)
	}
	if err := p.sync(); err != nil {
		return fail("sync directory", p.path, err)
	}
	return nil
}

// sync makes the names of the directory durable. One that may be entered but
// not read cannot be synced: its names are as durable as the file system is.
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

// Adjust gives what stands at a path the owner, group and mode that are not
// nil. It does not follow a link, and a link has no mode.
func Adjust(path string, mode, uid, gid *uint32) error {
	p, base, err := enter(path)
	if err != nil {
		return err
	}
	defer p.close()
	i, err := open(p.fd, base)
	if err != nil {
		return fail("look at", path, err)
	}
	defer i.close()
	if p.planted(&i.stat) {
		return fail("change", path, errPlanted)
	}
	if err := p.set(i, base, mode, uid, gid); err != nil {
		return p.explain("change", base, err)
	}
	return nil
}
