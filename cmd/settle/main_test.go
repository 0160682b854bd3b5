package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/terminal"
	"github.com/settle-cm/settle/providers/proc"
)

var update = flag.Bool("update", false, "rewrite the reference in the README")

// TestMain prepares this program to start commands, as main does.
func TestMain(m *testing.M) {
	proc.Main()
	os.Exit(m.Run())
}

type crashing struct{}

func (crashing) run(*app) []exit.Ending { panic("no such row") }

// A bug is said to be one, is exit 70, and whoever reads JSON gets a document.
func TestABugIsSaidToBeOne(t *testing.T) {
	var out, log bytes.Buffer
	a := &app{out: terminal.NewStream(&out), err: terminal.NewConsole(&log, terminal.Options{Color: "never"})}
	if code := exit.Code(a.runCommand([]string{"apply", "-o", "json"}, crashing{})...); code != exit.Bug {
		t.Errorf("exit %d", code)
	}
	if !strings.HasPrefix(log.String(), "settle: this is a bug in settle "+version+": no such row: please report it") || strings.Contains(log.String(), "main_test.go") {
		t.Errorf("said: %s", &log)
	}
	t.Setenv("SETTLE_DEBUG", "1")
	log.Reset()
	if a.runCommand(nil, crashing{}); !strings.Contains(log.String(), "main_test.go") {
		t.Errorf("for those who look for it: %s", &log)
	}
	var r struct {
		ExitCode int    `json:"exit_code"`
		Error    string `json:"error"`
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.ExitCode != exit.Bug || r.Error == "" {
		t.Errorf("%v: %s", err, &out)
	}
}

func TestRunIDs(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		r := newReport("apply", "m.yaml")
		if seen[r.Run] {
			t.Fatalf("%s is not unique", r.Run)
		}
		seen[r.Run] = true
		if want := r.Started.Format("20060102T150405Z") + "-"; !strings.HasPrefix(r.Run, want) {
			t.Fatalf("%s does not begin with %s", r.Run, want)
		}
	}
}
