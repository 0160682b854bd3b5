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
type one struct {
	pid, group int
	marks      string // words of its SETTLE_RUN_ID
}

// marked says whether it carries a mark, as a whole word.
func (o one) marked(mark string) bool {
	return mark != "" && slices.Contains(strings.Split(o.marks, " "), mark)
}

// census is the last one. To take one costs a look at every process there is,
// and when a run is ended all its commands ask at the same time, again and again.
var census struct {
	sync.Mutex
	began time.Time
	found []one
}

// living returns those who may be of settle's commands at this moment: one who
// has to wait for the census of another takes over what that finds, if it began
// later than he came. The newest are first: they may be gone soonest, and what
// they fork has not been listed.
func living() []one {
	came := time.Now()
	census.Lock()
	defer census.Unlock()
	if !census.began.After(came) {
		census.began, census.found = time.Now(), count()
	}
	return census.found
}

// ownStart is when settle started: what is older is none of its commands'.
var ownStart = sync.OnceValue(func() uint64 {
	s, _ := readStat(os.Getpid())
	return s.start
})

func count() (found []one) {
	for _, pid := range slices.Backward(processes()) {
		if s, ok := readStat(pid); ok && !s.dead() && s.start >= ownStart() {
			found = append(found, one{pid, s.group, marks(pid)})
		}
	}
	return found
}

// environ returns the environment that a process began with. One that is in
// the middle of an exec shows none for a moment, which must not make it a
// stranger: it is asked again until it has one.
func environ(pid int) ([]byte, error) {
	file := "/proc/" + strconv.Itoa(pid) + "/environ"
	for pause := 100 * time.Microsecond; ; pause *= 2 {
		env, err := os.ReadFile(file)
		if len(env) > 0 || err != nil || pause > 20*time.Millisecond {
			return env, err
		}
		if s, ok := readStat(pid); !ok || s.dead() || !s.execing {
			return os.ReadFile(file) // it may have got one in between
		}
		time.Sleep(pause)
	}
}

// marks returns what SETTLE_RUN_ID is in the environment of a process.
func marks(pid int) string {
	env, _ := environ(pid) // one that we may not look at carries none
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
func survivors(group int, mark string) (alive, known bool) {
	return slices.ContainsFunc(living(), func(o one) bool { return o.group == group || o.marked(mark) }), procfs()
}

// signalEscaped signals those who carry the mark and left the group. Each is
// held by a descriptor while it is looked at again, so that its pid cannot come
// to mean another in between.
func signalEscaped(group int, mark string, sig syscall.Signal) {
	for _, o := range living() {
		if o.group == group || !o.marked(mark) {
			continue
		}
		fd, err := unix.PidfdOpen(o.pid, 0)
		if err != nil {
			continue
		}
		if s, ok := readStat(o.pid); ok && s.group != group && (one{marks: marks(o.pid)}).marked(mark) {
			_ = unix.PidfdSendSignal(fd, sig, nil, 0) // gone, or not ours to signal
		}
		_ = syscall.Close(fd)
	}
}
