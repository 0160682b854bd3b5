package proc

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// candidate is a process that may belong to a command of this run.
type candidate struct {
	pid, group int
	tags       string // words of its SETTLE_RUN_ID
}

// hasTag reports whether the process carries a tag, as a whole word.
func (o candidate) hasTag(mark string) bool {
	return mark != "" && slices.Contains(strings.Split(o.tags, " "), mark)
}

// processList caches the last scan. A scan reads /proc of every process on the
// machine, and when a run is stopped all its commands ask at once and repeatedly.
var processList struct {
	sync.Mutex
	began time.Time
	found []candidate
}

// listCandidates returns the processes that may belong to commands of this run. A
// caller that waited for another caller's scan reuses its result, if that scan
// began after the call. The newest processes come first: they may exit soonest,
// and their own children have not been listed yet.
func listCandidates() []candidate {
	came := time.Now()
	processList.Lock()
	defer processList.Unlock()
	if !processList.began.After(came) {
		processList.began, processList.found = time.Now(), scanProcesses()
	}
	return processList.found
}

// ownStartTime returns when settle started. Older processes cannot be children of its commands.
var ownStartTime = sync.OnceValue(func() uint64 {
	s, _ := readStat(os.Getpid())
	return s.start
})

func scanProcesses() (found []candidate) {
	for _, pid := range slices.Backward(listPIDs()) {
		if s, ok := readStat(pid); ok && !s.isDead() && s.start >= ownStartTime() {
			found = append(found, candidate{pid, s.group, readTags(pid)})
		}
	}
	return found
}

// readEnviron returns the initial environment of a process. In the middle of an
// exec the kernel shows an empty one for a moment, so the read is repeated:
// otherwise the process would lose its tag.
func readEnviron(pid int) ([]byte, error) {
	file := "/proc/" + strconv.Itoa(pid) + "/environ"
	for pause := 100 * time.Microsecond; ; pause *= 2 {
		env, err := os.ReadFile(file)
		if len(env) > 0 || err != nil || pause > 20*time.Millisecond {
			return env, err
		}
		if s, ok := readStat(pid); !ok || s.isDead() || !s.execing {
			return os.ReadFile(file) // it may be ready by now
		}
		time.Sleep(pause)
	}
}

// readTags returns the value of SETTLE_RUN_ID in the environment of a process.
func readTags(pid int) string {
	env, _ := readEnviron(pid) // an unreadable environment has no tag
	var all []string
	for _, v := range bytes.Split(env, []byte{0}) {
		if words, ok := bytes.CutPrefix(v, []byte("SETTLE_RUN_ID=")); ok {
			all = append(all, string(words))
		}
	}
	return strings.Join(all, " ")
}

// findLeader returns a process that leads a group and carries a tag which matches,
// 0 without one. Members of the group do not count: a command is done when its
// leader exits.
func findLeader(matches func(tag string) bool) int {
	for _, pid := range listPIDs() {
		s, ok := readStat(pid)
		if ok && !s.isDead() && s.group == pid && slices.ContainsFunc(strings.Fields(readTags(pid)), matches) {
			return pid
		}
	}
	return 0
}

// hasSurvivors reports whether a process of the group, or one with the tag, is
// alive. known is false when the system cannot tell.
func hasSurvivors(group int, mark string) (alive, known bool) {
	return slices.ContainsFunc(listCandidates(), func(o candidate) bool { return o.group == group || o.hasTag(mark) }), hasProcfs()
}

// signalEscaped signals those who carry the mark and left the group. Each is
// held by a descriptor while it is looked at again, so that its pid cannot come
// to mean another in between.
func signalEscaped(group int, mark string, sig syscall.Signal) {
	for _, o := range listCandidates() {
		if o.group == group || !o.hasTag(mark) {
			continue
		}
		fd, err := unix.PidfdOpen(o.pid, 0)
		if err != nil {
			continue
		}
		if s, ok := readStat(o.pid); ok && s.group != group && (candidate{tags: readTags(o.pid)}).hasTag(mark) {
			_ = unix.PidfdSendSignal(fd, sig, nil, 0) // gone, or not ours to signal
		}
		_ = syscall.Close(fd)
	}
}
