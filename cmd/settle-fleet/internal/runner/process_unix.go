//go:build unix

package runner

import (
	"os"
	"os/exec"
	"syscall"
)

// leaveGroup gives settle a process group of its own. Ctrl-C in a terminal
// reaches a whole group, and a second signal would hurry settle: only the agent
// passes signals on.
func leaveGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalOf returns the signal that ended a process, 0 for none.
func signalOf(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return int(status.Signal())
	}
	return 0
}
