package proc

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// childAttributes returns the attributes of a child: a session of its own without
// a terminal and, on Linux, a pidfd that reports its exit.
func childAttributes(pidfd *int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, PidFD: pidfd}
}

// poll waits for events on fds, for ever with a negative timeout.
func poll(fds []pollFd, timeout time.Duration) error {
	var limit *syscall.Timespec
	if timeout >= 0 {
		ts := syscall.NsecToTimespec(int64(timeout))
		limit = &ts
	}
	_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&fds[0])), uintptr(len(fds)), uintptr(unsafe.Pointer(limit)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func newPipe() (r, w int, err error) {
	var fds [2]int
	err = syscall.Pipe2(fds[:], syscall.O_CLOEXEC)
	return fds[0], fds[1], err
}

// countPending returns how many bytes wait in a pipe; 0 without a pipe.
func countPending(fd int) int {
	if fd < 0 {
		return 0
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}

// hasExited reports whether a child has exited. It leaves the status to be
// collected. macOS cannot use waitid for this: there it also returns for a
// stopped child (golang.org/issue/19314).
func hasExited(pid int) bool {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if !errors.Is(err, syscall.EINTR) {
			return err != nil || info.Signo != 0
		}
	}
}

// forkExec is syscall.ForkExec with an empty signal mask for the child, which
// otherwise inherits what the caller of settle may have blocked.
func forkExec(program string, argv []string, attr *syscall.ProcAttr) (int, error) {
	if !hasBlockedSignals() {
		return syscall.ForkExec(program, argv, attr)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var none, old unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &none, &old); err != nil {
		return 0, err
	}
	defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }()
	return syscall.ForkExec(program, argv, attr)
}

// forkUmask forks from a thread with its own umask. The thread ends afterwards.
func forkUmask(umask int, program string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	done := make(chan struct{})
	alone := false
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if syscall.Unshare(syscall.CLONE_FS) != nil {
			alone = true // some containers forbid it
			return
		}
		syscall.Umask(umask)
		pid, err = forkExec(program, argv, attr)
	}()
	<-done
	if alone {
		return forkUmaskAlone(umask, program, argv, attr)
	}
	return pid, err
}

// hasBlockedSignals reports whether settle was started with signals blocked.
var hasBlockedSignals = sync.OnceValue(func() bool { return signalSet("SigBlk") != 0 })

// ignoredSignals returns the signals that are ignored now.
func ignoredSignals() uint64 { return signalSet("SigIgn") }

// signalSet reads one of the signal sets of the kernel; signal n is bit n-1.
func signalSet(name string) uint64 {
	status, _ := os.ReadFile("/proc/thread-self/status") // an unreadable file counts as an empty set
	_, rest, _ := bytes.Cut(status, []byte("\n"+name+":\t"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	set, _ := strconv.ParseUint(string(line), 16, 64)
	return set
}

// isNoexec reports whether the file system of a file is mounted noexec.
func isNoexec(file string) bool {
	var st unix.Statfs_t
	return unix.Statfs(file, &st) == nil && st.Flags&unix.ST_NOEXEC != 0
}

// selfPath returns the path that starts this program again, on Linux even after
// the file was replaced.
func selfPath() (string, error) { return "/proc/self/exe", nil }

// closeInherited sees to it that what settle inherited beyond the standard
// descriptors (a lock of the script around it, say) ends with settle.
func closeInherited() {
	if unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	names, _ := os.ReadDir("/proc/self/fd") // before Linux 5.11
	for _, name := range names {
		if fd, err := strconv.Atoi(name.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
