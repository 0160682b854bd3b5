package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
)

func TestTimeoutEndsTheGroup(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       string // how the leader ended
	}{
		{"a shell and its child", "sleep 600; true", "killed by SIGTERM"},
		{"a background child as well", "sleep 60 & sleep 60", "killed by SIGTERM"},
		{"a closed output", "exec >&- 2>&-; sleep 60", "killed by SIGTERM"},
		{"exit 0 in the end", "trap 'exit 0' TERM; sleep 60 & wait", "exit 0"},
		{"TERM is ignored", "trap '' TERM; sleep 60 & sleep 60; sleep 60", "killed by SIGKILL"},
		{"only the child ignores TERM", "(trap '' TERM; sleep 60) & sleep 60", "killed by SIGTERM"},
		{"stopped", "kill -STOP $$", "killed by SIGTERM"},
		{"floods its output", "yes", "killed by SIGTERM"},
	} {
		for _, listen := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/listen=%v", tt.name, listen), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				c := mark(sh("cd %s; exec 3>held; %s", dir, tt.text), "r/"+t.Name())
				c.Timeout = 200 * time.Millisecond
				if listen {
					c.Output = func([]byte) {}
				}
				began := time.Now()
				e, err := Run(t.Context(), c)
				quick(t, began, c.Timeout+c.Grace+2*time.Second)
				timeout := (*TimedOut)(nil)
				if !errors.As(err, &timeout) || err.Error() != "timed out after 200ms" {
					t.Errorf("error %v", err)
				}
				if !e.Began || e.String() != tt.want || len(e.Warnings) != 0 {
					t.Errorf("%v, want %s; warnings %q", e, tt.want, e.Warnings)
				}
				if who := opened(filepath.Join(dir, "held")); len(who) > 0 {
					t.Errorf("still there: %v", who)
				}
			})
		}
	}
}

// opened returns the processes that have a file open.
func opened(file string) (who []int) {
	for _, pid := range listPIDs() {
		if hasOpen(pid, file) {
			who = append(who, pid)
		}
	}
	return who
}

// TestEscapedProcessesAreEnded: one that left the group is ended with its own command, and only
// with that.
func TestEscapedProcessesAreEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	daemon := func(name string) string {
		return fmt.Sprintf("setsid sh -c 'trap \"\" HUP TERM; echo $$ >%s/%s; exec >/dev/null 2>&1 3>%[1]s/held-%[2]s; sleep 60; sleep 60' &", dir, name)
	}
	// a daemon of a command that is done, with a mark that begins like the other's
	if e, err := Run(t.Context(), mark(sh("%s while ! test -s %s/finished; do sleep 0.01; done", daemon("finished"), dir), "run/12")); err != nil || e.Code != 0 || len(e.Warnings) > 0 {
		t.Fatal(e, err, e.Warnings)
	}
	finished := pidIn(t, dir+"/finished")

	c := mark(sh("%s env -u SETTLE_RUN_ID %s while ! test -s %s/stranger; do sleep 0.01; done; sleep 60", daemon("escaped"), daemon("stranger"), dir), "run/1")
	c.Env[len(c.Env)-1] = "SETTLE_RUN_ID=outer/7 run/1" // as under a settle
	c.Timeout = time.Second
	began := time.Now()
	_, err := Run(t.Context(), c)
	quick(t, began, c.Timeout+c.Grace+2*time.Second)
	if err == nil || !strings.HasPrefix(err.Error(), "timed out") {
		t.Error(err)
	}
	stranger := pidIn(t, dir+"/stranger")
	gone(t, pidIn(t, dir+"/escaped"))
	if who := opened(dir + "/held-escaped"); len(who) > 0 {
		t.Errorf("a child of the escaped one is still there: %v", who)
	}
	if !alive(finished) || !alive(stranger) {
		t.Errorf("daemon of the finished command alive: %v; one without the mark: %v; both should be", alive(finished), alive(stranger))
	}
	for _, name := range []string{"finished", "stranger"} {
		for _, pid := range opened(dir + "/held-" + name) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// TestReforkingProcessesAreEnded: one that left the group is found although it is a new
// program most of the time.
func TestReforkingProcessesAreEnded(t *testing.T) {
	t.Parallel()
	for n := range 20 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			text := "#!/bin/sh\ntrap '' TERM\nexec >/dev/null 2>&1 3>>held\nexec \"$0\"\n" // without the directory it ends
			if err := os.WriteFile(dir+"/run", []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
			c := mark(sh("cd %s; setsid ./run & sleep 60", dir), "r/"+t.Name())
			c.Timeout, c.Grace = 300*time.Millisecond, 300*time.Millisecond
			e, err := Run(t.Context(), c)
			if err == nil || !strings.HasPrefix(err.Error(), "timed out") {
				t.Errorf("%v, %v", e, err)
			}
			if who := opened(dir + "/held"); len(who) > 0 {
				t.Errorf("still there: %v (%q)", who, e.Warnings)
				for _, pid := range who {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		})
	}
}

// TestForkStormIsEnded: nothing of what forks for its life survives.
func TestForkStormIsEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := mark(sh("trap '' TERM; exec 3>%s/held; while :; do (sleep 0.01; sleep 60) & sleep 0.005; done", dir), "run/storm")
	c.Timeout = 300 * time.Millisecond
	began := time.Now()
	e, _ := Run(t.Context(), c)
	quick(t, began, c.Timeout+c.Grace+2*time.Second)
	if who := opened(dir + "/held"); len(who) > 0 {
		t.Errorf("still there: %v (%q)", who, e.Warnings)
	}
}

