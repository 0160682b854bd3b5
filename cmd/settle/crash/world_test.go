//go:build linux

package crash

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/providers/journal"
	"github.com/settle-cm/settle/providers/proc"
)

// node is one resource of a random manifest.
type node struct {
	name        string
	properties  string // beside command and edges
	subscribe   []int
	require     []int
	fails       int  // attempts that fail before the first success
	early       bool // what it creates is there before it is done
	unchanged   bool
	ignored     bool
	check       bool // on_refresh: check: a "no" settles
	pause       string
	subscribers []int
}

// world is a directory with a manifest, its commands, their log and the state.
type world struct {
	*trial
	dir   string
	nodes []node
}

// step is the command of every resource: it logs when it begins to change
// something and how it ends, and fails as often as it is told to.
const step = `#!/bin/sh
n=$(cat "n_$1" 2>/dev/null || echo 0)
echo $((n + 1)) > "n_$1"
echo "start $1 $$" >> log
if [ "$3" = true ]; then : > "out_$1"; fi
sleep "$4"
if [ "$n" -lt "$2" ]; then echo "fail $1 $$" >> log; exit 1; fi
: > "out_$1"
echo "ok $1 $$" >> log
`

// world makes a manifest of n resources, in its directory: the same graph for
// all worlds of a trial.
func (tr *trial) world(n int) *world {
	w := &world{trial: tr, dir: tr.TempDir()}
	r := rand.New(rand.NewPCG(tr.seed, 1))
	w.nodes = make([]node, n)
	for i := range w.nodes {
		w.nodes[i] = randomNode(r, i)
		for _, s := range w.nodes[i].subscribe {
			w.nodes[s].subscribers = append(w.nodes[s].subscribers, i)
		}
	}
	order := r.Perm(n)
	var text strings.Builder
	text.WriteString("name: crash\nresources:\n  - exec:\n")
	for _, i := range order {
		text.WriteString(w.nodes[i].entry(w.nodes))
	}
	w.write("settle.yaml", text.String(), 0o600)
	w.write("step", step, 0o700)
	w.write("log", "", 0o600)
	if err := os.MkdirAll(w.store().Path(), 0o700); err != nil {
		tr.Fatal(err)
	}
	return w
}

func randomNode(r *rand.Rand, i int) node {
	n := node{
		name: fmt.Sprint("r", i), fails: max(0, r.IntN(4)-1), early: r.IntN(2) == 0,
		pause: fmt.Sprintf("0.%03d", r.IntN(12)),
	}
	for j := range i {
		switch r.IntN(6) {
		case 0, 1:
			n.subscribe = append(n.subscribe, j)
		case 2:
			n.require = append(n.require, j)
		}
	}
	switch r.IntN(8) {
	case 0, 1:
		n.properties = "creates: out_" + n.name
	case 2:
		n.properties = "unless: test -e out_" + n.name
	case 3:
		n.properties, n.unchanged = "unchanged: true", true
	case 4:
		n.properties, n.ignored = "ignore_failure: true", true
	case 5:
		n.properties, n.check = "on_refresh: check, creates: out_"+n.name, true
	case 6:
		if len(n.subscribe) > 0 {
			n.properties = "refreshonly: true"
		}
	}
	return n
}

func (n *node) entry(nodes []node) string {
	parts := []string{fmt.Sprintf("command: ./step %s %d %v %s", n.name, n.fails, n.early, n.pause)}
	if n.properties != "" {
		parts = append(parts, n.properties)
	}
	for _, edges := range []struct {
		word string
		to   []int
	}{{"subscribe", n.subscribe}, {"require", n.require}} {
		var refs []string
		for _, j := range edges.to {
			refs = append(refs, "exec#"+nodes[j].name)
		}
		if len(refs) > 0 {
			parts = append(parts, fmt.Sprintf("%s: [%s]", edges.word, strings.Join(refs, ", ")))
		}
	}
	return fmt.Sprintf("      - %s: {%s}\n", n.name, strings.Join(parts, ", "))
}

