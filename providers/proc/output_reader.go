//go:build linux || darwin

package proc

import (
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/settle-cm/settle/model"
)

// chunk is how much is read at once: as much as a pipe holds.
const chunk = 64 << 10

var chunks = sync.Pool{New: func() any { return new([chunk]byte) }}

// output reads the output of a command. With a listener, lines are made and
// told on a goroutine of their own: a listener that blocks stops the reading,
// and with it the command, but neither the deadline nor the kill.
type output struct {
	fd   int   // read end of the pipe, -1 at its end
	read int64 // bytes so far
	sink sink
	wake *waker
	buf  *[chunk]byte // to read into; nil with a listener that has yet to give one back

	full    chan []byte       // to the listener; nil without one, and before the first output
	free    chan *[chunk]byte // back from it
	done    chan struct{}
	starved atomic.Bool // the reader waits for a free buffer
}

func (o *output) open(c *model.Command, wake *waker) {
	o.wake = wake
	o.buf = chunks.Get().(*[chunk]byte)
	if c.Redact != nil {
		o.sink.redact = c.Redact()
	}
	if c.Output != nil {
		o.sink.lines = &splitter{emit: c.Output}
	}
}

// startListener starts the listener's goroutine. Most commands write nothing, and
// starting it for each of them would cost more than everything but the fork.
func (o *output) startListener() {
	o.full, o.free, o.done = make(chan []byte, 2), make(chan *[chunk]byte, 2), make(chan struct{})
	o.free <- chunks.Get().(*[chunk]byte)
	go o.runListener()
}

// runListener passes chunks to the sink until the output ends.
func (o *output) runListener() {
	for p := range o.full {
		o.sink.write(p, false)
		o.free <- (*[chunk]byte)(p[:chunk])
		if o.starved.Swap(false) {
			o.wake.wake()
		}
	}
	close(o.done)
}

// readableFD returns the descriptor to poll. It returns -1 at the end of the
// output, or while the listener still has every buffer.
func (o *output) readableFD() int {
	if o.buf == nil && o.fd >= 0 {
		o.starved.Store(true)
		select {
		case o.buf = <-o.free:
			o.starved.Store(false)
		default:
			return -1
		}
	}
	return o.fd
}

// more reads once what poll has said is there.
func (o *output) readOnce() {
	n, err := syscall.Read(o.fd, o.buf[:])
	switch {
	case err == syscall.EINTR || err == syscall.EAGAIN:
	case n <= 0:
		_ = syscall.Close(o.fd)
		o.fd = -1
	case o.sink.lines == nil:
		o.read += int64(n)
		o.sink.write(o.buf[:n], false)
	default:
		o.read += int64(n)
		if o.full == nil {
			o.startListener()
		}
		o.full <- o.buf[:n]
		o.buf = nil
	}
}

// close reports an unfinished last line, or ends the output.
func (o *output) close() (string, bool) {
	if o.full != nil {
		close(o.full)
		<-o.done
		for len(o.free) > 0 {
			chunks.Put(<-o.free)
		}
	}
	if o.buf != nil {
		chunks.Put(o.buf)
	}
	o.sink.write(nil, true)
	return o.sink.kept.text()
}
