//go:build linux || darwin

package proc

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"
)

// waker interrupts the wait of a command. It is a pipe, because a command waits
// for descriptors. Pipes are kept and reused.
type waker struct {
	r, w   int
	woke   atomic.Bool   // since it was taken: something may be in the pipe
	killed atomic.Bool   // by KillAll
	stop   func() bool   // forgets the context
	woken  chan struct{} // closed when the context has had its say
}

// wakers holds those of the commands that run, for KillAll, and idle ones.
var wakers = struct {
	sync.Mutex
	busy map[*waker]struct{}
	idle []*waker
}{busy: map[*waker]struct{}{}}

// KillAll ends every command that runs at this moment at once: no further
// grace. It is for the second signal to settle. Each Run still returns by
// itself, with the verdict that it had before, or Interrupted. Commands that
// start later are not concerned: the context that the first signal has
// cancelled sees to those.
func KillAll() {
	wakers.Lock()
	defer wakers.Unlock()
	for w := range wakers.busy {
		w.killed.Store(true)
		w.wake()
	}
}

// newWaker returns a waker that KillAll and the end of ctx will wake.
func newWaker(ctx context.Context) (*waker, error) {
	wakers.Lock()
	defer wakers.Unlock()
	var w *waker
	if n := len(wakers.idle); n > 0 {
		w, wakers.idle = wakers.idle[n-1], wakers.idle[:n-1]
	} else {
		r, wr, err := newPipe()
		if err != nil {
			return nil, err
		}
		w = &waker{r: r, w: wr}
		for _, fd := range []int{r, wr} {
			_ = syscall.SetNonblock(fd, true) // cannot fail on a pipe of ours
		}
	}
	wakers.busy[w] = struct{}{}
	w.killed.Store(false)
	w.woken = make(chan struct{})
	woken := w.woken
	w.stop = context.AfterFunc(ctx, func() {
		w.wake()
		close(woken)
	})
	return w, nil
}

// wake makes the read end readable.
func (w *waker) wake() {
	w.woke.Store(true)
	_, _ = syscall.Write(w.w, []byte{0}) // a full pipe is readable too
}

// drain takes what woke it.
func (w *waker) drain() {
	var buf [64]byte
	for {
		if n, err := syscall.Read(w.r, buf[:]); n < len(buf) && err != syscall.EINTR {
			return
		}
	}
}

// release returns the waker to the pool once neither KillAll nor the context can use it.
func (w *waker) release() {
	if !w.stop() {
		<-w.woken
	}
	wakers.Lock()
	defer wakers.Unlock()
	delete(wakers.busy, w)
	if w.woke.Swap(false) {
		w.drain()
	}
	wakers.idle = append(wakers.idle, w)
}
