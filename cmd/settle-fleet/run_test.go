//go:build unix

package main

import (
	"os"
	"strings"
	"testing"
)

// Operators ask, with the rights that permissions prints: machines plan or run at
// once, and those that do not answer are named.
func TestRunNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", "web1", "web2", "web3")
	w.agents("web1", "web2")
	w.round("web3") // and no agent of it listens
	w.sh("rm web1/page")
	out, code := w.try("run", "site=lab", "--plan")
	if code != exitLater || !strings.Contains(out, "web1: file#page would_run: missing (changed outside)\n") || !strings.Contains(out, "web2: web@1: nothing to do\n") ||
		!strings.Contains(out, "web3: silent: no answer\n") || !strings.Contains(out, "3 machines: 2 done, 0 failed, 1 silent or not done\n") {
		t.Fatalf("a plan exits %d\n%s", code, out)
	}
	if _, err := os.Stat(w.path("web1/page")); err == nil {
		t.Fatal("a plan has made the page")
	}
	if got := w.ok("machines", "web1"); got != "web1   web@1   ok   \n1 machines, 0 silent\n" {
		t.Errorf("a plan has changed the status\n%s", got)
	}
	// A run that has just ended is not repeated, so this may take a moment.
	w.until(func() bool {
		return strings.Contains(w.ok("run", "web1"), "web1: done\n1 machines: 1 done, 0 failed, 0 silent or not done\n")
	})
	if got := w.read("web1/page"); got != "one\n" {
		t.Errorf("the page is %q", got)
	}
	if got := w.ok("run", "web1"); !strings.Contains(got, "web1: ran less than 10 s ago: exit 0\n") {
		t.Errorf("a second run says\n%s", got)
	}
	// a directory in the place of the file cannot be replaced
	w.sh("rm web2/page && mkdir web2/page && touch web2/page/x")
	w.until(func() bool {
		out, code = w.try("run", "web*,!web1,!web3")
		return code == exitFailed
	})
	if !strings.Contains(out, "web2: file#page failed: ") || !strings.Contains(out, "web2: exit 1\n") {
		t.Errorf("a failing run says\n%s", out)
	}
	if out, code := w.try("run", "web1,,"); code != exitUsage || !strings.Contains(out, "write NAME, NAME* or LABEL=VALUE") {
		t.Errorf("a wrong selector exits %d\n%s", code, out)
	}
}
