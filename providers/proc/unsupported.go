//go:build !linux && !darwin

package proc

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"syscall"

	"github.com/settle-cm/settle/model"
)

var errUnsupported = errors.New("settle cannot run commands on " + runtime.GOOS)

// Main returns at once: there are no hidden roles here.
func Main() {}

// KillAll does nothing: no command runs here.
func KillAll() {}

// Run says that it cannot.
func Run(context.Context, model.Command) (model.Exit, error) {
	return model.Exit{}, &StartError{errUnsupported.Error(), errUnsupported}
}

// LookPath returns the file that a command with this first word would start, or
// the error that it would end with. A word with a slash is a path relative to dir;
// a bare word is searched only in path, never in dir. Nothing is started, so errors
// that only the kernel can find (bad format, missing interpreter) do not show.
func LookPath(string, string, []string) (string, error) {
	return "", &StartError{errUnsupported.Error(), errUnsupported}
}

// StartTime is not known here.
func StartTime(int) (uint64, bool) { return 0, false }

// Identify returns the pid alone.
func Identify(pid int) model.Process { return model.Process{PID: pid} }

// FindStray finds nothing: settle starts no process here.
func FindStray(model.StrayProcess) (model.Process, bool) { return model.Process{}, false }

// Alive reports whether a process still runs. Where the start time is known, a
// reused pid does not count.
func Alive(model.Process) bool { return false }

func signalName(s syscall.Signal) string { return fmt.Sprintf("signal %d", int(s)) }
