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

// waitEvent waits for an event, at most until the given time (zero: for ever), and
// handles the events that arrived.
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
		return // EINTR: the caller checks the clock and polls again
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

// pollTimeout returns how long poll may wait; negative for ever.
func (p *process) pollTimeout(until time.Time) time.Duration {
	d := time.Duration(-1)
	if !until.IsZero() {
		d = max(0, time.Until(until))
	}
	if p.pidfd < 0 && !p.exited { // no pidfd: ask in growing intervals
		p.pace = min(max(2*p.pace, time.Millisecond), 50*time.Millisecond)
		if d < 0 || d > p.pace {
			d = p.pace
		}
	}
	return d
}

// feedStdin writes as much to standard input as the pipe takes.
func (p *process) feedStdin() {
	n, err := syscall.Write(p.stdin, p.unsent)
	switch err {
	case syscall.EINTR, syscall.EAGAIN:
		return
	case nil:
		p.unsent = p.unsent[n:]
	}
	if err != nil || len(p.unsent) == 0 { // an error is EPIPE: the command closed its input
		_ = syscall.Close(p.stdin)
		p.stdin = -1
	}
}
