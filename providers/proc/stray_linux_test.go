package proc

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/settle-cm/settle/model"
)

// A killed run may have started a process without recording its pid: the leader
// of a group that carries the tag is that process, its children are not.
func TestStrayIsFoundByItsTag(t *testing.T) {
	t.Parallel()
	start := func(group bool) *exec.Cmd {
		cmd := exec.Command("/bin/sleep", "100")
		cmd.Env = []string{"SETTLE_RUN_ID=outer/1 stray-test/5"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: group}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd
	}
	stray := model.StrayProcess{Tag: "stray-test/5.0"}
	start(false)
	if p, ok := FindStray(stray); ok {
		t.Errorf("a member of another group is %+v", p)
	}
	leader := start(true)
	if p, ok := FindStray(stray); !ok || p != Identify(leader.Process.Pid) {
		t.Errorf("found %+v, %v, want pid %d", p, ok, leader.Process.Pid)
	}
	if p, ok := FindStray(model.StrayProcess{Tag: "stray-test/5.1"}); ok {
		t.Errorf("an attempt that is recorded is %+v", p)
	}
	stray = model.StrayProcess{Process: Identify(leader.Process.Pid)}
	if _, ok := FindStray(stray); !ok {
		t.Error("a recorded process is not found")
	}
	if stray.Boot = "another"; Alive(stray.Process) {
		t.Error("a process of another boot is alive")
	}
}
