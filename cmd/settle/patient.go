package main

import (
	"errors"
	"io"
	"os"
	"time"
)

// patience is how long a reader may still take for a write once somebody is in
// a hurry.
const patience = 2 * time.Second

// errStuck is the error of a stream whose reader took nothing for too long.
var errStuck = errors.New("nobody reads it")

// patient is one of the two streams of settle. Its reader may take all the time
// it wants, be it a pager that waits for a person or a log that is full: no line
// is lost to it. But the second signal has to end settle: from then on a write
// that is not taken is given up, and so is all that follows.
type patient struct {
	w       io.Writer
	hurried <-chan struct{} // closed when somebody is in a hurry
	own     []byte          // what is being written: given up, the write goes on reading it
	stuck   bool
}

// Write is called by one goroutine at a time.
func (s *patient) Write(p []byte) (int, error) {
	if s.stuck {
		return 0, errStuck
	}
	s.own = append(s.own[:0], p...)
	var n int
	var err error
	done := make(chan struct{})
	go func() {
		n, err = s.w.Write(s.own)
		close(done)
	}()
	select {
	case <-done:
		return n, err
	case <-s.hurried:
	}
	select {
	case <-done:
		return n, err
	case <-time.After(patience):
		s.stuck = true
		return 0, errStuck
	}
}

// file returns the file that a stream is, if it is one.
func file(w io.Writer) (*os.File, bool) {
	if s, ok := w.(*patient); ok {
		w = s.w
	}
	f, ok := w.(*os.File)
	return f, ok
}
