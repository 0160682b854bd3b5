//go:build linux || darwin

package files

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/settle-cm/settle/model/disk"
	"golang.org/x/sys/unix"
)

// maxLinks is how many links a path may lead through, as in the kernel.
const maxLinks = 40

// errForeignLink is the verdict on a link that somebody may have laid as a trap.
var errForeignLink = errors.New("a link that is neither ours nor the directory's owner's, in a directory that everybody may write: it is not followed")

// parent is the open directory of a path. Everything is done relative to it, so
// that a directory on the way that is moved or replaced meanwhile changes nothing.
type parent struct {
	fd   int
	path string // as written
}

// enter opens the directory that a path is in, and returns the path's last name.
func enter(path string) (*parent, string, error) {
	dir, base := filepath.Split(filepath.Clean(path))
	dir = filepath.Clean(dir)
	fd, err := straight(dir)
	if err != nil { // there may be a link on the way, or no such system call
		fd, err = walk(dir)
	}
	if err != nil {
		return nil, "", err
	}
	return &parent{fd, dir}, base, nil
}

func (p *parent) close() { _ = unix.Close(p.fd) } // nothing was written through it

func (p *parent) join(name string) string { return filepath.Join(p.path, name) }

// item is one entry of a directory, opened as what it is, links too.
type item struct {
	fd     int // -1 where the system cannot open a link
	stat   unix.Stat_t
	target string // of a link
}

func (i *item) close() {
	if i.fd >= 0 {
		_ = unix.Close(i.fd) // nothing was written through it
	}
}

// walk opens a directory name by name and follows the links that may be trusted.
func walk(dir string) (int, error) {
	at, todo := "/", strings.Split(dir, "/")
	fd, err := openRetry(unix.AT_FDCWD, "/", openDirectory, 0)
	if err != nil {
		return -1, fail("open directory", "/", err)
	}
	for links := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		if name == "" || name == "." {
			continue
		}
		here := filepath.Join(at, name)
		next, err := open(fd, name)
		if err != nil {
			_ = unix.Close(fd)
			return -1, fail("open directory", here, err)
		}
		if next.stat.Mode&unix.S_IFMT == unix.S_IFDIR {
			_ = unix.Close(fd)
			fd, at = next.fd, here
			continue
		}
		next.close()
		links++
		switch {
		case next.stat.Mode&unix.S_IFMT != unix.S_IFLNK:
			err = unix.ENOTDIR
		case links > maxLinks:
			err = unix.ELOOP
		case !trusted(fd, &next.stat):
			err = errForeignLink
		case filepath.IsAbs(next.target):
			_ = unix.Close(fd)
			at = "/"
			fd, err = openRetry(unix.AT_FDCWD, "/", openDirectory, 0)
		}
		if err != nil {
			_ = unix.Close(fd)
			return -1, fail("open directory", here, err)
		}
		todo = append(strings.Split(next.target, "/"), todo...)
	}
	return fd, nil
}

// trusted says whether a link may be followed: not when somebody else laid it
// in a directory that everybody may write, which is also the kernel's rule
// where fs.protected_symlinks is set.
func trusted(dir int, link *unix.Stat_t) bool {
	var in unix.Stat_t
	if err := unix.Fstat(dir, &in); err != nil {
		return false
	}
	return in.Mode&unix.S_IWOTH == 0 || link.Uid == in.Uid || int(link.Uid) == unix.Geteuid()
}

// errPlanted is the verdict on a name that anybody could have given to a file
// that is not theirs.
var errPlanted = errors.New("it has other names (hard links), in a directory that everybody may write: it may be anybody's file")

// planted says whether a file may be somebody's hard link to a file elsewhere.
func (p *parent) planted(st *unix.Stat_t) bool {
	var in unix.Stat_t
	return kind(st) == disk.Regular && st.Nlink > 1 && (unix.Fstat(p.fd, &in) != nil || in.Mode&unix.S_IWOTH != 0)
}

// openRetry is openat, again when a signal came between.
func openRetry(dir int, name string, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_CLOEXEC, mode)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// stat looks at an entry itself.
func (p *parent) stat(name string) (unix.Stat_t, error) {
	var st unix.Stat_t
	err := unix.Fstatat(p.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return st, err
}

// kind is what a stat says stands there.
func kind(st *unix.Stat_t) disk.Kind {
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return disk.Regular
	case unix.S_IFDIR:
		return disk.Directory
	case unix.S_IFLNK:
		return disk.Link
	}
	return disk.Special
}

// permissions are the twelve bits of a mode that chmod sets.
const permissions = 0o7777

var errMadeMeanwhile = errors.New("somebody else has made something there meanwhile")

// renameNew moves what must not take the place of anything.
func renameNew(dir int, from, to string) error {
	err := renameNoReplace(dir, from, to)
	switch {
	case errors.Is(err, unix.EEXIST):
		return errMadeMeanwhile
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOTSUP): // not on this file system
		return unix.Renameat(dir, from, dir, to)
	}
	return err
}
