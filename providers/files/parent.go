//go:build linux || darwin

package files

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/settle-cm/settle/model/disk"
	"golang.org/x/sys/unix"
)

// maxLinks is the number of links in a path that the kernel follows.
const maxLinks = 40

// errForeignLink refuses a link that another user may have planted.
var errForeignLink = errors.New("a link of another user in a directory that everybody may write: it is not followed")

// parent is the open directory of a path. All operations are relative to it, so
// that moving or replacing a directory on the way has no effect on them.
type parent struct {
	fd   int
	path string // as written
}

// openParent opens the directory of a path and returns the path's last name.
func openParent(path string) (*parent, string, error) {
	dir, base := filepath.Split(filepath.Clean(path))
	dir = filepath.Clean(dir)
	fd, err := openWithoutLinks(dir)
	if err != nil { // a link is on the way, or the system call is missing
		fd, err = openFollowingLinks(dir)
	}
	if err != nil {
		return nil, "", err
	}
	return &parent{fd, dir}, base, nil
}

func (p *parent) close() { _ = unix.Close(p.fd) } // nothing was written through the descriptor

func (p *parent) join(name string) string { return filepath.Join(p.path, name) }

// openFollowingLinks opens a directory name by name and follows trusted links.
func openFollowingLinks(dir string) (int, error) {
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
		next, err := openEntry(fd, name)
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
		case !isTrustedLink(fd, &next.stat):
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

// isTrustedLink reports whether a link may be followed. In a directory that
// everybody may write it has to belong to us or to the directory's owner, as the
// kernel demands where fs.protected_symlinks is set.
func isTrustedLink(dir int, link *unix.Stat_t) bool {
	var in unix.Stat_t
	if err := unix.Fstat(dir, &in); err != nil {
		return false
	}
	return in.Mode&unix.S_IWOTH == 0 || link.Uid == in.Uid || int(link.Uid) == unix.Geteuid()
}

// errForeignNames refuses a file to which any user could have made a hard link.
var errForeignNames = errors.New("it has other names (hard links), in a directory that everybody may write: it may be a file of another user")

// hasForeignNames reports whether a file may be a hard link to a file elsewhere.
func (p *parent) hasForeignNames(st *unix.Stat_t) bool {
	var in unix.Stat_t
	return kind(st) == disk.Regular && st.Nlink > 1 && (unix.Fstat(p.fd, &in) != nil || in.Mode&unix.S_IWOTH != 0)
}

// stat returns the stat of an entry itself.
func (p *parent) stat(name string) (unix.Stat_t, error) {
	var st unix.Stat_t
	err := unix.Fstatat(p.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return st, err
}

var errCreatedMeanwhile = errors.New("another process has created it meanwhile")

// renameNew renames an entry that must not replace another one.
func renameNew(dir int, from, to string) error {
	err := renameNoReplaceAt(dir, from, dir, to)
	switch {
	case errors.Is(err, unix.EEXIST):
		return errCreatedMeanwhile
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOTSUP): // not supported by this file system
		return unix.Renameat(dir, from, dir, to)
	}
	return err
}
