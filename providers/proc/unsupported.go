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

// LookPath says that it cannot.
func LookPath(string, string, []string) (string, error) {
	return "", &StartError{errUnsupported.Error(), errUnsupported}
}

// StartTime is not known here.
func StartTime(int) (uint64, bool) { return 0, false }

// Alive says no: no process of settle's can be left here.
func Alive(model.Process) bool { return false }

func signalName(s syscall.Signal) string { return fmt.Sprintf("signal %d", int(s)) }
