//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/rollout"
)

// agents starts the long-lived agents of machines. They end with the test.
func (w *world) agents(machines ...string) {
	w.t.Helper()
	for _, m := range machines {
		cmd := w.command("settle-fleet", "agent", "--config", m+"/fleet.yaml")
		if err := cmd.Start(); err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() {
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
			_ = cmd.Wait()                          // its end is tested elsewhere
		})
	}
	w.until(func() bool { return strings.Count(w.ok("machines"), "web@1   ok") == len(machines) })
}

const badManifest = `name: web
vars:
  root: {type: string, required: true}
resources:
  - exec:
      - migrate:
          provider: shell
          command: exit 3
          cwd: /
`

func TestBadReleaseHaltsAtItsCanaryAndIsReverted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", "web1", "web2", "web3")
	w.agents("web1", "web2", "web3")
	good := w.read("site/settle.yaml")
	w.write("site/settle.yaml", badManifest)
	w.ok("publish", "site", "--name", "web", "--sign", "key", "--may-revert-to", "1")
	out, code := w.try("rollout", "web@2", "--sign", "key", "--first", "web2", "--revert")
	if code != exitHalted || !strings.Contains(out, "web2: exec#migrate failed: exit 3") ||
		!strings.Contains(out, "web@2: halted: 1 of 1 machines failed; no other machine takes it, and those that have it go back to web@1") {
		t.Fatalf("exits %d\n%s", code, out)
	}
	w.until(func() bool { return strings.Count(w.ok("machines"), "web@1   ok") == 3 })
	if got := w.ok("rollout", "status", "web"); !strings.HasPrefix(got, "web@2: halted, wave 1 of 5") {
		t.Errorf("status\n%s", got)
	}
	// repaired, and rolled out in waves
	w.write("site/settle.yaml", strings.Replace(good, "one", "three", 1))
	w.ok("publish", "site", "--name", "web", "--sign", "key")
	out, code = w.try("rollout", "web@3", "--sign", "key", "--waves", "1,50%,100%")
	if code != 0 || !strings.Contains(out, "web@3: done, wave 3 of 3, 3 done") {
		t.Fatalf("exits %d\n%s", code, out)
	}
	if w.read("web1/page") != "three\n" || strings.Count(w.ok("machines"), "web@3   ok") != 3 {
		t.Errorf("machines\n%s", w.ok("machines"))
	}
	// --revert has to be allowed by the release
	w.ok("publish", "site", "--name", "web", "--sign", "key")
	out, code = w.try("rollout", "web@4", "--sign", "key", "--revert")
	if code != exitUsage || !strings.Contains(out, "--revert: web@4 does not allow to go back to version 3: publish it with --may-revert-to 3") {
		t.Errorf("exits %d\n%s", code, out)
	}
	// opened to all without a canary, it fails everywhere: one line for all machines
	w.write("site/settle.yaml", badManifest)
	w.ok("publish", "site", "--name", "web", "--sign", "key")
	w.ok("open", "web@5", "--sign", "key")
	w.until(func() bool { return strings.Count(w.ok("machines", "--failed"), "web@5   failed") == 3 })
	if got := w.ok("machines"); !strings.HasSuffix(got, "3 machines, 0 silent\n3 machines: exec#migrate failed: exit 3\n") {
		t.Errorf("machines\n%s", got)
	}
	var answer struct{ Failures []rollout.Group }
	if err := json.Unmarshal([]byte(w.ok("machines", "site=lab,!web2", "-o", "json")), &answer); err != nil || len(answer.Failures) != 1 || strings.Join(answer.Failures[0].Machines, " ") != "web1 web3" {
		t.Errorf("failures in JSON: %v, %v", answer, err)
	}
	if got := w.ok("machines", "web*", "-o", "html"); !strings.Contains(got, "<b>3 machines</b>: exec#migrate failed: exit 3") || !strings.Contains(got, "<li>web@5: done, wave 0 of 0, 3 failed, by ") {
		t.Errorf("page\n%s", got)
	}
}

// A controller is killed and another goes on; two at once are told apart; a
// rollout is paused, and aborted.
func TestControllersOfOneRollout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", "web1", "web2")
	w.round("web1")
	w.round("web2")
	w.ok("publish", "site", "--name", "web", "--sign", "key")
	first, second := w.command("settle-fleet", "rollout", "web@2", "--sign", "key", "--waves", "1,100%"), w.command("settle-fleet", "rollout", "resume", "web", "--sign", "key")
	var said [2]bytes.Buffer
	first.Stderr, second.Stderr = &said[0], &said[1]
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	w.until(func() bool {
		out, _ := w.try("rollout", "status", "web")
		return strings.Contains(out, "running, wave 1 of 2, 1 waiting")
	})
	if out, code := w.try("rollout", "web@2", "--sign", "key"); code != exitLater || !strings.Contains(out, "web@2 is being rolled out by ") {
		t.Errorf("a second start exits %d\n%s", code, out)
	}
	if err := second.Start(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // its code is looked at
	if code := first.ProcessState.ExitCode(); code != exitLater || !strings.Contains(said[0].String(), "web@2: the rollout has changed meanwhile: it is running, by ") {
		t.Errorf("the first controller exits %d\n%s", code, &said[0])
	}
	_ = second.Process.Signal(os.Kill) // it waits for web1 or web2
	_ = second.Wait()                  // it was killed
	if got := w.ok("rollout", "pause", "web", "--sign", "key"); got != "web@2 is paused in wave 1\n" {
		t.Errorf("pause says %s", got)
	}
	w.round("web1")
	w.round("web2")
	if got := strings.Count(w.ok("machines", "--on", "web@2"), "web@2   ok"); got != 1 {
		t.Errorf("%d machines have web@2 while wave 1 is open", got)
	}
	third := w.command("settle-fleet", "rollout", "resume", "web", "--sign", "key")
	if err := third.Start(); err != nil {
		t.Fatal(err)
	}
	w.until(func() bool {
		out, _ := w.try("rollout", "status", "web")
		return strings.Contains(out, "running, wave 2 of 2")
	})
	w.round("web1")
	w.round("web2")
	if err := third.Wait(); err != nil {
		t.Errorf("the third controller: %v", err)
	}
	if out, code := w.try("rollout", "abort", "web", "--sign", "key"); code != exitUsage || !strings.Contains(out, "web@2 is done: there is no rollout to change") {
		t.Errorf("abort exits %d\n%s", code, out)
	}
	// an aborted one opens to no other machine
	w.ok("publish", "site", "--name", "web", "--sign", "key")
	fourth := w.command("settle-fleet", "rollout", "web@3", "--sign", "key", "--first", "web1")
	if err := fourth.Start(); err != nil {
		t.Fatal(err)
	}
	w.until(func() bool {
		out, _ := w.try("rollout", "status", "web")
		return strings.Contains(out, "web@3: running, wave 1")
	})
	w.ok("rollout", "abort", "web", "--sign", "key")
	_ = fourth.Wait() // its code is looked at
	if code := fourth.ProcessState.ExitCode(); code != exitLater {
		t.Errorf("the controller of an aborted rollout exits %d", code)
	}
	w.round("web1")
	w.round("web2")
	if got := strings.Count(w.ok("machines"), "web@2   ok"); got != 2 {
		t.Errorf("after abort\n%s", w.ok("machines"))
	}
}
