// Package proc runs one command in a session of its own and returns how it ended:
// its exit code or signal, its output, or why it did not start. At a timeout or a
// cancel it ends every process of the command, and no other process. The package
// knows processes and pipes. It does not know resources, manifests or reports.
//
// One goroutine runs a command. It waits in poll(2) for output, room for input,
// the end of the leader, a cancel and the next deadline at once. So a process that
// holds the output cannot delay a deadline, no goroutine can leak, and a short
// command costs hardly more than its fork.
package proc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// Signalled is the cause with which to cancel a context because settle itself
// got a signal (context.WithCancelCause): each running group gets that signal
// once, instead of TERM. For a second signal see KillAll.
type Signalled struct{ Signal syscall.Signal }

// Error says what happened.
func (s *Signalled) Error() string { return "interrupted by " + signalName(s.Signal) }

// TimedOut is the error of a command that took longer than its timeout,
// whatever its exit code was in the end.
type TimedOut struct{ After time.Duration }

// Error says what happened.
func (t *TimedOut) Error() string { return "timed out after " + formatDuration(t.After) }

// ReplyTooLong is the error of a command that wrote more to standard output than
// Command.Reply allows.
type ReplyTooLong struct{ Limit int }

// Error says what happened.
func (t *ReplyTooLong) Error() string {
	if t.Limit%(1<<20) == 0 {
		return fmt.Sprintf("wrote more than %d MiB to standard output", t.Limit>>20)
	}
	return fmt.Sprintf("wrote more than %d bytes to standard output", t.Limit)
}

// Interrupted is the error of a command that was ended, or not started, because
// its context was cancelled.
type Interrupted struct{ Cause error }

// Error says what happened.
func (i *Interrupted) Error() string {
	if s := (*Signalled)(nil); errors.As(i.Cause, &s) {
		return s.Error()
	}
	if errors.Is(i.Cause, context.Canceled) {
		return "interrupted"
	}
	return "interrupted: " + i.Cause.Error()
}

// Unwrap returns the cause of the cancel.
func (i *Interrupted) Unwrap() error { return i.Cause }

// StartError says why no process started.
type StartError struct {
	Message string // in words, with the program or directory that is at fault
	Err     error  // what the system said; nil when we did not get that far
}

// Error says what happened.
func (e *StartError) Error() string { return e.Message }

// Unwrap returns what the system said.
func (e *StartError) Unwrap() error { return e.Err }

// formatDuration writes a configured duration as a person would: 5m, not 5m0s.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// quoteWord quotes a path or a word if it could be confused with the text around it.
func quoteWord(s string) string {
	for _, r := range s {
		if r <= ' ' || r == '"' || r == ',' || r >= 0x7f {
			return fmt.Sprintf("%q", s)
		}
	}
	if s == "" {
		return `""`
	}
	return s
}
