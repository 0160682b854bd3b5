//go:build linux || darwin

package proc

import (
	"syscall"

	"github.com/settle-cm/settle/model"
)

// Identify returns what tells a process from later ones with the same pid.
func Identify(pid int) model.Process {
	start, _ := StartTime(pid) // 0 where the system does not say
	return model.Process{PID: pid, Start: start, Boot: bootID()}
}

// FindStray returns the process that a killed run left, if it still runs. A
// process without a record is found by its tag.
func FindStray(stray model.StrayProcess) (model.Process, bool) {
	if Alive(stray.Process) {
		return stray.Process, true
	}
	if pid := findLeader(stray.IsUnrecorded); pid > 0 {
		return Identify(pid), true
	}
	return model.Process{}, false
}

// Alive reports whether a process still runs. Where the start time is known, a
// reused pid does not count.
func Alive(p model.Process) bool {
	if p.PID <= 0 || p.Boot != "" && p.Boot != bootID() {
		return false
	}
	if err := syscall.Kill(p.PID, 0); err != nil && err != syscall.EPERM {
		return false
	}
	return !isDeadOrReused(p.PID, p.Start)
}
