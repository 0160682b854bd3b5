package terminal

import (
	"errors"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/settle-cm/settle/cmd/internal/render"
)

// Stream is standard output or standard error. Every write is whole: log lines
// and the output of commands that run in parallel never mix. A reader that went
// away does not stop a run. Any other failure is kept for Err.
type Stream struct {
	mu       sync.Mutex
	w        io.Writer
	buffered []byte // to be written within bufferTime
	timer    bool   // a timer will write the buffer
	fence    fence
	gone     bool // the reader went away
	err      error
}

// How long, and how much of, a command's output is buffered. Without a buffer a
// command with much output would cost a system call for each line.
const (
	bufferTime = 5 * time.Millisecond
	bufferSize = 32 << 10
)

// NewStream returns a stream that writes to w.
func NewStream(w io.Writer) *Stream { return &Stream{w: w} }

// ShowAbove makes everything that is written appear above a status line.
func (s *Stream) ShowAbove(line *StatusLine) { s.w = line.above(s.w) }

// Write writes p. It always returns len(p) and nil: Err returns what went wrong.
func (s *Stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fence.begin != "" && render.HasCommand(p) {
		s.buffered = s.fence.open(s.buffered)
	}
	s.writeBuffer()
	s.write(p)
	return len(p), nil
}

// WriteCommand writes commands for the pipeline outside of the fence. An empty p
// only closes the fence.
func (s *Stream) WriteCommand(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buffered = s.fence.close(s.buffered)
	s.writeBuffer()
	s.write(p)
}

// Buffer calls add to append to the buffer. The buffer is written after
// bufferTime, or before anything else is written.
func (s *Stream) Buffer(add func(buffered []byte) []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buffered = add(s.fence.open(s.buffered))
	switch {
	case len(s.buffered) >= bufferSize:
		s.writeBuffer()
	case !s.timer:
		s.timer = true
		time.AfterFunc(bufferTime, s.Flush)
	}
}

// Flush writes the buffer.
func (s *Stream) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = false
	s.writeBuffer()
}

func (s *Stream) writeBuffer() {
	if len(s.buffered) > 0 {
		s.write(s.buffered)
		s.buffered = s.buffered[:0]
	}
}

func (s *Stream) write(p []byte) {
	if s.gone || s.err != nil || len(p) == 0 {
		return
	}
	if _, err := s.w.Write(p); err != nil {
		if s.gone = errors.Is(err, syscall.EPIPE) || errors.Is(err, errNotRead); !s.gone {
			s.err = err
		}
	}
}

// Err writes the buffer and returns the first error of a write. A reader that
// went away is not an error.
func (s *Stream) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeBuffer()
	return s.err
}

// SetFence sets the lines between which the pipeline reads no commands. The
// output of commands is written between them from here on.
func (s *Stream) SetFence(begin, end string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fence.begin == "" {
		s.fence.begin, s.fence.end = begin, end
	}
}

// fence is a pair of lines between which a pipeline reads no commands. The zero
// value writes no lines.
type fence struct {
	begin, end string
	isOpen     bool
}

// open appends the first line of the fence, unless it is open.
func (f *fence) open(b []byte) []byte {
	if f.isOpen || f.begin == "" {
		return b
	}
	f.isOpen = true
	return append(b, f.begin...)
}

// close appends the last line of the fence, if it is open.
func (f *fence) close(b []byte) []byte {
	if !f.isOpen {
		return b
	}
	f.isOpen = false
	return append(b, f.end...)
}
