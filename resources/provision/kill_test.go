package provision_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
)

const (
	files = 31 // of an answer: policies, and the configuration
	lines = 200
)

// version is an answer of which every file is told from those of another version.
func version(n int) string {
	var policies []string
	for i := range files - 1 {
		policies = append(policies, fmt.Sprintf(`"p%d.policy": %q`, i, strings.Repeat(fmt.Sprintf("version %d\n", n), lines)))
	}
	return fmt.Sprintf(`{"configuration": {"version": "%d", "plugin.choria.server.provision": "false"}, "action_policies": {%s}}`, n, strings.Join(policies, ", "))
}

// Killed at any instant, a provision leaves every file as it was or as it is to
// be, whole, and the configuration no newer than the rest; the next run finishes.
func TestKilledAtAnyInstant(t *testing.T) {
	s := newSite(t)
	s.write("m.yaml", s.manifest(""))
	s.answers(version(0))
	s.want(s.apply(""), model.Changed, "…")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	apply := func() *exec.Cmd {
		cmd := exec.Command(self, s.dir)
		cmd.Env = append(os.Environ(), roleVar+"=apply")
		return cmd
	}
	random := rand.New(rand.NewPCG(1, 2))
	halves := 0
	for n := 1; n <= 10; n++ {
		s.answers(version(n))
		cmd := apply()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		some := random.IntN(files)
		for end := time.Now().Add(20 * time.Second); s.found(n) < some; {
			if time.Now().After(end) {
				t.Fatalf("only %d files were written", s.found(n))
			}
		}
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait() // killed, or done before
		if s.check(n) {
			halves++
		}
		if o := s.apply(""); o.Status != model.Changed && o.Status != model.Stable { // it may have been done
			t.Fatalf("the next run: %s: %s", o.Status, o.Reason)
		}
		if s.check(n); s.found(n) != files {
			t.Fatalf("after the next run %d of %d files are new", s.found(n), files)
		}
	}
	t.Logf("killed half way: %d times", halves)
	if halves == 0 {
		t.Error("none was killed half way: this shows nothing")
	}
	left, err := filepath.Glob(s.path("etc/.*")) // and in policies
	more, _ := filepath.Glob(s.path("etc/policies/.*"))
	if len(left)+len(more) > 0 || err != nil {
		t.Errorf("left behind: %v %v", left, more)
	}
}

func (s *site) written() []string {
	policies, _ := filepath.Glob(s.path("etc/policies/p*.policy")) // the pattern is ours
	return append(policies, s.path("etc/server.conf"))
}

// found counts the files that are of a version.
func (s *site) found(n int) int {
	count := 0
	for _, file := range s.written() {
		data, _ := os.ReadFile(file) // none is of no version
		if text := strings.ReplaceAll(string(data), " = ", " "); strings.Contains(text, fmt.Sprintf("version %d\n", n)) {
			count++
		}
	}
	return count
}

// check checks that every file is wholly of one version, that or the one before,
// and says whether there are some of both.
func (s *site) check(n int) bool {
	s.Helper()
	old := 0
	for _, file := range s.written() {
		data, err := os.ReadFile(file)
		if err != nil {
			s.Fatal(err)
		}
		versions := map[string]bool{}
		text := strings.Split(strings.TrimSpace(string(data)), "\n")
		for _, line := range text {
			if v, ok := strings.CutPrefix(strings.Replace(line, " = ", " ", 1), "version "); ok {
				versions[v] = true
			}
		}
		isConf := strings.HasSuffix(file, ".conf")
		was, is := fmt.Sprint(n-1), fmt.Sprint(n)
		if len(versions) != 1 || !versions[was] && !versions[is] || !isConf && len(text) != lines || isConf && len(text) != 3 {
			s.Fatalf("%s is neither old nor new: %d lines, versions %v", file, len(text), versions)
		}
		if versions[was] {
			old++
		} else if isConf && old > 0 {
			s.Fatal("the configuration is newer than what it refers to")
		}
	}
	return old > 0 && old < files
}
