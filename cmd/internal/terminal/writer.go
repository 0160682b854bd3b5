package terminal

import (
	"errors"
	"io"
	"os"
	"time"
)

// readTimeout is how long the reader of a stream may still take for one write
// after settle was told to end at once.
const readTimeout = 2 * time.Second

// errNotRead is the error of a stream whose reader took no data for readTimeout.
var errNotRead = errors.New("the reader takes no data")

// Writer writes to a stream that its reader may block: a pager that waits for a
// key, or a full log. A write blocks for as long as the reader needs, so that no
// line is lost. Once the channel is closed (the second signal), a write that is
// not taken within readTimeout fails, and so do all later writes.
type Writer struct {
	w      io.Writer
	endNow <-chan struct{}
	data   []byte // a copy: after a timeout the write goes on reading it
	stuck  bool
}

// NewWriter returns a writer to w that stops to wait once endNow is closed.
func NewWriter(w io.Writer, endNow <-chan struct{}) *Writer { return &Writer{w: w, endNow: endNow} }

// Write is called by one goroutine at a time.
func (w *Writer) Write(p []byte) (int, error) {
	if w.stuck {
		return 0, errNotRead
	}
	w.data = append(w.data[:0], p...)
	var n int
	var err error
	done := make(chan struct{})
	go func() {
		n, err = w.w.Write(w.data)
		close(done)
	}()
	select {
	case <-done:
		return n, err
	case <-w.endNow:
	}
	select {
	case <-done:
		return n, err
	case <-time.After(readTimeout):
		w.stuck = true
		return 0, errNotRead
	}
}

// fileOf returns the file that w writes to, if there is one.
func fileOf(w io.Writer) (*os.File, bool) {
	if own, ok := w.(*Writer); ok {
		w = own.w
	}
	f, ok := w.(*os.File)
	return f, ok
}
