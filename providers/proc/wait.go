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

// wait waits until something happens or the time has come (zero: never), and
// does what the events ask for.
func (p *process) wait(until time.Time) {
	fds := [...]pollFd{
		{fd: int32(p.wake.r), events: pollIn},
		{fd: int32(p.out.wants()), events: pollIn},
		{fd: -1, events: pollIn},
		{fd: int32(p.stdin), events: pollOut},
		{fd: int32(p.reply.fd), events: pollIn},
	}
	if !p.exited {
		fds[2].fd = int32(p.pidfd)
	}
	if err := poll(fds[:], p.timeout(until)); err != nil {
		return // a signal: the caller looks at the clock and comes again
	}
	if fds[0].revents != 0 {
		p.wake.drain()
	}
	if fds[1].revents != 0 {
		p.out.more()
	}
	if fds[3].revents != 0 {
		p.feed()
	}
	if fds[4].revents != 0 {
		p.reply.more()
	}
	if !p.exited && (fds[2].revents != 0 || p.pidfd < 0) {
		p.exited = exited(p.pid)
	}
}

// timeout returns how long poll may wait, negative for ever.
func (p *process) timeout(until time.Time) time.Duration {
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
func (p *process) feed() {
	n, err := syscall.Write(p.stdin, p.unsent)
	switch {
	case err == syscall.EINTR || err == syscall.EAGAIN:
		return
	case err == nil:
		p.unsent = p.unsent[n:]
	}
	if err != nil || len(p.unsent) == 0 { // an error is EPIPE: it does not want to know the rest
		_ = syscall.Close(p.stdin)
		p.stdin = -1
	}
}
