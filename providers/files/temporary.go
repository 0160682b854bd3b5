//go:build linux || darwin

package files

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"

	"github.com/settle-cm/settle/model/disk"
	"golang.org/x/sys/unix"
)

// temporary returns the name under which a new entry for name is created. It
// depends on the name only, so that the next run finds the entry of a killed run.
// Programs that read directories of parts (*.conf, sudoers.d, cron.d) skip it.
func temporary(name string) string {
	const suffix, longest = ".settle-new", 255
	if len(name)+len(suffix)+1 > longest {
		name = fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
	}
	return "." + name + suffix
}

// newEntry is a new entry under its temporary name. Its lock tells other runs
// that it does not belong to a killed run.
type newEntry struct {
	file  *os.File    // a regular file, open for writing until it is finished; else nil
	hold  int         // a second descriptor that carries the lock; -1: no lock
	stat  unix.Stat_t // of the locked entry
	added uint32      // rights of the owner that the finished entry does not have
}

// is reports whether a stat describes the new entry. A link cannot be locked, so
// every link matches: settle only ever sets the owner of a link.
func (m *newEntry) is(st *unix.Stat_t) bool {
	if m.hold < 0 {
		return kind(st) == disk.Link
	}
	return st.Ino == m.stat.Ino && st.Dev == m.stat.Dev
}

func (m *newEntry) close() {
	if m.file != nil {
		_ = m.file.Close() // closed before, or the file is removed
	}
	if m.hold >= 0 {
		_ = unix.Close(m.hold) // ends the lock
	}
}

// make creates the entry under its temporary name, empty.
func (p *parent) make(temp string, n *disk.NewFile) (*newEntry, error) {
	const attempts = 100 // every failed attempt needs another process that interferes
	for range attempts {
		made, err := p.createOnce(temp, n)
		switch {
		case err == nil && (n.Kind == disk.Link || p.lock(made, temp)):
			return made, nil
		case err == nil:
			made.close()
		case errors.Is(err, unix.EEXIST):
			if err := p.removeRemains(temp); err != nil {
				return nil, err
			}
		default:
			return nil, err
		}
	}
	return nil, fmt.Errorf("another process keeps creating %s", p.join(temp))
}

func (p *parent) createOnce(temp string, n *disk.NewFile) (*newEntry, error) {
	made := &newEntry{hold: -1}
	switch n.Kind {
	case disk.Link:
		return made, unix.Symlinkat(n.Target, p.fd, temp)
	case disk.Directory:
		if err := unix.Mkdirat(p.fd, temp, firstMode(n, 0o777, 0o700)); err != nil {
			return nil, err
		}
		made.added = p.allowOwner(temp, 0o700)
		return made, nil
	case disk.Regular:
		flags := unix.O_RDWR | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW
		fd, err := openRetry(p.fd, temp, flags, firstMode(n, 0o666, 0o600))
		if err != nil {
			return nil, err
		}
		made.file = os.NewFile(uintptr(fd), p.join(temp))
		made.added = p.allowOwner(temp, 0o600)
		return made, nil
	}
	return nil, fmt.Errorf("cannot make %s", n.Kind)
}

// firstMode returns the mode in which a new entry is created. The kernel applies
// the umask to it. An entry with a declared mode is private until it has that mode.
func firstMode(n *disk.NewFile, usual, private uint32) uint32 {
	switch {
	case n.Mode != nil:
		return private
	case n.Bits != 0:
		return n.Bits
	}
	return usual
}

// allowOwner gives the owner the rights in a new entry that settle needs to finish
// it: the umask, or the source of a copy, may lack them. It returns the rights
// that it added, which setAttributes takes away again.
func (p *parent) allowOwner(temp string, rights uint32) (added uint32) {
	i, err := openEntry(p.fd, temp)
	if err != nil {
		return 0
	}
	defer i.close()
	mode := uint32(i.stat.Mode) & permissions
	if kind(&i.stat) == disk.Link || mode&rights == rights || i.chmod(p.fd, temp, mode|rights) != nil {
		return 0 // a failure of chmod shows when the entry is used
	}
	return rights &^ mode
}

// lock locks the new entry and reports whether its name still leads to it.
func (p *parent) lock(made *newEntry, temp string) bool {
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

// flock tries to take a lock. On a file system without locks it succeeds.
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

// removeRemains removes the entry that a killed run left under a temporary name.
func (p *parent) removeRemains(temp string) error {
	st, err := p.stat(temp)
	if err != nil {
		return nil // it is gone
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
			return nil // another run has removed it
		}
	}
	if err := p.removeAll(temp); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("remove %s of an earlier run: %w", p.join(temp), err)
	}
	return nil
}
