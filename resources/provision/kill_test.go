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

// version is an answer of which every file is told from those of another version.
func version(n int) string {
	var policies []string
	for i := range 6 {
		policies = append(policies, fmt.Sprintf(`"p%d.policy": %q`, i, strings.Repeat(fmt.Sprintf("version %d\n", n), 2000)))
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
	s.answers(version(1))
	start := time.Now()
	if out, err := apply().CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	whole := time.Since(start)
	random := rand.New(rand.NewPCG(1, 2))
	halves := 0
	for n := 2; n < 40; n++ {
		s.answers(version(n))
		cmd := apply()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Int64N(int64(whole)))) // the instant of the kill is what is random
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait() // killed, or done before
		if s.check(n) {
			halves++
		}
		if o := s.apply(""); o.Status != model.Changed && o.Status != model.Stable { // it may have been done
			t.Fatalf("the next run: %s: %s", o.Status, o.Reason)
		}
		if s.check(n); s.found(n) != 7 {
			t.Fatalf("after the next run %d of 7 files are new", s.found(n))
		}
	}
	if halves == 0 {
		t.Error("none was killed half way: this shows nothing")
	}
	left, err := filepath.Glob(s.path("etc/.*")) // and in policies
	more, _ := filepath.Glob(s.path("etc/policies/.*"))
	if len(left)+len(more) > 0 || err != nil {
		t.Errorf("left behind: %v %v", left, more)
	}
}

func (s *site) files() []string {
	files, _ := filepath.Glob(s.path("etc/policies/p*.policy")) // the pattern is ours
	return append(files, s.path("etc/server.conf"))
}

// found counts the files that are of a version.
func (s *site) found(n int) int {
	count := 0
	for _, file := range s.files() {
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
	for _, file := range s.files() {
		data, err := os.ReadFile(file)
		if err != nil {
			s.Fatal(err)
		}
		versions := map[string]bool{}
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		for _, line := range lines {
			if v, ok := strings.CutPrefix(strings.Replace(line, " = ", " ", 1), "version "); ok {
				versions[v] = true
			}
		}
		isConf := strings.HasSuffix(file, ".conf")
		was, is := fmt.Sprint(n-1), fmt.Sprint(n)
		if len(versions) != 1 || !versions[was] && !versions[is] || !isConf && len(lines) != 2000 || isConf && len(lines) != 3 {
			s.Fatalf("%s is neither old nor new: %d lines, versions %v", file, len(lines), versions)
		}
		if versions[was] {
			old++
		} else if isConf && old > 0 {
			s.Fatal("the configuration is newer than what it refers to")
		}
	}
	return old > 0 && old < 7
}
