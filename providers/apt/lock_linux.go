package apt

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// lockFiles are the locks that apt-get needs, the outermost first.
var lockFiles = []string{"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock", "/var/lib/apt/lists/lock", "/var/cache/apt/archives/lock"}

// LockHolder describes the process that holds one of the locks of apt and dpkg:
// "pid 812 (unattended-upgr)". It returns "" when all locks are free.
func (Manager) LockHolder() (string, error) {
	for _, name := range lockFiles {
		file, err := os.OpenFile(name, os.O_RDWR, 0)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("open lock: %w", err)
		}
		lock := unix.Flock_t{Type: unix.F_WRLCK}
		err = unix.FcntlFlock(file.Fd(), unix.F_GETLK, &lock)
		_ = file.Close() // nothing was written
		switch {
		case err != nil:
			return "", fmt.Errorf("read lock %s: %w", name, err)
		case lock.Type != unix.F_UNLCK:
			return describe(int(lock.Pid)), nil
		}
	}
	return "", nil
}

func describe(pid int) string {
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return fmt.Sprintf("pid %d", pid)
	}
	return fmt.Sprintf("pid %d (%s)", pid, strings.TrimSpace(string(comm)))
}