// TestInterruptPassesTheSignalOnce: the group gets the signal of the cause, once.
func TestInterruptPassesTheSignalOnce(t *testing.T) {
	t.Parallel()
	for sig, name := range map[syscall.Signal]string{syscall.SIGINT: "INT", syscall.SIGTERM: "TERM", syscall.SIGHUP: "HUP"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			c := mark(sh("for s in INT TERM HUP; do trap \"echo $s\" $s; done; echo ready; while :; do sleep 0.02; done"), "run/"+name)
			c.Grace = 500 * time.Millisecond
			c.Output = func(line []byte) {
				if string(line) == "ready" {
					cancel(&Signalled{sig})
				}
			}
			began := time.Now()
			e, err := Run(ctx, c)
			quick(t, began, c.Grace+2*time.Second)
			cause := (*Signalled)(nil)
			if !errors.As(err, &cause) || cause.Signal != sig || err.Error() != "interrupted by SIG"+name {
				t.Errorf("error %v", err)
			}
			// the shell may add that its sleep was "Terminated"
			if strings.Count(e.Output, name) != 1 || e.Signal != "SIGKILL" {
				t.Errorf("%v, output %q", e, e.Output)
			}
		})
	}
}

func TestInterruptByOtherCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("the run took longer than 1h")
	ctx, cancel := context.WithCancelCause(t.Context())
	c := sh("trap 'echo got it; exit 0' TERM; echo ready; while :; do sleep 0.02; done")
	c.Started = func(model.Process) error { return nil }
	c.Output = func([]byte) { cancel(cause) }
	e, err := Run(ctx, c)
	if !errors.Is(err, cause) || err.Error() != "interrupted: the run took longer than 1h" || e.Code != 0 || !strings.HasSuffix(e.Output, "got it\n") {
		t.Errorf("%v, %v, %q", e, err, e.Output)
	}
	if e, err := Run(ctx, c); e.Began || !errors.Is(err, cause) {
		t.Errorf("after the cancel it started: %v, %v", e, err)
	}
}

// The result of a finished command stays; settle only stops waiting for its child.
func TestInterruptKeepsTheResultOfAFinishedCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	c := mark(sh("sleep 60 & echo $! >%s/pid", dir), "run/linger")
	c.Started = func(p model.Process) error {
		go func() {
			for !hasExited(p.PID) {
				time.Sleep(time.Millisecond)
			}
			cancel(&Signalled{syscall.SIGINT})
		}()
		return nil
	}
	e, err := Run(ctx, c)
	if err != nil || e.Code != 0 || len(e.Warnings) != 1 {
		t.Errorf("%v, %v, %q", e, err, e.Warnings)
	}
	if pid := pidIn(t, dir+"/pid"); !alive(pid) {
		t.Error("the child of a command that was done was ended")
	}
}

// TestExitWinsOverInterrupt: when both are there to be seen, it ended by itself.
func TestExitWinsOverInterrupt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	c := sh("exit 3")
	c.Timeout = time.Nanosecond
	c.Started = func(p model.Process) error {
		until(t, "it exits", func() bool { return hasExited(p.PID) })
		cancel(&Signalled{syscall.SIGINT})
		return nil
	}
	if e, err := Run(ctx, c); err != nil || e.Code != 3 {
		t.Errorf("%v, %v", e, err)
	}
}

// TestKillAllSkipsTheGrace is not parallel: it ends all that runs.
func TestKillAllSkipsTheGrace(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	ready := make(chan struct{}, 3)
	c := sh("trap '' INT TERM; echo ready; sleep 60 & sleep 60; sleep 60")
	c.Grace = time.Minute
	c.Output = func([]byte) { ready <- struct{}{} }
	errs := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := Run(ctx, c)
			errs <- err
		}()
	}
	for range 3 {
		<-ready
	}
	began := time.Now()
	cancel(&Signalled{syscall.SIGINT})
	KillAll()
	for range 3 {
		if err := <-errs; err == nil || err.Error() != "interrupted by SIGINT" {
			t.Error(err)
		}
	}
	quick(t, began, 2*time.Second)
	if e, err := Run(t.Context(), sh("exit 7")); err != nil || e.Code != 7 {
		t.Errorf("what starts later is concerned: %v, %v", e, err)
	}
}

