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
	// leaderTermGrace is the time between TERM and KILL after an INT to the leader
	// alone was not enough.
	leaderTermGrace = 10 * time.Second
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
	cause func() error // of the cancel, nil before it

	pid      int // of the leader, and so of its group and session
	pidfd    int // readable when the leader has exited; -1 where there is no such thing
	stdin    int // write end of its standard input, -1 when all is written
	unsent   []byte
	out      output
	reply    reply
	exited   bool          // the leader has, and is still to be reaped
	pace     time.Duration // without pidfd: how often the leader is asked after
	limit    time.Time     // when it is over, whatever holds the output; zero: not stopped yet
	warnings []string
}

// supervise waits for the command to end. It returns why settle ended the command, if it did.
func (p *process) supervise() error {
	var deadline time.Time
	if p.c.Timeout > 0 {
		deadline = time.Now().Add(p.c.Timeout)
	}
	if p.c.Started != nil {
		if err := p.c.Started(Identify(p.pid)); err != nil {
			p.terminate(syscall.SIGTERM)
			return err
		}
	}
	for {
		p.waitEvent(deadline)
		switch {
		case p.exited: // by itself, even when the deadline has passed since
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

// terminate ends all processes of the command: signal, grace, KILL.
func (p *process) terminate(sig syscall.Signal) {
	grace := time.Now().Add(p.c.Grace)
	p.limit = grace.Add(backgroundGrace - returnMargin)
	if p.c.Grace > 0 && !p.wake.killed.Load() {
		if p.c.InterruptLeader {
			p.interruptLeader(grace)
			grace = time.Now().Add(leaderTermGrace)
			p.limit = grace.Add(backgroundGrace - returnMargin)
		}
		p.signalAll(sig)
		p.signalAll(syscall.SIGCONT) // a stopped process handles no signal
		p.waitUntil(grace, p.hasEndedOrKilled)
	}
	if quiet, known := p.hasEnded(); !quiet || !known {
		p.kill()
	}
	p.drainOutput(earlierOf(p.limit, time.Now().Add(backgroundGrace)))
}

// interruptLeader sends INT to the leader alone and waits for the end of the
// command: a package manager then finishes the step that its children work on.
func (p *process) interruptLeader(until time.Time) {
	if !p.exited {
		_ = syscall.Kill(p.pid, syscall.SIGINT) // the leader is not reaped yet, so the pid is still its own
	}
	p.waitUntil(until, p.hasEndedOrKilled)
}

// hasEndedOrKilled reports whether all processes have ended, or KillAll was called.
func (p *process) hasEndedOrKilled() bool {
	quiet, known := p.hasEnded()
	return quiet && known || p.wake.killed.Load()
}

// kill sends SIGKILL until every process of the command has ended.
func (p *process) kill() {
	var quiet bool
	p.waitUntil(time.Now().Add(killGrace), func() bool {
		p.signalAll(syscall.SIGKILL) // repeatedly: a process may fork just before it dies
		quiet, _ = p.hasEnded()
		return quiet
	})
	if !quiet {
		p.warnings = append(p.warnings, fmt.Sprintf("not all of its processes (session %d) have ended, even after SIGKILL", p.pid))
	}
}

// waitUntil waits until done returns true, but not beyond the given time. It asks
// when an event arrives, and in growing intervals.
func (p *process) waitUntil(until time.Time, done func() bool) {
	for pace := 5 * time.Millisecond; !done() && time.Now().Before(until); pace = min(2*pace, 100*time.Millisecond) {
		next := earlierOf(until, time.Now().Add(pace))
		exited, killed := p.exited, p.wake.killed.Load()
		for p.exited == exited && p.wake.killed.Load() == killed && time.Now().Before(next) {
			p.waitEvent(next) // output alone does not end the wait
		}
	}
}

// signalAll signals the group, and on Linux the descendants that left it. The
// leader is reaped only afterwards, so the number of the group cannot be reused.
func (p *process) signalAll(sig syscall.Signal) {
	_ = syscall.Kill(-p.pid, sig) // ended, or not ours to signal
	signalEscaped(p.pid, p.c.ProcessTag, sig)
}

// hasEnded reports whether every process of the command has ended. known is false
// where only the leader can be observed.
func (p *process) hasEnded() (quiet, known bool) {
	if !p.exited {
		return false, true
	}
	alive, known := hasSurvivors(p.pid, p.c.ProcessTag)
	if !alive { // scan twice: a process may have forked and died behind the scan
		alive, known = hasSurvivors(p.pid, p.c.ProcessTag)
	}
	return !alive, known
}

// drainOutput reads the output of a finished command until its end or the given
// time. It always reads the bytes that were in the pipe when the command ended.
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
			p.waitEvent(time.Now()) // the end may be readable already
			return
		}
	}
}

// finish releases the descriptors, collects the status and returns the result.
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
		e.Signal = signalName(syscall.SIGKILL) // the signal that will end it
		go func() { _, _, _ = reap(p.pid) }()  // collect the status when the kernel reports it
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

// abandonPipe leaves the processes alone that still hold an output pipe, and gives
// the pipe a reader. It returns the warning to show.
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
		go discardOutput(fd) // second best: reads only as long as settle runs
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
	case err != nil: // the status was stolen: this must not look like exit 0
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
