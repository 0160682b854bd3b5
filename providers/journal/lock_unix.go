//go:build unix

package journal

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// lock takes a file's lock, or returns errTaken. It belongs to the open file:
// the kernel ends it with the process. os opens every file close-on-exec, so
// no child keeps it.
func lockFile(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLocked
		default:
			return err
		}
	}
}

// noFollow keeps root from writing where a link points that someone else laid.
const openNoFollow = syscall.O_NOFOLLOW

// noWait keeps a pipe under the name of one of our files from holding up, for
// ever and deaf to signals, whoever opens it.
const openNonBlocking = syscall.O_NONBLOCK

// owner returns the user id that owns a file.
func ownerOf(info os.FileInfo) (uid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

// writable says whether names may be made and removed in a directory.
func checkWritable(dir string) error {
	const mayWrite, mayEnter = 2, 1
	return syscall.Access(dir, mayWrite|mayEnter)
}

// ownedBy says whose a file is when it is not ours, or where it cannot be
// seen, whose the directory is that is in the way; else "".
func describeOwner(path string) string {
	info, err := os.Stat(path)
	for ; err != nil; info, err = os.Stat(path) {
		if path == filepath.Dir(path) {
			return ""
		}
		path = filepath.Dir(path)
	}
	uid, ok := ownerOf(info)
	if !ok || uid == os.Geteuid() {
		return ""
	}
	return fmt.Sprintf(" (%s is owned by %s)", path, userName(uid))
}

func userName(uid int) string {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "user " + id
}
