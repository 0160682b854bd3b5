package main

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
	exitOK         = 0
	exitFailed     = 1
	exitPending    = 2
	exitUsage      = 64
	exitInvalid    = 65
	exitUnreadable = 66
	exitStale      = 69
	exitBug        = 70
	exitUnwritten  = 73
	exitLater      = 75
	exitDenied     = 77
)

// refusal is the reason why a manifest was not run, or not to its end, with its exit
// code.
type refusal struct {
	code int
	err  error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

func refuse(code int, format string, args ...any) *refusal {
	return &refusal{code, fmt.Errorf(format, args...)}
}

// ending is how a command ended for one manifest. The exit code is derived from it
// alone.
type ending struct {
	cause     error // why the run was stopped before its end: a signal or a limit
	bug       error // a panic
	refused   *refusal
	unwritten error // a report could not be written
	detailed  bool  // --detailed-exitcode
	report    *model.Report
	began     time.Time // of the run; zero for commands that run nothing
}

// finish writes the error, the exit code and the duration into the report. No
// other function does. It is called again when writing the report itself failed.
func (e *ending) finish() {
	var messages []string
	for _, err := range []error{e.bug, e.refusedError(), e.unwritten} {
		if err != nil {
			messages = append(messages, strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
	e.report.Error, e.report.ExitCode = strings.Join(messages, "; "), exitCode(*e)
	if !e.began.IsZero() {
		e.report.DurationMS = time.Since(e.began).Milliseconds()
	}
}

// refusedError returns the refusal as an error. It is nil without a refusal, which a
// nil *refusal in an error would not be.
func (e *ending) refusedError() error {
	if e.refused == nil {
		return nil
	}
	return e.refused
}

// exitCode derives the exit code from all endings. Classes are tried in order. Within a
// class the lowest code wins. No other function chooses an exit code.
func exitCode(endings ...ending) int {
	for _, class := range []func(*ending) int{signalled, buggy, refused, unwritten, failed, deferred, pending} {
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
	return exitOK
}

func signalled(e *ending) int {
	var by *proc.Signalled
	if errors.As(e.cause, &by) || e.refused != nil && errors.As(e.refused, &by) { // before it could begin
		return 128 + int(by.Signal)
	}
	return 0
}

func buggy(e *ending) int { return when(e.bug != nil, exitBug) }

func refused(e *ending) int {
	if e.refused != nil {
		return e.refused.code
	}
	return 0
}

func unwritten(e *ending) int { return when(e.unwritten != nil, exitUnwritten) }

func failed(e *ending) int {
	return when(e.cause != nil || e.count(model.Failed)+e.count(model.Interrupted) > 0, exitFailed)
}

func deferred(e *ending) int { return when(e.count(model.Deferred) > 0, exitLater) }

func pending(e *ending) int {
	if !e.detailed || e.report == nil {
		return 0
	}
	return when(e.count(model.Changed)+e.report.Pending() > 0, exitPending)
}

func (e *ending) count(s model.Status) int {
	if e.report == nil {
		return 0
	}
	return e.report.Summary.Count[s]
}

func when(holds bool, code int) int {
	if holds {
		return code
	}
	return 0
}
