//go:build linux || darwin

package proc

import (
	"syscall"

	"github.com/settle-cm/settle/model"
)

// Alive reports whether a process still runs. Where the start time is known, a
// reused pid does not count.
func Alive(p model.Process) bool {
	if p.PID <= 0 {
		return false
	}
	if err := syscall.Kill(p.PID, 0); err != nil && err != syscall.EPERM {
		return false
	}
	return !isDeadOrReused(p.PID, p.Start)
}
