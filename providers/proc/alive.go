//go:build linux || darwin

package proc

import (
	"syscall"

	"github.com/settle-cm/settle/model"
)

// Alive says whether a process still runs: the very one, where its start time
// is known, not another that got its number.
func Alive(p model.Process) bool {
	if p.PID <= 0 {
		return false
	}
	if err := syscall.Kill(p.PID, 0); err != nil && err != syscall.EPERM {
		return false
	}
	return !isDeadOrReused(p.PID, p.Start)
}
