//go:build unix

package journal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
)

// role makes the test binary another process: what it does in it is named by
// this variable, and its arguments are the state directory and what the role needs.
const role = "SETTLE_JOURNAL_TEST_ROLE"

func TestMain(m *testing.M) {
	if name := os.Getenv(role); name != "" {
		if err := roles[name](Store{Dir: os.Args[1], Identity: "web"}, os.Args[2:]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var roles = map[string]func(Store, []string) error{
	"hold":    hold,
	"append":  appendForever,
	"compact": compactForever,
	"touch":   touch,
	"others":  others,
}

// hold takes the lock, says so, and keeps it until its input ends. With a
// command, it leaves that behind first.
func hold(s Store, command []string) error {
	j, err := s.Lock(context.Background(), 0, Holder{Process: model.Process{PID: os.Getpid()}, Run: "r1", Since: began})
	if err != nil {
		return err
	}
	child := 0
	if len(command) > 0 {
		cmd := exec.Command(command[0], command[1:]...)
		if err := cmd.Start(); err != nil {
			return err
		}
		child = cmd.Process.Pid
	}
	fmt.Println("held", child)
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return j.Close()
}

// appendForever appends one debt after the other, and says which are safe.
func appendForever(s Store, args []string) error {
	j, err := s.Lock(context.Background(), 0, Holder{Process: model.Process{PID: os.Getpid()}, Run: args[0], Since: began})
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		record := model.Record{Kind: model.RecordOwed, Run: args[0], ID: fmt.Sprintf("exec#%s-%d", args[0], n)}
		if err := j.Append([]model.Record{record}, true); err != nil {
			return err
		}
		fmt.Println(record.ID)
	}
}

// compactForever starts runs of a journal that is always too long.
func compactForever(s Store, _ []string) error {
	for n := 0; ; n++ {
		j, err := s.Lock(context.Background(), 0, Holder{Run: fmt.Sprint("r", n), Since: began})
		if err != nil {
			return err
		}
		if err := j.Append(filler(), false); err != nil {
			return err
		}
		if err := j.Close(); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// touch takes the lock, writes a record and a report under a umask, and lets go.
func touch(s Store, args []string) error {
	if len(args) > 0 {
		umask, err := strconv.ParseInt(args[0], 8, 32)
		if err != nil {
			return err
		}
		syscall.Umask(int(umask))
	}
	j, err := s.Lock(context.Background(), 0, Holder{Run: "r1", Since: began})
	if err != nil {
		return err
	}
	if err := j.Pause(Pause{By: "alice"}); err != nil {
		return err
	}
	report := &model.Report{ExitCode: 1}
	if err := errors.Join(j.SaveReport(report), j.Finish(report, 0)); err != nil {
		return err
	}
	if err := j.Close(); err != nil {
		return err
	}
	fmt.Println("touched")
	return nil
}

// others returns the messages about state in a foreign directory.
func others(s Store, _ []string) error {
	fmt.Println(strings.Join(Store{Dir: "/nowhere", Identity: s.Identity}.checkOtherStore(s.Dir, "bob"), "\n"))
	return nil
}

// other is another process of the test binary.
type other struct {
	cmd *exec.Cmd
	out *bufio.Reader
	in  io.WriteCloser
}

func start(t *testing.T, name string, s Store, args ...string) *other {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{s.Dir}, args...)...)
	cmd.Env = append(os.Environ(), role+"="+name)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o := &other{cmd, bufio.NewReader(out), in}
	t.Cleanup(func() { o.kill() })
	return o
}

func (o *other) line(t *testing.T) string {
	t.Helper()
	line, err := o.out.ReadString('\n')
	if err != nil {
		t.Fatalf("the other process said %q, then %v", line, err)
	}
	return strings.TrimSpace(line)
}

// rest returns what the process says until it ends by itself.
func (o *other) rest(t *testing.T) string {
	t.Helper()
	rest, err := io.ReadAll(o.out)
	if err != nil {
		t.Fatal(err)
	}
	return string(rest)
}

// kill ends the process by SIGKILL, and returns what it had still said.
func (o *other) kill() string {
	_ = o.cmd.Process.Kill()     // it may be gone already
	rest, _ := io.ReadAll(o.out) // as above
	_ = o.cmd.Wait()             // it was killed
	return string(rest)
}

func TestLockIsHeldByOneProcess(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.Alive = alive
	o := start(t, "hold", s)
	o.line(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // the holder never lets go
	defer cancel()
	_, err := s.Lock(ctx, 0, apply("r2"))
	held, ok := err.(*Held) //nolint:errorlint // it must be so unwrapped, for cmd to word it
	if !ok {
		t.Fatalf("error is %v", err)
	}
	want := fmt.Sprintf("another apply is running: pid %d since 2026-01-02T03:04:05Z", o.cmd.Process.Pid)
	if held.Error() != want || held.PID != o.cmd.Process.Pid || held.Run != "r1" {
		t.Errorf("says %q, want %q", held, want)
	}
	if snap, err := s.Read(); err != nil || snap.Found {
		t.Errorf("a reader needs no lock: %v, %v", snap, err)
	}
}

func TestLockIsFreeAtOnceAfterAKill(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	o := start(t, "hold", s, "sleep", "600")
	pid, err := strconv.Atoi(strings.TrimPrefix(o.line(t), "held "))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	o.kill()
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the child that should outlive its parent: %v", err)
	}
	j, err := s.Lock(t.Context(), 0, apply("r2"))
	if err != nil {
		t.Fatalf("the lock is stale: %v", err)
	}
	closed(t, j)
}

// A child that is just being forked still has the descriptor of the lock.
func TestLockWaitsForADeadHolder(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	o := start(t, "hold", s)
	o.line(t)
	if err := o.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.Alive = func(model.Process) bool { return false } // as good as dead
	got := make(chan error)
	go func() {
		j, err := s.Lock(t.Context(), 0, apply("r2"))
		if err == nil {
			err = j.Close()
		}
		got <- err
	}()
	select {
	case err := <-got:
		t.Fatalf("did not wait: %v", err)
	case <-time.After(100 * time.Millisecond): // it has surely tried by now
	}
	o.kill()
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestAnotherIdentityIsNotLocked(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	o := start(t, "hold", s)
	o.line(t)
	s.Identity = "db"
	closed(t, locked(t, s, "r2"))
}

func TestLockWaitsForItsTimeout(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.Alive = alive
	o := start(t, "hold", s)
	o.line(t)
	if _, err := s.Lock(t.Context(), 60*time.Millisecond, apply("r2")); err == nil {
		t.Fatal("got a lock that is held")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fmt.Errorf("killed by SIGINT"))
	if _, err := s.Lock(ctx, time.Hour, apply("r2")); err == nil || !strings.Contains(err.Error(), "wait for the lock: killed by SIGINT") {
		t.Errorf("an interrupt ends the wait with %v", err)
	}
	got := make(chan error)
	go func() {
		j, err := s.Lock(t.Context(), time.Hour, apply("r2"))
		if err == nil {
			err = j.Close()
		}
		got <- err
	}()
	if err := o.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Errorf("waited for the lock: %v", err)
	}
}

func TestARunKilledBeforeItsFirstLineIsInTheHistory(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	o := start(t, "hold", s)
	o.line(t)
	s.Alive = alive
	if runs := read(t, s).Runs(); len(runs) != 1 || !runs[0].Running {
		t.Errorf("while it goes on, the history is %v", runs)
	}
	o.kill()
	s.Alive = dead
	if runs := read(t, s).Runs(); len(runs) != 1 || runs[0].Running || runs[0].Run != "r1" || !runs[0].Started.Equal(began) {
		t.Errorf("after the kill, the history is %v", runs)
	}
	j := locked(t, s, "r2")
	if err := j.Finish(&model.Report{}, 0); err != nil {
		t.Fatal(err)
	}
	closed(t, j)
	if runs := read(t, s).Runs(); len(runs) != 2 || runs[0].Run != "r1" || runs[0].ExitCode != nil {
		t.Errorf("after another run, the history is %v", runs)
	}
}

func TestAcknowledgedRecordsSurviveAKill(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var safe []string
	for run := range 10 {
		o := start(t, "append", s, fmt.Sprint("r", run))
		for range 1 + run*3 {
			safe = append(safe, o.line(t))
		}
		for line := range strings.Lines(o.kill()) {
			if id, ok := strings.CutSuffix(line, "\n"); ok {
				safe = append(safe, id)
			}
		}
		owed := map[string]bool{}
		for _, debt := range read(t, s).Memory().Owed {
			owed[debt.ID] = true
		}
		for _, id := range safe {
			if !owed[id] {
				t.Fatalf("run %d: %s was safe and is lost", run, id)
			}
		}
	}
}

// filler is more than the journal holds before it is compacted, and adds up to one debt.
func filler() []model.Record {
	records := []model.Record{{Kind: model.RecordOwed, ID: "exec#kept", By: "exec#p", Run: "r"}}
	long := strings.Repeat("x", 1000)
	for range compactAbove / 1000 {
		records = append(records, model.Record{Kind: model.RecordSettled, Run: "r", ID: long})
	}
	return records
}

func TestKillDuringCompactionLosesNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for n := range 10 {
		o := start(t, "compact", s)
		o.line(t)                                       // from now on every run compacts
		time.Sleep(time.Duration(n) * time.Millisecond) // any instant will do
		o.kill()
		snap := read(t, s)
		if debts := snap.Memory().Owed; len(debts) != 1 || debts[0].ID != "exec#kept" {
			t.Fatalf("kill %d: the debt is gone: %v", n, debts)
		}
	}
	if _, err := os.Stat(filepath.Join(s.Path(), "journal")); err != nil {
		t.Fatal(err)
	}
}
