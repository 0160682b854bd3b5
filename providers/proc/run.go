//go:build linux || darwin

package proc

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/settle-cm/settle/model"
)

const (
	// linger is how long a background child may hold the output of a command
	// that is done, before it is left alone.
	linger = 2 * time.Second
	// dying is how long the killed may take to die. Together with what is left
	// of linger a command is over at most linger after its grace.
	dying = time.Second
	// tick is the pace at which survivors are looked for.
	tick = 20 * time.Millisecond
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
	p.ctx, p.c, p.wake = ctx, &c, wake
	p.out.open(&c, wake)
	err = p.live()
	return p.over(), err
}

// process is a command that runs.
type process struct {
	c    *model.Command
	ctx  context.Context
	wake *waker

	pid    int // of the leader, and so of its group and session
	pidfd  int // readable when the leader has exited; -1 where there is no such thing
	stdin  int // write end of its standard input, -1 when all is written
	unsent []byte
	out    output
	exited bool          // the leader has, and is still to be reaped
	pace   time.Duration // without pidfd: how often the leader is asked after
	limit  time.Time     // when it is over, whatever holds the output; zero: not stopped yet
	warned []string
}

// live sees the command through to its end, and returns why it was ended.
func (p *process) live() error {
	var deadline time.Time
	if p.c.Timeout > 0 {
		deadline = time.Now().Add(p.c.Timeout)
	}
	if p.c.Started != nil {
		began, _ := StartTime(p.pid)
		if err := p.c.Started(model.Process{PID: p.pid, Start: began}); err != nil {
			p.end(syscall.SIGTERM)
			return err
		}
	}
	for {
		p.wait(deadline)
		switch {
		case p.exited: // by itself, even if the time is up by now
			p.drain(time.Now().Add(linger))
			return nil
		case p.ctx.Err() != nil || p.wake.killed.Load():
			return p.interrupt()
		case !deadline.IsZero() && !time.Now().Before(deadline):
			p.end(syscall.SIGTERM)
			return &TimedOut{p.c.Timeout}
		}
	}
}

// interrupt ends the command because its context, or KillAll, says so.
func (p *process) interrupt() error {
	cause := context.Cause(p.ctx)
	if cause == nil {
		cause = context.Canceled
	}
	sig := syscall.SIGTERM
	if s, ok := signalOf(cause); ok {
		sig = s
	}
	p.end(sig)
	return &Interrupted{cause}
}

// end ends everything of the command: sig, grace, KILL.
func (p *process) end(sig syscall.Signal) {
	grace := time.Now().Add(p.c.Grace)
	p.limit = grace.Add(linger)
	if p.c.Grace > 0 && !p.wake.killed.Load() {
		p.signal(sig)
		p.signal(syscall.SIGCONT) // one that is stopped would not hear of it
		for !p.wake.killed.Load() && time.Now().Before(grace) {
			if p.quiet() {
				p.drain(p.limit)
				return
			}
			p.wait(earlier(grace, time.Now().Add(tick)))
		}
	}
	for dead := time.Now().Add(dying); ; p.wait(earlier(dead, time.Now().Add(tick))) {
		p.signal(syscall.SIGKILL) // again: one may have forked just before it died
		if p.quiet() {
			break
		}
		if !time.Now().Before(dead) {
			p.warned = append(p.warned, fmt.Sprintf("process %d did not end, even after SIGKILL", p.pid))
			break
		}
	}
	p.drain(earlier(p.limit, time.Now().Add(linger)))
}

// signal signals the group, and on Linux those who left it. The leader is not
// reaped before all this is over, so that the group's number is still its own.
func (p *process) signal(sig syscall.Signal) {
	_ = syscall.Kill(-p.pid, sig) // what is gone needs no signal; what we may not signal we cannot help
	signalEscaped(p.pid, p.c.Mark, sig)
}

// quiet says whether nothing of the command is left but the leader's status.
func (p *process) quiet() bool {
	return p.exited && !survivors(p.pid, p.c.Mark)
}

// drain reads the output of a command that is done until its end or the given
// time, and all that was written before it was done in any case.
func (p *process) drain(until time.Time) {
	for owed := p.out.read + int64(pending(p.out.fd)); p.out.fd >= 0; {
		now := time.Now()
		switch {
		case p.out.read < owed:
			p.wait(time.Time{})
		case now.Before(until) && !p.wake.killed.Load() && (p.ctx.Err() == nil || !p.limit.IsZero()):
			p.wait(until)
		default:
			return
		}
	}
}

// over lets go of everything and returns how it went.
func (p *process) over() model.Exit {
	e := model.Exit{Began: true, Signal: signalName(syscall.SIGKILL)}
	if p.stdin >= 0 {
		_ = syscall.Close(p.stdin)
	}
	if p.pidfd >= 0 {
		_ = syscall.Close(p.pidfd)
	}
	if p.exited {
		e.Code, e.Signal = reap(p.pid)
	} else {
		go reap(p.pid) // in the kernel's hands: it ends when that lets go
	}
	if p.out.fd >= 0 {
		p.warned = append(p.warned, p.leave())
	}
	e.Output, e.Truncated = p.out.close()
	e.Warnings = p.warned
	return e
}

// leave leaves those alone who still hold the output, with a reader.
func (p *process) leave() string {
	who := holders(p.out.fd, p.pid)
	text := fmt.Sprintf("%s still runs in the background and holds the output: it was left alone, what it writes is dropped from now on", who)
	if p.c.Mask != nil {
		text = string(p.c.Mask()([]byte(text), true))
	}
	if err := detach(p.out.fd); err != nil {
		go discard(p.out.fd) // the second best: as long as we live
		return text + " (and gets a SIGPIPE once settle has ended: " + err.Error() + ")"
	}
	_ = syscall.Close(p.out.fd)
	return text
}

// reap takes the status of a process that has exited.
func reap(pid int) (code int, signal string) {
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != syscall.EINTR {
			break
		}
	}
	if status.Signaled() {
		return 0, signalName(status.Signal())
	}
	return status.ExitStatus(), ""
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
