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

// one is a process as a census found it.
type candidate struct {
	pid, group int
	tags      string // words of its SETTLE_RUN_ID
}

// marked says whether it carries a mark, as a whole word.
func (o candidate) hasTag(mark string) bool {
	return mark != "" && slices.Contains(strings.Split(o.tags, " "), mark)
}

// census is the last one. To take one costs a look at every process there is,
// and when a run is ended all its commands ask at the same time, again and again.
var processList struct {
	sync.Mutex
	began time.Time
	found []candidate
}

// living returns those who may be of settle's commands at this moment: one who
// has to wait for the census of another takes over what that finds, if it began
// later than he came. The newest are first: they may be gone soonest, and what
// they fork has not been listed.
func listCandidates() []candidate {
	came := time.Now()
	processList.Lock()
	defer processList.Unlock()
	if !processList.began.After(came) {
		processList.began, processList.found = time.Now(), scanProcesses()
	}
	return processList.found
}

// ownStart is when settle started: what is older is none of its commands'.
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

// environ returns the environment that a process began with. One that is in
// the middle of an exec shows none for a moment, which must not make it a
// stranger: it is asked again until it has one.
func readEnviron(pid int) ([]byte, error) {
	file := "/proc/" + strconv.Itoa(pid) + "/environ"
	for pause := 100 * time.Microsecond; ; pause *= 2 {
		env, err := os.ReadFile(file)
		if len(env) > 0 || err != nil || pause > 20*time.Millisecond {
			return env, err
		}
		if s, ok := readStat(pid); !ok || s.isDead() || !s.execing {
			return os.ReadFile(file) // it may have got one in between
		}
		time.Sleep(pause)
	}
}

// marks returns what SETTLE_RUN_ID is in the environment of a process.
func readTags(pid int) string {
	env, _ := readEnviron(pid) // one that we may not look at carries none
	var all []string
	for _, v := range bytes.Split(env, []byte{0}) {
		if words, ok := bytes.CutPrefix(v, []byte("SETTLE_RUN_ID=")); ok {
			all = append(all, string(words))
		}
	}
	return strings.Join(all, " ")
}

// survivors says whether anything lives in the group or carries the mark, and
// whether it can know.
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
