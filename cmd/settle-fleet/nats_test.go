//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bus"
)

var kills = flag.Int("kills", 12, "how often the crash test kills something")

func TestReleaseOverNATS(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", "alpha", "beta.example.com")
	for _, m := range []string{"alpha", "beta.example.com"} {
		if out := w.round(m); !strings.Contains(out, "took up release=web@1 signer=me@example.com") {
			t.Errorf("%s says\n%s", m, out)
		}
	}
	if got := w.ok("machines"); got != "alpha              web@1   ok   \nbeta.example.com   web@1   ok   \n2 machines, 0 silent\n" {
		t.Errorf("machines\n%s", got)
	}
	if got := w.ok("show", "beta.example.com"); !strings.Contains(got, "of web@1 on beta.example.com: exit 0\nfile#page   changed   missing\n1 changed, 0 failed, 0 stable\n") {
		t.Errorf("show\n%s", got)
	}
	// A published release changes nothing before it is opened.
	w.sh("sed -i s/one/two/ site/settle.yaml")
	w.ok("publish", "site", "--name", "web", "--sign", "key")
	w.round("alpha")
	if got := w.read("alpha/page"); got != "one\n" {
		t.Errorf("the page is %q", got)
	}
	w.ok("open", "web@2", "--sign", "key")
	w.round("alpha")
	if got := w.read("alpha/page"); got != "two\n" {
		t.Errorf("the page is %q", got)
	}
	if got := w.ok("machines", "--on", "web@1"); !strings.HasPrefix(got, "beta.example.com   web@1   ok") {
		t.Errorf("on web@1\n%s", got)
	}
	// What was changed outside is drift.
	w.sh("rm alpha/page")
	w.round("alpha")
	if got := w.ok("machines", "--drift"); !strings.Contains(got, "alpha   web@2   ok   drift: file#page\n1 machines") {
		t.Errorf("drift\n%s", got)
	}
	if got := w.ok("machines", "site=lab,!alpha", "-o", "metrics"); !strings.Contains(got, `settle_fleet_releases{fleet="demo",release="web",version="1",state="ok"} 1`) {
		t.Errorf("metrics\n%s", got)
	}
	if got := len(strings.Split(strings.TrimSpace(w.ok("events", "-o", "jsonl")), "\n")); got != 4 {
		t.Errorf("%d events, want 4:\n%s", got, w.ok("events"))
	}
	// The network is down: the last verified release is applied, and told later.
	w.kill()
	w.sh("rm alpha/page")
	if out := w.round("alpha"); !strings.Contains(out, "not connected to NATS") || w.read("alpha/page") != "two\n" {
		t.Errorf("without a server\n%s", out)
	}
	w.start()
	w.round("alpha")
	if got := strings.Count(w.ok("events", "alpha"), "\n"); got != 4 {
		t.Errorf("%d events of alpha, want 4", got)
	}
	// An older version is not opened by mistake.
	w.ok("open", "web@1", "--sign", "key")
	out, code := w.try("agent", "--once", "--config", "alpha/fleet.yaml")
	if code != exitInvalid || !strings.Contains(out, "web@1 is older than web@2, which this machine has had: publish it again under a new version") {
		t.Errorf("exits %d\n%s", code, out)
	}
	if got := w.ok("machines", "--failed"); !strings.Contains(got, "alpha   web@2   ok   drift: file#page; refused: web@1 is older") {
		t.Errorf("failed\n%s", got)
	}
}

// toldRuns returns the runs of a machine that the stream has, in its order.
func (w *world) toldRuns(m string) (runs []string) {
	w.t.Helper()
	for line := range strings.Lines(w.ok("events", m, "-o", "jsonl")) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			w.t.Fatal(err)
		}
		runs = append(runs, e.Run)
	}
	return runs
}

// journalRuns returns the runs of a machine's journal that are worth telling.
func (w *world) journalRuns(m string) (runs []string) {
	w.t.Helper()
	cmd := w.command("settle", "history", "-o", "json", "--state-dir", w.path(m+"/settle"), w.path(m+"/agent/releases/web/current/settle.yaml"), "--var-file", w.path("site/hosts/"+m+".yaml"))
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatal(err)
	}
	var history struct {
		Runs []struct {
			Run      string
			ExitCode *int `json:"exit_code"`
			Summary  map[string]int
		}
	}
	if err := json.Unmarshal(out, &history); err != nil {
		w.t.Fatal(err)
	}
	for _, run := range slices.Backward(history.Runs) {
		if run.ExitCode == nil || *run.ExitCode != 0 || run.Summary["stable"] != run.Summary["total"] {
			runs = append(runs, run.Run)
		}
	}
	return runs
}