func (w *world) write(name, text string, mode os.FileMode) {
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), mode); err != nil {
		w.Fatal(err)
	}
}

func (w *world) copy() *world {
	c := *w
	c.dir = w.TempDir()
	if err := os.CopyFS(c.dir, os.DirFS(w.dir)); err != nil {
		w.Fatal(err)
	}
	return &c
}

func (w *world) store() journal.Store {
	return journal.Store{Dir: filepath.Join(w.dir, "state"), Identity: "crash", Alive: proc.Alive}
}

// apply starts settle. It is the program itself, in a process of its own.
func (w *world) apply() (*exec.Cmd, *bytes.Buffer) {
	w.tally.add(&w.tally.applies, 1)
	cmd := exec.Command("settle", "apply", "--grace", "100ms", "--parallel", strconv.Itoa(1+w.rand.IntN(3)))
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "SETTLE_STATE_DIR="+w.store().Dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	return cmd, &out
}

// endedAfter applies, and sends a signal after a while.
func (w *world) endedAfter(d time.Duration, sig syscall.Signal) {
	cmd, _ := w.apply()
	time.Sleep(d) // any instant will do
	_ = cmd.Process.Signal(sig)
	_ = cmd.Wait() // ended by it, or before
	n := &w.tally.stops
	if sig == syscall.SIGKILL {
		n = &w.tally.kills
	}
	w.tally.add(n, 1)
}

// killedAtWrite applies, and kills settle as soon as it has written to its
// journal for the nth time; true when it came to its end before.
func (w *world) killedAtWrite(nth int) (survived bool) {
	watch, err := syscall.InotifyInit1(syscall.IN_CLOEXEC)
	if err != nil {
		w.Fatal(err)
	}
	events := os.NewFile(uintptr(watch), "inotify")
	if _, err := syscall.InotifyAddWatch(watch, w.store().Path(), syscall.IN_MODIFY|syscall.IN_CLOSE_WRITE); err != nil {
		w.Fatal(err)
	}
	cmd, _ := w.apply()
	over := make(chan struct{})
	go func() {
		defer close(over)
		for writes := 0; writes < nth; {
			more, ok := journalWrites(events)
			if !ok {
				return
			}
			writes += more
		}
		_ = cmd.Process.Kill() // it may be over already
	}()
	err = cmd.Wait()
	_ = os.WriteFile(filepath.Join(w.store().Path(), "over"), nil, 0o600) // wakes the watch
	<-over
	_ = events.Close() // nothing was written
	var exit *exec.ExitError
	killed := errors.As(err, &exit) && exit.ExitCode() < 0
	if killed {
		w.tally.add(&w.tally.kills, 1)
	}
	return !killed
}

// journalWrites reads what inotify has to say: how often the journal was
// written to, and whether settle still runs.
func journalWrites(events *os.File) (n int, ok bool) {
	buf := make([]byte, 16<<10)
	size, err := events.Read(buf)
	if err != nil {
		return 0, false
	}
	for buf = buf[:size]; len(buf) >= syscall.SizeofInotifyEvent; {
		length := int(buf[12]) | int(buf[13])<<8
		name := string(bytes.TrimRight(buf[syscall.SizeofInotifyEvent:syscall.SizeofInotifyEvent+length], "\x00"))
		switch {
		case name == "over":
			return n, false
		case name == "journal" && buf[4]&syscall.IN_MODIFY != 0:
			n++
		}
		buf = buf[syscall.SizeofInotifyEvent+length:]
	}
	return n, true
}

// converge applies until all has succeeded, and holds the log against the promise.
func (w *world) converge() {
	if w.Failed() {
		return
	}
	w.quiet()
	var said []string
	for range 60 {
		before := len(w.attempts())
		plan := w.plan()
		cmd, out := w.apply()
		err := cmd.Wait()
		said = append(said, out.String())
		w.planned(plan, w.attempts()[before:])
		if owed := w.memory().Owed; err == nil && len(owed) == 0 {
			w.quiet()
			for _, lost := range w.lost() {
				w.fail("%s changed, and %s has not run since", w.nodes[lost[0]].name, w.nodes[lost[1]].name)
			}
			return
		}
		if exit := cmd.ProcessState.ExitCode(); exit > 1 {
			break
		}
	}
	w.fail("does not converge:\n%s", strings.Join(said[max(0, len(said)-3):], "\n"))
}

