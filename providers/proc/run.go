//go:build linux || darwin

package proc

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/settle-cm/settle/model"
)

const (
	// linger is how long a background child may hold the output of a command
	// that is done, before it is left alone.
	backgroundGrace = 2 * time.Second
	// dying is how long the killed may take to die.
	killGrace = time.Second
	// leaving is kept of the two seconds after the grace for all but waiting.
	returnMargin = 200 * time.Millisecond
)

// Run runs a command to its end. An exit code other than zero is a value, not
// an error. The error is a *StartError when no process started (Exit.Began says
// the same), *TimedOut, *Interrupted when ctx was cancelled, or what
// Command.Started returned.
//
// The command is done when its leader exits. A background child that still
// holds the output then has two seconds to let go; after that it is left alone,
// with a warning and a reader that keeps its pipe working.
//
// At a timeout or a cancel the group gets TERM (or the signal of a Signalled
// cause), and KILL after the grace; on Linux, so do descendants that left the
// group and carry the mark. Run returns within timeout, grace and two seconds,
// unless Command.Output blocks: no line is lost, so it waits for that.
func Run(ctx context.Context, c model.Command) (model.Exit, error) {
	if ctx.Err() != nil {
		return model.Exit{}, &Interrupted{context.Cause(ctx)}
	}
	defaultSignals()
	wake, err := newWaker(ctx)
	if err != nil {
		return model.Exit{}, &StartError{"cannot start another process: " + err.Error(), err}
	}
	defer wake.release()
	p, err := start(ctx, &c)
	if err != nil {
		return model.Exit{}, err
	}
	p.c, p.wake = &c, wake
	p.cause = func() error { return context.Cause(ctx) }
	p.out.open(&c, wake)
	err = p.supervise()
	exit, lost := p.finish()
	if err == nil {
		err = lost
	}
	return exit, err
}

// process is a command that runs.
type process struct {
	c     *model.Command
	wake  *waker
	cause func() error // of its cancel, nil while there is none

	pid    int // of the leader, and so of its group and session
	pidfd  int // readable when the leader has exited; -1 where there is no such thing
	stdin  int // write end of its standard input, -1 when all is written
	unsent []byte
	out    output
	reply  reply
	exited bool          // the leader has, and is still to be reaped
	pace   time.Duration // without pidfd: how often the leader is asked after
	limit  time.Time     // when it is over, whatever holds the output; zero: not stopped yet
	warnings []string
}

// live sees the command through to its end, and returns why it was ended.
func (p *process) supervise() error {
	var deadline time.Time
	if p.c.Timeout > 0 {
		deadline = time.Now().Add(p.c.Timeout)
	}
	if p.c.Started != nil {
		began, _ := StartTime(p.pid)
		if err := p.c.Started(model.Process{PID: p.pid, Start: began}); err != nil {
			p.terminate(syscall.SIGTERM)
			return err
		}
	}
	for {
		p.waitEvent(deadline)
		switch {
		case p.exited: // by itself, even if the time is up by now
			p.drainOutput(time.Now().Add(backgroundGrace))
			return p.reply.limitError()
		case p.reply.tooLong:
			p.limit = time.Now().Add(backgroundGrace)
			p.kill()
			p.drainOutput(p.limit)
			return p.reply.limitError()
		case p.cause() != nil || p.wake.killed.Load():
			return p.interrupt()
		case !deadline.IsZero() && !time.Now().Before(deadline):
			p.terminate(syscall.SIGTERM)
			return &TimedOut{p.c.Timeout}
		}
	}
}

// interrupt ends the command because its context, or KillAll, says so.
func (p *process) interrupt() error {
	cause := p.cause()
	if cause == nil {
		cause = context.Canceled
	}
	sig := syscall.SIGTERM
	if s, ok := signalOf(cause); ok {
		sig = s
	}
	p.terminate(sig)
	return &Interrupted{cause}
}

// end ends everything of the command: sig, grace, KILL.
func (p *process) terminate(sig syscall.Signal) {
	grace := time.Now().Add(p.c.Grace)
	p.limit = grace.Add(backgroundGrace - returnMargin)
	if p.c.Grace > 0 && !p.wake.killed.Load() {
		p.signalAll(sig)
		p.signalAll(syscall.SIGCONT) // one that is stopped would not hear of it
		p.waitUntil(grace, func() bool {
			quiet, known := p.hasEnded()
			return quiet && known || p.wake.killed.Load()
		})
	}
	if quiet, known := p.hasEnded(); !quiet || !known {
		p.kill()
	}
	p.drainOutput(earlierOf(p.limit, time.Now().Add(backgroundGrace)))
}

