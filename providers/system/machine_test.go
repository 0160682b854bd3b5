//go:build linux

package system

import (
	"os"
	"strings"
	"testing"

	"github.com/settle-cm/settle/testdata/machine"
)

func TestMachineRunsSystemdAndLeavesTheHostAlone(t *testing.T) {
	m := machine.Start(t)
	m.Shell(t, "echo changed > /etc/settle-machine-test; test -d /run/systemd/system")
	if _, err := os.Stat("/etc/settle-machine-test"); err == nil {
		t.Error("a file made in the machine is visible outside")
	}
	if out := m.Shell(t, "cat "+m.Write(t, "note", "from outside")); strings.TrimSpace(out) != "from outside" {
		t.Errorf("/share/note holds %q", out)
	}
	if out, code := m.Run(t, "/bin/sh", "-c", "echo no; exit 3"); code != 3 || out != "no\n" {
		t.Errorf("exit %d with output %q, want 3 and no", code, out)
	}
}