// TestBlockedListenerDoesNotDelayTheTimeout: it holds up lines, not the deadline.
func TestBlockedListenerDoesNotDelayTheTimeout(t *testing.T) {
	t.Parallel()
	c := sh("yes")
	c.Timeout = 200 * time.Millisecond
	var p model.Process
	c.Started = func(got model.Process) error { p = got; return nil }
	blocked, release := make(chan struct{}, 1), make(chan struct{})
	c.Output = func([]byte) {
		select {
		case blocked <- struct{}{}:
			<-release
		default:
		}
	}
	done := make(chan error)
	go func() {
		_, err := Run(t.Context(), c)
		done <- err
	}()
	<-blocked
	until(t, "the command ends although its listener blocks", func() bool { return !Alive(p) })
	close(release)
	if err := <-done; err == nil || !strings.HasPrefix(err.Error(), "timed out") {
		t.Error(err)
	}
}

// TestSlowListenerLosesNothing: what the leader wrote is told, even when it is
// still in the pipe by the time that a background child has been waited for.
func TestSlowListenerLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := sh(`cd %s; sleep 60 & echo $! >pid; echo first; while ! test -e heard; do sleep 0.01; done
		echo second; sleep 0.2; seq 1 10000`, dir) // less than a pipe holds, so that it can exit
	var p model.Process
	c.Started = func(got model.Process) error { p = got; return nil }
	lines, last := 0, ""
	c.Output = func(line []byte) {
		if string(line) == "first" {
			copyFile(t, "/dev/null", dir+"/heard")
			until(t, "the leader exits", func() bool { return !Alive(p) })
			time.Sleep(backgroundGrace + 100*time.Millisecond) // the point of the test
		}
		lines, last = lines+1, string(line)
	}
	e, err := Run(t.Context(), c)
	pidIn(t, dir+"/pid")
	if err != nil || e.Code != 0 || lines != 10002 || last != "10000" {
		t.Errorf("%v, %v, %d lines, the last is %q", e, err, lines, last)
	}
}

// TestTimeoutSignalsTheGroupOnce: not only the leader hears of a timeout, and just once.
func TestTimeoutSignalsTheGroupOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := mark(sh("cd %s; (trap 'echo TERM >>heard; exit 0' TERM; echo >ready; sleep 60 & wait) & sleep 60", dir), "run/asked")
	c.Grace = 10 * time.Second
	ctx, cancel := context.WithCancel(t.Context())
	c.Started = func(model.Process) error {
		until(t, "the child is ready", func() bool { _, err := os.Stat(dir + "/ready"); return err == nil })
		cancel()
		return nil
	}
	if _, err := Run(ctx, c); !errors.Is(err, context.Canceled) || err.Error() != "interrupted" {
		t.Error(err)
	}
	if heard, err := os.ReadFile(dir + "/heard"); string(heard) != "TERM\n" {
		t.Errorf("it heard %q (%v)", heard, err)
	}
}

// A process that is not part of the command may hold its
// output two seconds, however long the grace was.
func TestForeignProcessDoesNotUseUpTheGrace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := mark(sh("env -u SETTLE_RUN_ID setsid sleep 60 & echo $! >%s/pid; sleep 60", dir), "run/stranger")
	c.Timeout, c.Grace = 300*time.Millisecond, time.Minute
	began := time.Now()
	e, err := Run(t.Context(), c)
	quick(t, began, c.Timeout+2*time.Second)
	if pid := pidIn(t, dir+"/pid"); err == nil || !alive(pid) || len(e.Warnings) != 1 || !strings.HasPrefix(e.Warnings[0], fmt.Sprintf("left running in the background: sleep (pid %d); ", pid)) {
		t.Errorf("%v, %q, alive: %v", err, e.Warnings, alive(pid))
	}
}

// TestStolenStatusIsAnError: a status that someone else took is no exit 0.
func TestStolenStatusIsAnError(t *testing.T) {
	t.Parallel()
	c := sh("exit 3")
	c.Started = func(p model.Process) error {
		_, err := syscall.Wait4(p.PID, nil, 0, nil)
		return err
	}
	if e, err := Run(t.Context(), c); !errors.Is(err, syscall.ECHILD) {
		t.Errorf("%v, %v", e, err)
	}
}