// Server, agent and settle are killed at any instant, and the server's store is
// set back to an older copy: in the end every run of the journal is in the
// stream, once and in order. The full form: -kills 1000.
func TestNoReportIsLostOrDoubled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "sync_interval: always", "alpha")
	w.round("alpha")
	w.copyStore()
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	for n := range *kills {
		if err := os.Remove(w.path("alpha/page")); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		cmd := w.command("settle-fleet", "agent", "--once", "--config", "alpha/fleet.yaml")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(random.IntN(400))*time.Millisecond, func() {
			switch n % 3 {
			case 0:
				_ = cmd.Process.Kill() // it may have ended
			case 1:
				_ = w.server.Process.Kill()
			case 2:
				w.killSettle(cmd.Process.Pid)
			}
		})
		_ = cmd.Wait() // any end will do
		kill.Stop()
		if n%3 == 1 {
			w.kill()
			w.start()
		}
		if n%10 == 9 { // the broker loses what it had acknowledged
			w.kill()
			w.sh("rm -rf store && cp -r old store")
			w.start()
			w.copyStore()
		}
	}
	w.round("alpha")
	told, journal := w.toldRuns("alpha"), w.journalRuns("alpha")
	if !slices.Equal(told, journal) {
		t.Errorf("told %d runs: %v\njournal %d: %v", len(told), told, len(journal), journal)
	}
	t.Logf("%d runs told", len(told))
}

// copyStore keeps a copy of the server's store.
func (w *world) copyStore() {
	w.t.Helper()
	w.kill()
	w.sh("rm -rf old && cp -r store old")
	w.start()
}

// killSettle kills the child of an agent, if it has one now.
func (w *world) killSettle(agent int) {
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", agent, agent))
	if err != nil {
		return
	}
	for field := range strings.FieldsSeq(string(children)) {
		var pid int
		if _, err := fmt.Sscan(field, &pid); err == nil {
			if child, err := os.FindProcess(pid); err == nil {
				_ = child.Kill() // it may have ended
			}
		}
	}
}

func TestTwoMachinesUnderOneNameAreNoticed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", "alpha")
	w.round("alpha")
	w.sh("mkdir clone && cp alpha/*.* alpha/allowed_signers clone/") // the configuration without the state
	out, code := w.try("agent", "--once", "--config", "clone/fleet.yaml")
	if code != 0 || !strings.Contains(out, "another machine tells under this name") {
		t.Errorf("the second machine exits %d\n%s", code, out)
	}
	if out := w.round("alpha"); !strings.Contains(out, "another machine tells under this name") {
		t.Errorf("the first machine says\n%s", out)
	}
	if got := w.ok("machines"); !strings.Contains(got, "two machines tell under this name") {
		t.Errorf("machines\n%s", got)
	}
	before := w.toldRuns("alpha")
	if out := w.ok("adopt", "--config", "clone/fleet.yaml"); !strings.Contains(out, "this machine takes the place of") {
		t.Errorf("adopt says %s", out)
	}
	w.sh("rm alpha/page")
	out, code = w.try("agent", "--once", "--config", "clone/fleet.yaml")
	if code != 0 || strings.Contains(out, "another machine") {
		t.Errorf("after adopt it exits %d\n%s", code, out)
	}
	if got := w.toldRuns("alpha"); len(got) <= len(before) {
		t.Errorf("after adopt the runs are %v", got)
	}
}

func TestRestoredStateContinues(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", "alpha")
	w.round("alpha")
	w.sh("cp -r alpha backup")
	w.sh("rm alpha/page")
	w.round("alpha")
	w.sh("rm -rf alpha && mv backup alpha && rm alpha/page")
	if out := w.round("alpha"); !strings.Contains(out, "was told by this instance and is not in the journal: the state was restored or cloned") {
		t.Errorf("says\n%s", out)
	}
	if got := w.toldRuns("alpha"); len(got) != 3 {
		t.Errorf("told %v", got)
	}
}

func TestAgentHearsOfARollout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", "alpha")
	cmd := w.command("settle-fleet", "agent", "--config", "alpha/fleet.yaml")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt) // its end is what is looked at
		if err := cmd.Wait(); err != nil {
			t.Errorf("the agent ends with %v", err)
		}
	}()
	w.until(func() bool { return strings.Contains(w.ok("machines"), "web@1   ok") })
	// a second agent of the same state directory
	if out, code := w.try("agent", "--once", "--config", "alpha/fleet.yaml"); code != exitLater || !strings.Contains(out, "another agent works with this state directory") {
		t.Errorf("a second agent exits %d\n%s", code, out)
	}
	w.sh("sed -i s/one/two/ site/settle.yaml")
	w.ok("publish", "site", "--name", "web", "--sign", "key")
	w.ok("open", "web@2", "--sign", "key")
	w.until(func() bool { return strings.Contains(w.ok("machines"), "web@2   ok") })
}

// until waits until something holds, for at most a minute.
func (w *world) until(holds func() bool) {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatal("it does not come to hold within a minute")
		}
	}
}

