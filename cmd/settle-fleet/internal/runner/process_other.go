//go:build !unix

package runner

import (
	"os"
	"os/exec"
)

func leaveGroup(*exec.Cmd) {}

func signalOf(*os.ProcessState) int { return 0 }
