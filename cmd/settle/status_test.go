package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// terminals is a tmux of its own, with one window in which a shell runs.
type terminals struct {
	t      *testing.T
	socket string
}

func startTerminal(t *testing.T, columns int, dir string) *terminals {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	x := &terminals{t, filepath.Join(t.TempDir(), "tmux")}
	t.Cleanup(x.end)
	x.do("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", "30", "-c", dir,
		"env", "PS1=READY> ", "SETTLE_STATE_DIR="+filepath.Join(dir, ".state"), "PATH="+os.Getenv("PATH"), "LC_ALL=C.UTF-8", "sh")
	x.sees("READY>")
	return x
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

func (x *terminals) do(args ...string) string {
	x.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", x.socket}, args...)...).CombinedOutput()
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

// The first command fills the screen a little: tmux scrolls what it has to wrap,
// and what has left the screen at the top nobody can erase.
const watched = `
parallel: 2
resources:
  - exec:
      - first: {provider: shell, command: "printf '1\\n2\\n3\\n4\\n5\\n6\\nof the first\\n'", logoutput: true}
      - a command with a long name that is in nobody's way: {provider: shell, command: "until [ -e go ]; do sleep 0.02; done; echo in between; until [ -e on ]; do sleep 0.02; done", logoutput: true}
      - another: {provider: shell, command: "until [ -e on ]; do sleep 0.02; done"}
`

// The line at the bottom is there while something runs, fits, never mixes with
// what is written, and leaves nothing behind: also where the terminal became
// narrower under it.
func TestLiveLineOnATerminal(t *testing.T) {
	for _, columns := range []int{80, 20} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			dir := t.TempDir()
			put := func(name, text string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			put("settle.yaml", watched)
			x := startTerminal(t, columns, dir)
			x.types("settle apply; echo exit $?")
			status := map[int]string{80: "1/3 exec#a command with a long name that is in nobody's way", 20: "1/3 exec#a c"}[columns]
			x.sees("exec#first | of the first", status)
			x.do("resize-window", "-x", "40")
			x.sees("1/3 exec#a command with")
			x.do("resize-window", "-x", "20")
			x.sees("1/3 exec#a c")
			put("go", "")
			x.sees("in between", "1/3 exec#a c")
			put("on", "")
			last := x.sees("3 changed", "exit 0")
			if strings.Contains(last, "1/3") || strings.Contains(last, "2/3") {
				t.Errorf("the line is still there:\n%s", last)
			}
			for _, line := range strings.Split(last, "\n") {
				if strings.Contains(line, "in between") && !strings.HasSuffix(strings.TrimSpace(line), "| in between") {
					t.Errorf("mixed: %q", line)
				}
			}
		})
	}
}

func TestNoLiveLineWhereItDoesNotBelong(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "settle.yaml"), []byte("- exec: {name: x, command: sleep 0.7}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := startTerminal(t, 80, dir)
	for _, command := range []string{
		"TERM=dumb settle apply 2>&1 | cat -v", "settle apply -q", "settle apply 2>err; cat -v err", "TERM=dumb settle apply",
	} {
		x.types("clear; " + command + "; echo 'exit' $?")
		last := x.sees("exit 0\nREADY>")
		if strings.Contains(last, "0/1") || strings.Contains(last, "^[") {
			t.Errorf("%s: there was a line:\n%s", command, last)
		}
	}
}

// A person's ^C ends the run, and the line with it.
func TestLiveLineEndsWithAnInterrupt(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "settle.yaml"), []byte("- exec: {name: x, command: sleep 60}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := startTerminal(t, 80, dir)
	x.types("settle apply; echo exit $?")
	x.sees("0/1 exec#x")
	x.do("send-keys", "C-c")
	if last := x.sees("exit 130"); strings.Contains(last, "0/1") {
		t.Errorf("the line is still there:\n%s", last)
	}
}