// A machine with its own key tries to reach everything that is not its own.
func TestAMachineReachesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", "alpha", "beta")
	w.round("alpha")
	w.round("beta")
	evil := connectAs(t, w, "beta")
	for _, subject := range []string{
		"settle.demo.runs.web.alpha", "$KV.settle_demo_status.alpha", "$KV.settle_demo_want.rollout.web", "$KV.settle_demo_want.release.web.9",
		"$O.settle_demo_bundles.M.eA", "$JS.API.STREAM.INFO.settle_demo_runs", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.DELETE.settle_demo_runs", "$JS.API.STREAM.PURGE.settle_demo_runs",
		"$JS.API.CONSUMER.CREATE.settle_demo_runs", "$JS.API.DIRECT.GET.settle_demo_runs", "$JS.API.DIRECT.GET.settle_demo_runs.settle.demo.runs.web.alpha",
		"$JS.API.DIRECT.GET.KV_settle_demo_status.$KV.settle_demo_status.alpha", "settle.demo.do", "settle.demo.do.alpha", "$SYS.REQ.SERVER.PING",
	} {
		if answer, err := evil.Request(subject, []byte(`{"forged": true}`), 300*time.Millisecond); err == nil {
			t.Errorf("%s is answered: %s", subject, answer.Data)
		}
	}
	for _, subject := range []string{"settle.demo.do.alpha", "settle.demo.runs.>", ">", bus.MachineInbox("alpha") + ".>", "_INBOX.>", "$KV.>"} {
		if evil.canHear(t, subject) {
			t.Errorf("it may subscribe to %s", subject)
		}
	}
	// The server answers where a request says. With one account the answer would
	// be stored under a foreign subject.
	own := "$JS.API.DIRECT.GET.settle_demo_runs.settle.demo.runs.web.beta"
	for _, aim := range []string{"settle.demo.runs.web.alpha", "$KV.settle_demo_status.alpha", "$KV.settle_demo_want.rollout.web"} {
		for _, ask := range []string{own, "$KV.settle_demo_status.beta", "settle.demo.runs.web.beta"} {
			if err := evil.PublishRequest(ask, aim, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := evil.Flush(); err != nil {
		t.Fatal(err)
	}
	w.round("beta") // behind its messages in the server
	if got := w.ok("machines", "alpha"); !strings.HasPrefix(got, "alpha   web@1   ok   \n1 machines") {
		t.Errorf("alpha is now\n%s", got)
	}
	if got := strings.Count(w.ok("events", "alpha"), "\n"); got != 1 {
		t.Errorf("alpha has %d events", got)
	}
	if out := w.round("alpha"); strings.Contains(out, "refused") {
		t.Errorf("alpha says\n%s", out)
	}
	// The rights suffice for the whole life of a machine: it was lived above.
	if out := w.round("alpha"); strings.Contains(out, "NATS") {
		t.Errorf("alpha misses a right:\n%s", out)
	}
}

// intruder is a connection with a machine's key that does what the agent never does.
type intruder struct {
	*nats.Conn
	inbox string
	wrong chan error
}

func connectAs(t *testing.T, w *world, dir string) *intruder {
	t.Helper()
	option, err := nats.NkeyOptionFromSeed(w.path(dir + "/machine.nk"))
	if err != nil {
		t.Fatal(err)
	}
	i := &intruder{inbox: bus.MachineInbox(dir), wrong: make(chan error, 100)}
	i.Conn, err = nats.Connect(fmt.Sprintf("nats://127.0.0.1:%d", w.port), option, nats.CustomInboxPrefix(i.inbox),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { i.wrong <- err }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Close)
	return i
}

// canHear reports whether the server lets it subscribe.
func (i *intruder) canHear(t *testing.T, subject string) bool {
	t.Helper()
	i.drain()
	sub, err := i.SubscribeSync(subject)
	if err == nil {
		err = i.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-i.wrong:
		return false
	case <-time.After(time.Second):
		_ = sub.Unsubscribe() // the connection ends soon
		return true
	}
}

func (i *intruder) drain() {
	for {
		select {
		case <-i.wrong:
		default:
			return
		}
	}
}

// events --follow prints a line of JSON for each report as soon as the server has
// it, for a program that reads them from a pipe.
func TestEventsFollowWritesALineForEachRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", "alpha", "beta")
	w.round("alpha")
	follow := w.command("settle-fleet", "events", "--follow", "-o", "jsonl")
	pipe, err := follow.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	limit := time.AfterFunc(time.Minute, func() { _ = follow.Process.Kill() }) // the reader below ends then
	defer limit.Stop()
	lines := bufio.NewReader(pipe)
	next := func(machine string) {
		t.Helper()
		text, err := lines.ReadBytes('\n')
		var e event
		if err == nil {
			err = json.Unmarshal(text, &e)
		}
		if err != nil || e.Machine != machine || e.Release != "web@1" || e.Summary["changed"] != 1 || e.Run == "" || e.Time.IsZero() || !json.Valid(e.Report) {
			t.Fatalf("a run of %s is told as %s (%v)", machine, text, err)
		}
	}
	next("alpha") // from before
	w.round("beta")
	next("beta") // while it follows
	if err := follow.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("behind the last run comes %q (%v)", rest, err)
	}
	if err := follow.Wait(); err != nil {
		t.Errorf("interrupted, it ends with %v", err)
	}
}