// kill kills what is left, and sees it die.
func (p *process) kill() {
	var quiet bool
	p.waitUntil(time.Now().Add(killGrace), func() bool {
		p.signalAll(syscall.SIGKILL) // again and again: one may have forked just before it died
		quiet, _ = p.hasEnded()
		return quiet
	})
	if !quiet {
		p.warnings = append(p.warnings, fmt.Sprintf("not all of its processes (session %d) have ended, even after SIGKILL", p.pid))
	}
}

// look waits until done says so, at latest until the given time. It asks when
// something happens, and now and then.
func (p *process) waitUntil(until time.Time, done func() bool) {
	for pace := 5 * time.Millisecond; !done() && time.Now().Before(until); pace = min(2*pace, 100*time.Millisecond) {
		next := earlierOf(until, time.Now().Add(pace))
		exited, killed := p.exited, p.wake.killed.Load()
		for p.exited == exited && p.wake.killed.Load() == killed && time.Now().Before(next) {
			p.waitEvent(next) // output alone is no reason to ask
		}
	}
}

// signal signals the group, and on Linux those who left it. The leader is not
// reaped before all this is over, so that the group's number is still its own.
func (p *process) signalAll(sig syscall.Signal) {
	_ = syscall.Kill(-p.pid, sig) // what is gone needs no signal; what we may not signal we cannot help
	signalEscaped(p.pid, p.c.ProcessTag, sig)
}

// quiet says whether nothing of the command is left but the leader's status;
// known is false where only the leader can be told.
func (p *process) hasEnded() (quiet, known bool) {
	if !p.exited {
		return false, true
	}
	alive, known := hasSurvivors(p.pid, p.c.ProcessTag)
	if !alive { // look twice: one may have forked behind our back and died before we came to it
		alive, known = hasSurvivors(p.pid, p.c.ProcessTag)
	}
	return !alive, known
}

// drain reads the output of a command that is done until its end or the given
// time, and all that was written before it was done in any case.
func (p *process) drainOutput(until time.Time) {
	owed := p.out.read + int64(countPending(p.out.fd))
	replied := len(p.reply.data) + countPending(p.reply.fd)
	for p.out.fd >= 0 || p.reply.fd >= 0 {
		stopped := p.wake.killed.Load() || p.limit.IsZero() && p.cause() != nil
		switch {
		case p.out.fd >= 0 && p.out.read < owed, p.reply.fd >= 0 && len(p.reply.data) < replied:
			p.waitEvent(time.Time{})
		case !stopped && time.Now().Before(until):
			p.waitEvent(until)
		default:
			p.waitEvent(time.Now()) // it may have ended already
			return
		}
	}
}

// over lets go of everything and returns how it went.
func (p *process) finish() (e model.Exit, err error) {
	e.Began = true
	if p.stdin >= 0 {
		_ = syscall.Close(p.stdin)
	}
	if p.pidfd >= 0 {
		_ = syscall.Close(p.pidfd)
	}
	if p.exited {
		e.Code, e.Signal, err = reap(p.pid)
	} else {
		e.Signal = signalName(syscall.SIGKILL) // that is what it will die of
		go func() { _, _, _ = reap(p.pid) }()  // once the kernel lets go of it
	}
	for _, fd := range []int{p.out.fd, p.reply.fd} {
		if fd < 0 {
			continue
		}
		if text := p.abandonPipe(fd); !slices.Contains(p.warnings, text) {
			p.warnings = append(p.warnings, text)
		}
	}
	e.Output, e.Truncated = p.out.close()
	e.Reply = p.reply.data
	e.Warnings = p.warnings
	return e, err
}

// leave leaves those alone who still hold a pipe of the output, with a reader.
func (p *process) abandonPipe(fd int) string {
	who := "a process"
	if !p.c.Sensitive {
		who = describeHolders(fd, p.pid)
	}
	text := fmt.Sprintf("left running in the background: %s; it holds the output, and what it writes from now on is dropped", who)
	if p.c.Redact != nil {
		text = string(p.c.Redact()([]byte(text), true))
	}
	if err := startDetachedReader(fd); err != nil {
		go discardOutput(fd) // the second best: as long as we live
		return text + "; once settle has ended it gets a SIGPIPE: " + err.Error()
	}
	_ = syscall.Close(fd)
	return text
}

// reap waits for a child to exit and takes its status.
func reap(pid int) (code int, signal string, err error) {
	var status syscall.WaitStatus
	for {
		if _, err = syscall.Wait4(pid, &status, 0, nil); err != syscall.EINTR {
			break
		}
	}
	switch {
	case err != nil: // someone took it: never mistake that for exit 0
		return 0, "", fmt.Errorf("wait for process %d: %w", pid, err)
	case status.Signaled():
		return 0, signalName(status.Signal()), nil
	}
	return status.ExitStatus(), "", nil
}

func earlierOf(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
