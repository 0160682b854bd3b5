package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// hasProcfs reports whether /proc is mounted and shows our own PID namespace.
var hasProcfs = sync.OnceValue(func() bool {
	self, err := os.Readlink("/proc/self")
	return err == nil && self == strconv.Itoa(os.Getpid())
})

// stat is what we need of /proc/PID/stat.
type stat struct {
	state   byte
	parent  int
	group   int
	start   uint64 // clock ticks since boot
	execing bool   // its new program has no environment yet
}

// kernelThread is PF_KTHREAD among the flags of a process.
const kernelThread = 0x00200000

func readStat(pid int) (s stat, ok bool) {
	if !hasProcfs() {
		return s, false
	}
	line, err := readLine("/proc/" + strconv.Itoa(pid) + "/stat")
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
	if flags, _ := strconv.ParseUint(fields[6], 10, 64); flags&kernelThread == 0 && len(fields) > 48 {
		s.execing = fields[48] == "0" // env_end
	}
	return s, err == nil
}

// readLine reads a file of procfs that is short. It is what os.ReadFile does,
// without what that does for files that may make it wait.
func readLine(path string) ([]byte, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	line := make([]byte, 2048)
	n, err := syscall.Read(fd, line)
	return line[:max(0, n)], err
}

// isDead reports whether only the exit status of a process is left.
func (s stat) isDead() bool { return s.state == 'Z' || s.state == 'X' }

// listPIDs returns the pids of all processes but our own, in directory order.
func listPIDs() []int {
	if !hasProcfs() {
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

// describeHolders names the processes that hold the pipe whose read end is fd. On
// macOS the system does not tell.
func describeHolders(fd, leader int) string {
	var st syscall.Stat_t
	if syscall.Fstat(fd, &st) != nil {
		return "a process"
	}
	pipe := fmt.Sprintf("pipe:[%d]", st.Ino)
	var names []string
	for _, pid := range listPIDs() {
		if pid != leader && hasOpen(pid, pipe) {
			comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			names = append(names, fmt.Sprintf("%s (pid %d)", quoteWord(strings.TrimSpace(string(comm))), pid))
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

func hasOpen(pid int, file string) bool {
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

// bootID returns the id of this boot, "" without /proc.
var bootID = sync.OnceValue(func() string {
	id, _ := readLine("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})

// StartTime returns when a process started, in clock ticks since boot.
func StartTime(pid int) (uint64, bool) {
	s, ok := readStat(pid)
	return s.start, ok
}

// isDeadOrReused reports whether an existing pid belongs to a process that has
// ended, or to one that started at another time than start (0: unknown).
func isDeadOrReused(pid int, start uint64) bool {
	s, ok := readStat(pid)
	return ok && (s.isDead() || start != 0 && s.start != start)
}
