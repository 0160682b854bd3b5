// Package exit holds how a command ends, and derives the exit code of settle from it.
package exit

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/providers/proc"
)

// The exit codes that do not come from a signal.
const (
	OK         = 0
	Failed     = 1
	Pending    = 2
	Usage      = 64
	Invalid    = 65
	Unreadable = 66
	Stale      = 69
	Bug        = 70
	Unwritten  = 73
	Later      = 75
	Denied     = 77
)

// Refusal is the reason why a manifest was not run, or not to its end, with its exit
// code.
type Refusal struct {
	Code int
	Err  error
}

func (r *Refusal) Error() string { return r.Err.Error() }
func (r *Refusal) Unwrap() error { return r.Err }

// Refuse returns a refusal with an exit code and a formatted reason.
func Refuse(code int, format string, args ...any) *Refusal {
	return &Refusal{code, fmt.Errorf(format, args...)}
}

// Ending is how a command ended for one manifest. The exit code is derived from it
// alone.
type Ending struct {
	Cause     error // why the run was stopped before its end: a signal or a limit
	Bug       error // a panic
	Refused   *Refusal
	Unwritten error // a report could not be written
	Detailed  bool  // --detailed-exitcode
	Denied    bool  // every failed resource needs rights that settle does not have
	Report    *model.Report
	Began     time.Time // of the run; zero for commands that run nothing
}

// Finish writes the error, the exit code and the duration into the report. No
// other function does. It is called again when writing the report itself failed.
func (e *Ending) Finish() {
	var messages []string
	for _, err := range []error{e.Bug, e.refusedError(), e.Unwritten} {
		if err != nil {
			messages = append(messages, strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
	e.Report.Error, e.Report.ExitCode = strings.Join(messages, "; "), Code(*e)
	if !e.Began.IsZero() {
		e.Report.DurationMS = time.Since(e.Began).Milliseconds()
	}
}

// refusedError returns the refusal as an error. It is nil without a refusal, which a
// nil *Refusal in an error would not be.
func (e *Ending) refusedError() error {
	if e.Refused == nil {
		return nil
	}
	return e.Refused
}

// Code derives the exit code from all endings. Classes are tried in order. Within a
// class the lowest code wins. No other function chooses an exit code.
func Code(endings ...Ending) int {
	for _, class := range []func(*Ending) int{signalled, buggy, refused, unwritten, failed, deferred, pending} {
		code := 0
		for i := range endings {
			if c := class(&endings[i]); c != 0 && (code == 0 || c < code) {
				code = c
			}
		}
		if code != 0 {
			return code
		}
	}
	return OK
}

func signalled(e *Ending) int {
	var by *proc.Signalled
	if errors.As(e.Cause, &by) || e.Refused != nil && errors.As(e.Refused, &by) { // before it could begin
		return 128 + int(by.Signal)
	}
	return 0
}

func buggy(e *Ending) int { return when(e.Bug != nil, Bug) }

func refused(e *Ending) int {
	if e.Refused != nil {
		return e.Refused.Code
	}
	return 0
}

func unwritten(e *Ending) int { return when(e.Unwritten != nil, Unwritten) }

func failed(e *Ending) int {
	if e.Denied && e.Cause == nil {
		return Denied
	}
	return when(e.Cause != nil || e.count(model.Failed)+e.count(model.Interrupted) > 0, Failed)
}

func deferred(e *Ending) int { return when(e.count(model.Deferred) > 0, Later) }

func pending(e *Ending) int {
	if !e.Detailed || e.Report == nil {
		return 0
	}
	return when(e.count(model.Changed)+e.Report.Pending() > 0, Pending)
}

func (e *Ending) count(s model.Status) int {
	if e.Report == nil {
		return 0
	}
	return e.Report.Summary.Count[s]
}

func when(holds bool, code int) int {
	if holds {
		return code
	}
	return 0
}
