package proc

import (
	"os"
	"os/signal"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// childAttributes returns the attributes of a child: a session of its own without
// a terminal and, on Linux, a pidfd that reports its exit.
func childAttributes(*int) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// poll waits for events on fds, for ever with a negative timeout.
func poll(fds []pollFd, timeout time.Duration) error {
	ms := -1
	if timeout >= 0 {
		ms = int((timeout + time.Millisecond - 1) / time.Millisecond)
	}
	_, _, errno := syscall.Syscall(syscall.SYS_POLL, uintptr(unsafe.Pointer(&fds[0])), uintptr(len(fds)), uintptr(ms))
	if errno != 0 {
		return errno
	}
	return nil
}

func newPipe() (r, w int, err error) {
	var fds [2]int
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := syscall.Pipe(fds[:]); err != nil {
		return -1, -1, err
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	return fds[0], fds[1], nil
}

// countPending returns how many bytes wait in a pipe; 0 without a pipe.
func countPending(fd int) int {
	if fd < 0 {
		return 0
	}
	const FIONREAD = 0x4004667f
	n, err := unix.IoctlGetInt(fd, FIONREAD)
	if err != nil {
		return 0
	}
	return n
}

// hasExited reports whether a child has exited. It leaves the status to be
// collected. macOS cannot use waitid for this: there it also returns for a
// stopped child (golang.org/issue/19314).
func hasExited(pid int) bool {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err != nil || p.Proc.P_stat == zombie
}

func forkExec(program string, argv []string, attr *syscall.ProcAttr) (int, error) {
	return syscall.ForkExec(program, argv, attr)
}

func forkUmask(umask int, program string, argv []string, attr *syscall.ProcAttr) (int, error) {
	return forkUmaskAlone(umask, program, argv, attr)
}

// ignoredSignals returns the signals that are ignored now; signal n is bit n-1.
func ignoredSignals() (set uint64) {
	for s := syscall.Signal(1); s < 32; s++ {
		if signal.Ignored(s) {
			set |= 1 << (s - 1)
		}
	}
	return set
}

// isNoexec reports whether the file system of a file is mounted noexec.
func isNoexec(file string) bool {
	var st unix.Statfs_t
	return unix.Statfs(file, &st) == nil && st.Flags&unix.MNT_NOEXEC != 0
}

// zombie is the P_stat of a process of which only the status is left.
const zombie = 5

// hasSurvivors reports whether a process of the group, or one with the tag, is
// alive. known is false when the system cannot tell.
func hasSurvivors(group int, _ string) (alive, known bool) {
	members, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", group)
	for i := range members {
		if members[i].Proc.P_stat != zombie {
			return true, true
		}
	}
	return false, err == nil
}

// signalEscaped does nothing: here those who left the group cannot be told.
func signalEscaped(int, string, syscall.Signal) {}

// describeHolders names the processes that hold the pipe whose read end is fd. On
// macOS the system does not tell.
func describeHolders(int, int) string { return "a process" }

// StartTime returns when a process started: not known here.
func StartTime(int) (uint64, bool) { return 0, false }

func isDeadOrReused(pid int, _ uint64) bool {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && p.Proc.P_stat == zombie
}

// findLeader returns 0: the environment of other processes cannot be read here.
func findLeader(func(tag string) bool) int { return 0 }

// bootID is not known here.
func bootID() string { return "" }

// selfPath returns the path that starts this program again, on Linux even after
// the file was replaced.
func selfPath() (string, error) { return os.Executable() }

// closeInherited sees to it that what settle inherited beyond the standard
// descriptors (a lock of the script around it, say) ends with settle.
func closeInherited() {
	names, _ := os.ReadDir("/dev/fd")
	for _, name := range names {
		fd := 0
		for _, c := range name.Name() {
			fd = 10*fd + int(c-'0')
		}
		if fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
