package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/charmbracelet/log"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/runner"
)

// version is what this is; a release sets it with -ldflags "-X main.version=…".
var version = "0.1.0"

// Exit codes. They mean the same as those of settle.
const (
	exitFailed     = 1
	exitUsage      = 64
	exitInvalid    = 65
	exitUnreadable = 66
	exitBug        = 70
	exitUnwritten  = 73
	exitLater      = 75
)

// app is the environment of a command: its streams, its log and the program settle.
// It refers to no command, so that every command can refer to it.
type app struct {
	in            io.Reader
	out, err      io.Writer
	log           *log.Logger
	settleProgram string // of --settle; a machine's configuration can name another one
}

// exit is an error with an exit code of its own. An empty text prints nothing.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}
func (e *exit) Unwrap() error { return e.err }

// exitWith gives an error an exit code. It returns nil for no error, so that it can
// wrap the result of a call.
func exitWith(code int, err error) error {
	if err == nil {
		return nil
	}
	return &exit{code, err}
}

// settle returns the program settle, for commands that only ask it.
func (a *app) settle() *runner.Settle {
	return &runner.Settle{Path: a.settleProgram, Out: a.out, Err: a.err}
}

// printf writes to standard output. A full disk or a closed pipe has an exit code of
// its own, so that a pipeline does not take half of an answer for all of it.
func (a *app) printf(format string, args ...any) error {
	if _, err := fmt.Fprintf(a.out, format, args...); err != nil {
		return exitWith(exitUnwritten, fmt.Errorf("write standard output: %w", err))
	}
	return nil
}

// printJSON writes a value as indented JSON with a line feed behind it.
func printJSON(w io.Writer, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", text)
	}
	return exitWith(exitUnwritten, err)
}
