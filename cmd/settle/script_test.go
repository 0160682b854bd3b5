package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/settle-cm/settle/providers/proc"
)

var update = flag.Bool("update", false, "rewrite expected texts in testdata/script")

// The test binary is settle, for the scripts and for whoever starts it as a
// process of its own.
func TestMain(m *testing.M) {
	proc.Main()
	// most of what these tests do is wait: for processes, timeouts, shells
	_ = flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))) // unless -parallel says otherwise
	testscript.Main(m, map[string]func(){"settle": main})
}

// TestScript runs testdata/script: settle from outside, one promise a script.
// Beside testscript's own commands there are these:
//
//	exits CODE PROGRAM [ARG…]     it has to end with exactly this exit code
//	json FILE [PATH=VALUE…]       FILE (or stdout) is exactly one JSON document,
//	                              and says so, e.g. resources.0.status=changed
//	appears FILE                  wait until another process has made it
func TestScript(t *testing.T) {
	// who runs the tests may ignore HUP, as nohup does; a handler of ours keeps
	// the scripts from inheriting that
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join(top, "testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, ".home")
			env.Setenv("HOME", home)
			env.Setenv("SETTLE_STATE_DIR", filepath.Join(env.WorkDir, ".state"))
			env.Setenv("TERM", "xterm-256color")
			return os.Mkdir(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": scriptExits, "json": scriptJSON, "appears": scriptAppears,
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "mount": // root in a container may not
				return exec.Command("unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", os.TempDir()).Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
	})
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit := (*exec.ExitError)(nil)
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit %d, want %d", code, want)
	}
}

func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: json FILE [PATH=VALUE…]")
	}
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	dec.UseNumber()
	var doc any
	ts.Check(dec.Decode(&doc))
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		ts.Fatalf("there is more behind the document")
	}
	for _, claim := range args[1:] {
		path, want, ok := strings.Cut(claim, "=")
		if !ok {
			ts.Fatalf("%q is no PATH=VALUE", claim)
		}
		if got := lookup(doc, path); got != want {
			ts.Fatalf("%s is %s, want %s", path, got, want)
		}
	}
}

// lookup returns the value at a path such as resources.0.id: a string as it is,
// anything else as JSON, and "absent" when there is none. The last word len is the
// length of a list.
func lookup(value any, path string) string {
	for _, key := range strings.Split(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			inner, ok := v[key]
			if !ok {
				return "absent"
			}
			value = inner
		case []any:
			n, err := strconv.Atoi(key)
			switch {
			case key == "len":
				value = len(v)
			case err != nil || n < 0 || n >= len(v):
				return "absent"
			default:
				value = v[n]
			}
		default:
			return "absent"
		}
	}
	if s, ok := value.(string); ok {
		return s
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func scriptAppears(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: appears FILE")
	}
	file := ts.MkAbs(args[0])
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			return
		}
	}
	ts.Fatalf("%s did not appear", file)
}
