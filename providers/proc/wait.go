//go:build linux || darwin

package proc

import (
	"syscall"
	"time"
)

// pollFd is struct pollfd, which is the same on all systems that have it.
type pollFd struct {
	fd              int32
	events, revents int16
}

const (
	pollIn  = 1
	pollOut = 4
)

// What a command waits for, by its place among the descriptors.
const (
	onWake = iota
	onOutput
	onReply
	onRoom // for more of standard input
	onExit
	events
)

// wait waits until something happens or the time has come (zero: never), and
// does what the events ask for.
func (p *process) waitEvent(until time.Time) {
	fds := [events]pollFd{
		onWake:   {fd: int32(p.wake.r), events: pollIn},
		onOutput: {fd: int32(p.out.readableFD()), events: pollIn},
		onReply:  {fd: int32(p.reply.fd), events: pollIn},
		onRoom:   {fd: int32(p.stdin), events: pollOut},
		onExit:   {fd: -1, events: pollIn},
	}
	if !p.exited {
		fds[onExit].fd = int32(p.pidfd)
	}
	if err := poll(fds[:], p.pollTimeout(until)); err != nil {
		return // a signal: the caller looks at the clock and comes again
	}
	if fds[onWake].revents != 0 {
		p.wake.drain()
	}
	if fds[onOutput].revents != 0 {
		p.out.readOnce()
	}
	if fds[onReply].revents != 0 {
		p.reply.readOnce()
	}
	if fds[onRoom].revents != 0 {
		p.feedStdin()
	}
	if !p.exited && (fds[onExit].revents != 0 || p.pidfd < 0) {
		p.exited = hasExited(p.pid)
	}
}

// timeout returns how long poll may wait, negative for ever.
func (p *process) pollTimeout(until time.Time) time.Duration {
	d := time.Duration(-1)
	if !until.IsZero() {
		d = max(0, time.Until(until))
	}
	if p.pidfd < 0 && !p.exited { // nothing tells us of its end: ask, less and less often
		p.pace = min(max(2*p.pace, time.Millisecond), 50*time.Millisecond)
		if d < 0 || d > p.pace {
			d = p.pace
		}
	}
	return d
}

// feed writes to standard input what there is room for.
func (p *process) feedStdin() {
	n, err := syscall.Write(p.stdin, p.unsent)
	switch err {
	case syscall.EINTR, syscall.EAGAIN:
		return
	case nil:
		p.unsent = p.unsent[n:]
	}
	if err != nil || len(p.unsent) == 0 { // an error is EPIPE: it does not want to know the rest
		_ = syscall.Close(p.stdin)
		p.stdin = -1
	}
}
