//go:build unix

package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what scripts expect")

// settleDir is where the program settle is that the tests run.
var settleDir string

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	if filepath.Base(os.Args[0]) == "settle-fleet" {
		return run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr) // testscript starts us under this name
	}
	dir, err := os.MkdirTemp("", "settle-fleet-test-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	out, err := exec.Command("go", "build", "-o", dir, "../settle").CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stderr, "build settle: %v\n%s", err, out)
		return 1
	}
	settleDir = dir
	// The same program as settle-fleet: a link to the test, which looks at its name.
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(dir, "settle-fleet"))
	}
	if err == nil {
		err = os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", os.Getenv("PATH"))
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_STATE_HOME", env.Getenv("WORK")+"/.state")
			env.Setenv("SETTLE_STATE_DIR", env.Getenv("WORK")+"/.state/settle")
			return nil
		},
		Condition: func(name string) (bool, error) {
			if program, ok := strings.CutPrefix(name, "has:"); ok {
				_, err := exec.LookPath(program)
				return err == nil, nil
			}
			return false, fmt.Errorf("no such condition: %s", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"keygen": makeKey,
			"exits":  exits,
		},
	})
}

// makeKey makes the key NAME of a person WHO: keygen NAME WHO [OPTIONS of a line
// in allowed_signers]. It adds the line to the file allowed_signers.
func makeKey(ts *testscript.TestScript, _ bool, args []string) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		ts.Fatalf("ssh-keygen is not installed (Debian package openssh-client)")
	}
	key := ts.MkAbs(args[0])
	ts.Check(ts.Exec("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key))
	public, err := os.ReadFile(key + ".pub")
	ts.Check(err)
	file, err := os.OpenFile(ts.MkAbs("allowed_signers"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	ts.Check(err)
	_, err = fmt.Fprintf(file, "%s %s\n", strings.Join(args[1:], " "), strings.TrimSpace(string(public)))
	ts.Check(err)
	ts.Check(file.Close())
}

// exits runs a program and compares its exit code: exits CODE PROGRAM ARGS….
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if err != nil {
		code = -1
		if at := strings.LastIndex(err.Error(), "exit status "); at >= 0 {
			fmt.Sscan(err.Error()[at+len("exit status "):], &code)
		}
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("%s exits %d, not %s", args[1], code, args[0])
	}
}

// settle is the core: it must not grow with the fleet.
func TestSettleKnowsNothingOfTheFleet(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "../settle").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "github.com/settle-cm/settle/model") {
		t.Fatalf("the list of packages is not that of settle: %v", deps)
	}
	for _, dep := range deps {
		if strings.Contains(dep, "nats") || strings.Contains(dep, "nkeys") || strings.Contains(dep, "settle-fleet") {
			t.Errorf("settle depends on %s", dep)
		}
	}
}
