package proc

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attributes returns how a child is set up: a session of its own, so no
// terminal, and a descriptor that tells of its end.
func attributes(pidfd *int) *syscall.SysProcAttr {
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

// pending returns how many bytes wait in a pipe, if there is one.
func pending(fd int) int {
	if fd < 0 {
		return 0
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}

// exited says whether a child has exited, and leaves its status where it is.
func exited(pid int) bool {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if err != syscall.EINTR {
			return err != nil || info.Signo != 0
		}
	}
}

// forkExec is syscall.ForkExec with an empty signal mask for the child, which
// otherwise inherits what the caller of settle may have blocked.
func forkExec(program string, argv []string, attr *syscall.ProcAttr) (int, error) {
	if !blocked() {
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

// forkUmask forks from a thread that has a umask of its own and dies afterwards.
func forkUmask(umask int, program string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	done := make(chan struct{})
	alone := false
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread goes with the goroutine
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

// blocked says whether settle was started with signals blocked.
var blocked = sync.OnceValue(func() bool { return signalSet("SigBlk") != 0 })

// ignoredSignals returns the signals that are ignored now.
func ignoredSignals() uint64 { return signalSet("SigIgn") }

// signalSet reads one of the signal sets of the kernel; signal n is bit n-1.
func signalSet(name string) uint64 {
	status, _ := os.ReadFile("/proc/thread-self/status") // without it: as if none
	_, rest, _ := bytes.Cut(status, []byte("\n"+name+":\t"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	set, _ := strconv.ParseUint(string(line), 16, 64)
	return set
}

// noexec says whether a file is on a file system from which nothing is run.
func noexec(file string) bool {
	var st unix.Statfs_t
	return unix.Statfs(file, &st) == nil && st.Flags&unix.ST_NOEXEC != 0
}

// procfs says whether /proc is there and tells of the processes as we number
// them: that of another PID namespace would name others.
var procfs = sync.OnceValue(func() bool {
	self, err := os.Readlink("/proc/self")
	return err == nil && self == strconv.Itoa(os.Getpid())
})

// stat is what we need of /proc/PID/stat.
type stat struct {
	state  byte
	parent int
	group  int
	start  uint64 // clock ticks since boot
}

func readStat(pid int) (s stat, ok bool) {
	if !procfs() {
		return s, false
	}
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return s, false
	}
	_, rest, _ := strings.Cut(string(line[bytes.LastIndexByte(line, ')')+1:]), " ")
	fields := strings.Fields(rest) // from the third on, as proc(5) counts
	if len(fields) < 20 {
		return s, false
	}
	s.state = fields[0][0]
	s.parent, _ = strconv.Atoi(fields[1])
	s.group, _ = strconv.Atoi(fields[2])
	s.start, err = strconv.ParseUint(fields[19], 10, 64)
	return s, err == nil
}

// dead says whether there is nothing left of a process but its status.
func (s stat) dead() bool { return s.state == 'Z' || s.state == 'X' }

// processes returns the pids of all there are.
func processes() []int {
	if !procfs() {
		return nil
	}
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// marked says whether a process has the mark in its environment, as a whole word.
func marked(pid int, mark string) bool {
	if mark == "" {
		return false
	}
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil || !bytes.Contains(env, []byte(mark)) {
		return false
	}
	for _, v := range bytes.Split(env, []byte{0}) {
		if words, ok := bytes.CutPrefix(v, []byte("SETTLE_RUN_ID=")); ok {
			for _, w := range bytes.Split(words, []byte(" ")) {
				if string(w) == mark {
					return true
				}
			}
		}
	}
	return false
}

// survivors says whether anything lives in the group or carries the mark, and
// whether it can know.
func survivors(group int, mark string) (alive, known bool) {
	for _, pid := range processes() {
		if s, ok := readStat(pid); ok && !s.dead() && (s.group == group || marked(pid, mark)) {
			return true, true
		}
	}
	return false, procfs()
}

// signalEscaped signals those who carry the mark and left the group. Each is
// held by a descriptor while it is looked at, so that its pid cannot come to
// mean another in between.
func signalEscaped(group int, mark string, sig syscall.Signal) {
	for _, pid := range processes() {
		if !marked(pid, mark) {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		if s, ok := readStat(pid); ok && s.group != group && marked(pid, mark) {
			_ = unix.PidfdSendSignal(fd, sig, nil, 0) // gone, or not ours to signal
		}
		_ = syscall.Close(fd)
	}
}

// holders names the processes that hold the pipe whose read end fd is.
func holders(fd, leader int) string {
	var st syscall.Stat_t
	if syscall.Fstat(fd, &st) != nil {
		return "a process"
	}
	pipe := fmt.Sprintf("pipe:[%d]", st.Ino)
	var names []string
	for _, pid := range processes() {
		if pid != leader && holds(pid, pipe) {
			comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			names = append(names, fmt.Sprintf("%s (pid %d)", word(strings.TrimSpace(string(comm))), pid))
		}
	}
	switch {
	case len(names) == 0:
		return "a process"
	case len(names) > 3:
		names = append(names[:3], fmt.Sprintf("%d more", len(names)-3))
	}
	return strings.Join(names, ", ")
}

func holds(pid int, file string) bool {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	d, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if target, err := os.Readlink(dir + "/" + name); err == nil && target == file {
			return true
		}
	}
	return false
}

// self is what to execute to run this program again, even after it was replaced.
func self() (string, error) { return "/proc/self/exe", nil }

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

// StartTime returns when a process started, in clock ticks since boot.
func StartTime(pid int) (uint64, bool) {
	s, ok := readStat(pid)
	return s.start, ok
}

// deadOrOther says whether a pid that exists is a process that has ended, or
// one that started at another time than the one meant (0: unknown).
func deadOrOther(pid int, start uint64) bool {
	s, ok := readStat(pid)
	return ok && (s.dead() || start != 0 && s.start != start)
}
