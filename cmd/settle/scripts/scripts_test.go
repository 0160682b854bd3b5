// Package scripts runs testdata/script: settle from outside.
package scripts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/settle-cm/settle/cmd/internal/settletest"
)

const top = "../../.." // of the repository, seen from here

// scriptLimit bounds one script: the longest take a few seconds on an idle machine.
const scriptLimit = 4 * time.Minute

func TestMain(m *testing.M) { settletest.MainWithBoth(m, top) }

// TestScripts runs every script in testdata/script. Each holds one promise.
// Beside the commands of testscript there are these:
//
//	exits CODE PROGRAM [ARG…]     the program has to end with exactly this exit code
//	json FILE [PATH=VALUE…]       FILE (or stdout) is exactly one JSON document, and
//	                              holds these values, e.g. resources.0.status=changed
//	waitfile FILE                 wait at most a minute until FILE exists
//
// The programs that a script starts find one more on PATH:
//
//	waitfor COMMAND [ARG…]        run the command again and again until it succeeds,
//	                              for at most a minute
//
// A script that takes longer than scriptLimit fails: all its processes are killed.
func TestScripts(t *testing.T) {
	// The caller may ignore HUP, as nohup does. With a handler here the scripts do
	// not inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join(top, "testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *settletest.Update,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, ".home")
			env.Setenv("HOME", home)
			env.Setenv("SETTLE_STATE_DIR", filepath.Join(env.WorkDir, ".state"))
			env.Setenv("TERM", "xterm-256color")
			if concurrent.MatchString(filepath.ToSlash(env.WorkDir)) {
				env.Setenv("PATH", settletest.RaceDir()+string(os.PathListSeparator)+env.Getenv("PATH"))
			}
			limit(env)
			return os.Mkdir(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": scriptExits, "json": scriptJSON, "waitfile": scriptWaitfile,
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

// concurrent matches the scripts in which settle does several things at once: they
// run the program with the race detector.
var concurrent = regexp.MustCompile(`/script-(signals|process|logging|output|reports|report_interrupted|provision|helper|ci_gitlab|manifest_thousand|` +
	`plan_cut|graph_failure|state_(lock|lost|still|stray|interrupted|pause_owed|full))`)

// limit kills the processes of a script when it takes too long, and those that
// are left at its end: each has the script's WORK in its environment.
func limit(env *testscript.Env) {
	entry := "WORK=" + env.WorkDir
	timer := time.AfterFunc(scriptLimit, func() { settletest.EndProcesses(entry) })
	env.Defer(func() {
		timer.Stop()
		settletest.EndProcesses(entry)
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

func scriptWaitfile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitfile FILE")
	}
	file := ts.MkAbs(args[0])
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			return
		}
	}
	ts.Fatalf("%s did not appear within a minute", file)
}
