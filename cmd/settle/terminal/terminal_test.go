// Package terminal tests what a person sees and types at a terminal: the line of
// progress, and completion in each shell.
package terminal

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/settle-cm/settle/cmd/internal/settletest"
)

func TestMain(m *testing.M) { settletest.Main(m, "../../..") }

// terminalLimit bounds the life of a terminal, so that no tmux server outlives a test
// that was killed.
const terminalLimit = 9 * time.Minute

// terminals is a tmux server with a private socket and one window, in which a shell
// runs.
type terminals struct {
	t      *testing.T
	socket string
}

func startTerminal(t *testing.T, columns int, dir string) *terminals {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	x := &terminals{t, socketPath(t)}
	t.Cleanup(func() {
		x.end()
		settletest.EndProcesses(x.entry())
	})
	x.do("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", "30", "-c", dir,
		"timeout", "--foreground", fmt.Sprint(terminalLimit.Seconds()), "env", "PS1=READY> ", "SETTLE_STATE_DIR="+filepath.Join(dir, ".state"), "PATH="+os.Getenv("PATH"), "LC_ALL=C.UTF-8", "sh")
	x.sees("READY>")
	return x
}

// socketPath returns a path for a socket. The system allows about a hundred bytes, and
// the directory of a test may be longer.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tmux")
	if err == nil && len(dir) > 80 {
		_ = os.Remove(dir) // it is empty
		dir, err = os.MkdirTemp("/tmp", "tmux")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // below TMPDIR
	return filepath.Join(dir, "socket")
}

// end waits until the server and all in it are gone: they have files open in
// directories that the test removes.
func (x *terminals) end() {
	out, _ := exec.Command("tmux", "-S", x.socket, "display-message", "-p", "#{pid} #{pane_pid}").Output() // none when it has ended by itself
	_ = exec.Command("tmux", "-S", x.socket, "kill-server").Run()
	for _, pid := range strings.Fields(string(out)) {
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			if _, err := os.Stat("/proc/" + pid); err != nil {
				break
			}
		}
	}
}

// entry is in the environment of all processes of this terminal, and of no other.
func (x *terminals) entry() string { return "TEST_TERMINAL=" + x.socket }

func (x *terminals) do(args ...string) string {
	x.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", x.socket}, args...)...)
	cmd.Env = append(os.Environ(), x.entry()) // the server and all in it inherit it
	out, err := cmd.CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// text is what stands on the screen and above it.
func (x *terminals) text() string {
	x.t.Helper()
	return strings.TrimRight(x.do("capture-pane", "-p", "-J", "-S", "-100"), "\n ")
}

// sees waits until all these texts are on the screen.
func (x *terminals) sees(texts ...string) string {
	x.t.Helper()
	last := ""
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		last = x.text()
		all := true
		for _, text := range texts {
			all = all && strings.Contains(last, text)
		}
		if all {
			return last
		}
	}
	x.t.Fatalf("%q did not come; the screen is\n%s", texts, last)
	return ""
}

func (x *terminals) types(line string) {
	x.t.Helper()
	x.do("send-keys", line, "Enter")
}
