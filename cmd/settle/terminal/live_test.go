package terminal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
	if err := os.WriteFile(filepath.Join(dir, "settle.yaml"), []byte("- exec: {name: x, provider: shell, command: \"trap 'sleep 0.1; exit 1' INT; while :; do sleep 0.01; done\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := startTerminal(t, 80, dir)
	x.types("settle apply; echo exit $?")
	x.sees("0/1 exec#x")
	x.do("send-keys", "C-c")
	if last := x.sees("interrupted: waiting up to 10s for exec#x to end; press Ctrl-C again to kill it", "exit 130"); strings.Contains(last, "0/1") {
		t.Errorf("the line is still there:\n%s", last)
	}
}