func (w *world) memory() model.Memory {
	snap, err := w.store().Read()
	if err != nil {
		w.fail("%v", err)
		return model.Memory{}
	}
	return snap.Memory()
}

// remembered makes sure that whatever is still missing is owed.
func (w *world) remembered() {
	w.quiet()
	m := w.memory()
	for _, lost := range w.lost() {
		s := "exec#" + w.nodes[lost[1]].name
		if !slices.ContainsFunc(m.Owed, func(d model.OwedRefresh) bool { return d.ID == s }) {
			w.fail("%s changed, %s has not run since, and it is not owed", w.nodes[lost[0]].name, s)
		}
	}
}

// attempt is one run of a command, as the log has it.
type attempt struct {
	node       int
	pid        int
	start, end int // lines of the log; end is the start's when it never came to its end
	how        string
}

func (w *world) attempts() []attempt {
	text, err := os.ReadFile(filepath.Join(w.dir, "log"))
	if err != nil {
		w.Fatal(err)
	}
	var all []attempt
	for n, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var how, name string
		var pid int
		if _, err := fmt.Sscan(line, &how, &name, &pid); err != nil {
			continue // the log is empty
		}
		node := slices.IndexFunc(w.nodes, func(n node) bool { return n.name == name })
		if how == "start" {
			all = append(all, attempt{node: node, pid: pid, start: n, end: n})
			continue
		}
		for i, a := range slices.Backward(all) {
			if a.pid == pid && a.node == node {
				all[i].end, all[i].how = n, how
				break
			}
		}
	}
	return all
}

// startedOnce fails when a command was started while an earlier one of the same
// resource was still running.
func (w *world) startedOnce() {
	w.quiet()
	all := w.attempts()
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.node == b.node && a.how != "" && b.start < a.end {
				w.fail("%s was started a second time, as pid %d, while pid %d was running", w.nodes[a.node].name, b.pid, a.pid)
			}
		}
	}
}

// lost lists publishers and subscribers of which the first has changed, or may
// have, and the second has not run with success since.
func (w *world) lost() [][2]int {
	var lost [][2]int
	all := w.attempts()
	for _, a := range all {
		p := &w.nodes[a.node]
		if a.how == "ok" && p.unchanged || a.how == "fail" && p.ignored {
			continue
		}
		for _, s := range p.subscribers {
			paid := slices.ContainsFunc(all, func(b attempt) bool { return b.node == s && b.how == "ok" && b.start > a.end })
			if !paid && !w.nodes[s].check {
				lost = append(lost, [2]int{a.node, s})
			}
		}
	}
	return lost
}

// quiet waits for commands that have outlived their settle: those that the log
// knows, and those that the journal knows and that have not come to log anything.
func (w *world) quiet() {
	for _, a := range w.attempts() {
		if a.how == "" {
			w.gone(model.Process{PID: a.pid})
		}
	}
	for _, left := range w.memory().Strays {
		w.gone(left.Process)
	}
}

func (w *world) gone(p model.Process) {
	for deadline := time.Now().Add(20 * time.Second); proc.Alive(p); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			w.fail("pid %d does not end", p.PID)
			return
		}
	}
}

func (w *world) fail(format string, args ...any) {
	manifest, _ := os.ReadFile(filepath.Join(w.dir, "settle.yaml"))     // as much as there is,
	log, _ := os.ReadFile(filepath.Join(w.dir, "log"))                  // for the one who looks
	facts, _ := os.ReadFile(filepath.Join(w.store().Path(), "journal")) // into it
	w.Errorf("seed %d: %s\n%s\n%s\n%s", w.seed, fmt.Sprintf(format, args...), manifest, log, facts)
}
