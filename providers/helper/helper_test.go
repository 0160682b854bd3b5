package helper_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/providers/helper"
	"github.com/settle-cm/settle/providers/proc"
)

var long = flag.Bool("long", false, "fail a thousand times in the slow ways too")

func TestMain(m *testing.M) {
	proc.Main()
	os.Exit(m.Run())
}

var ask = helper.Asker(proc.Run)

func command(argv ...string) model.Command {
	return model.Command{
		Argv: argv, Dir: "/", Env: []string{"PATH=" + os.Getenv("PATH")}, Path: filepath.SplitList(os.Getenv("PATH")),
		Stdin: []byte(`{"identity":"node1"}`), Timeout: time.Minute,
	}
}

func script(text string) model.Command { return command("/bin/sh", "-c", text) }

func write(t *testing.T, name, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// kinds are the ways in which an exchange can fail, each with its own words.
func kinds(t *testing.T) map[string]struct {
	c    model.Command
	want string
} {
	t.Helper()
	timeout := script("echo waiting >&2; sleep 600")
	timeout.Timeout = 50 * time.Millisecond
	held := script("sleep 600 & sleep 600")
	held.Timeout = 50 * time.Millisecond
	crlf := write(t, "crlf", "#!/bin/sh\r\necho {}\r\n", 0o755)
	plain := write(t, "plain", "#!/bin/sh\necho {}\n", 0o644)
	return map[string]struct {
		c    model.Command
		want string
	}{
		"missing":         {command("/nowhere/helper"), "cannot start: /nowhere/helper does not exist"},
		"not executable":  {command(plain), "cannot start: " + plain + " is not executable"},
		"CRLF shebang":    {command(crlf), "cannot start: "},
		"timeout":         {timeout, `timed out after 50ms; its standard error ends with "waiting"`},
		"held at timeout": {held, "timed out after 50ms"},
		"killed":          {script("kill -9 $$"), "killed by SIGKILL"},
		"exit code":       {script(`echo '{"defer": true}'; exit 3`), "exited 3"},
		"traceback":       {script(`echo Traceback >&2; echo; echo '  File "x"' >&2; echo >&2; echo ValueError: x >&2; exit 1`), `exited 1; its standard error ends with "Traceback", "File \"x\"", "ValueError: x"`},
		"nothing":         {script("cat >/dev/null"), "zero bytes received: it exited 0 and wrote nothing to standard output"},
		"too much":        {script("exec cat /dev/zero"), "wrote more than 16 MiB to standard output"},
	}
}

func TestFailuresAreExplained(t *testing.T) {
	for name, k := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			_, err := ask(t.Context(), k.c)
			if err == nil || !strings.HasPrefix(err.Error(), k.want) {
				t.Errorf("error:\n got %v\nwant %s…", err, k.want)
			}
			if err != nil && strings.Contains(err.Error(), "identity") {
				t.Errorf("the error shows the input: %v", err)
			}
		})
	}
}

// The input arrives whole and unchanged, however large it is and however late
// or early the helper reads it.
func TestExchangeKeepsEveryByte(t *testing.T) {
	large := append([]byte(`{"s":"ò 𝄞 \u003c&\u003e \u2028 \u0000`), append(bytes.Repeat([]byte("x"), 2<<20), `"}`...)...)
	tests := []struct {
		name, script string
		input, want  []byte
	}{
		{"echo", "cat", large, large},
		{"never reads", `echo '{}'`, large, []byte("{}\n")},
		{"reads the beginning", `head -c 100 >/dev/null; echo '{}'`, large, []byte("{}\n")},
		{"writes much before it reads", `head -c 3000000 /dev/zero | tr '\0' x; cat >/dev/null`, large, bytes.Repeat([]byte("x"), 3_000_000)},
		{"closes its input", `exec <&-; echo '{}'`, large, []byte("{}\n")},
		{"sees the end of its input", `wc -c | tr -d ' \n'`, []byte("{}"), []byte("2")},
		{"logs beside it", `echo log >&2; cat`, []byte("{}"), []byte("{}")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := script(tt.script)
			c.Stdin = tt.input
			exit, err := ask(t.Context(), c)
			if err != nil || !bytes.Equal(exit.Reply, tt.want) {
				t.Errorf("%d bytes came back, %d expected; error %v", len(exit.Reply), len(tt.want), err)
			}
		})
	}
}

// A thousand failures of each kind leave neither a zombie nor a goroutine nor a
// descriptor.
func TestFailuresLeakNothing(t *testing.T) {
	const workers = 32
	fail := func(name string, c model.Command, many int) {
		var all sync.WaitGroup
		for range workers {
			all.Go(func() {
				for range many / workers {
					if _, err := ask(context.Background(), c); err == nil {
						t.Errorf("%s: it succeeded", name)
						return
					}
				}
			})
		}
		all.Wait()
	}
	before := runtime.NumGoroutine() + 8   // the runtime starts some of its own; a leak is one a failure, 64 at least
	files := descriptors() + 2*workers + 1 // the runner keeps a pipe for each at once, and the null device
	for name, k := range kinds(t) {
		many := 1000
		if !*long {
			switch name {
			case "timeout", "held at timeout":
				many = 2 * workers
			case "too much": // 16 MiB each
				many = workers
			}
		}
		fail(name, k.c, many)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		left := children()
		if now := runtime.NumGoroutine(); now <= before && left == "" && descriptors() <= files {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("left behind: %d goroutines, at most %d expected, %d descriptors of %d, children: %s",
				runtime.NumGoroutine(), before, descriptors(), files, left)
		}
	}
}

func descriptors() int {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(open)
}

// children lists the processes whose parent we are.
func children() string {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", os.Getpid()))
	var all []string
	for _, file := range tasks {
		pids, _ := os.ReadFile(file) // a thread may have ended
		all = append(all, strings.Fields(string(pids))...)
	}
	return strings.Join(all, " ")
}
