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

// lockFile takes the lock of a file, or returns errLocked. The lock belongs to the
// open file, so the kernel ends it with the process. Package os opens files
// close-on-exec, so no child keeps it.
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

// openNoFollow keeps root from writing through a symbolic link of another user.
const openNoFollow = syscall.O_NOFOLLOW

// openNonBlocking keeps a pipe at one of our paths from blocking the open for ever.
const openNonBlocking = syscall.O_NONBLOCK

// ownerOf returns the user id that owns a file.
func ownerOf(info os.FileInfo) (uid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

// checkWritable returns an error unless names can be created and removed in a directory.
func checkWritable(dir string) error {
	const mayWrite, mayEnter = 2, 1
	return syscall.Access(dir, mayWrite|mayEnter)
}

// describeOwner names the foreign owner of a path, or of the first directory above
// it that can be seen; "" when it is our own.
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
