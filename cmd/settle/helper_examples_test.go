//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/model"
)

// Every example of a helper passes the kit, and provisions: the same server from
// the same answer, once.
func TestExampleHelpers(t *testing.T) {
	for name, interpreter := range map[string]string{"helper.sh": "sh", "helper.py": "python3", "helper.rb": "ruby"} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(interpreter); err != nil {
				t.Skipf("no %s here", interpreter)
			}
			dir := filepath.Join(t.TempDir(), "provision")
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(top, "manifests", "examples", "provision"))); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(dir, "work"), 0o755); err != nil {
				t.Fatal(err)
			}
			var out, log bytes.Buffer
			if code := run([]string{"helper", "test", "--helper", filepath.Join(dir, name), "--timeout", "1m"}, nil, &out, &log); code != 0 {
				t.Errorf("settle helper test exits %d\n%s%s", code, &out, &log)
			}
			text, err := os.ReadFile(filepath.Join(dir, "settle.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			example := strings.Replace(string(text), "./helper.sh", "./"+name+"\n          timeout: 1m", 1)
			apply := func(manifest string) *model.Report {
				t.Helper()
				path := filepath.Join(dir, "site.yaml")
				if err := os.WriteFile(path, []byte(manifest), 0o644); err != nil {
					t.Fatal(err)
				}
				return report(t, "apply", "--state-dir", filepath.Join(dir, "state"), path)
			}
			for n, want := range []int{2, 0, 0} {
				if r := apply(example); r.ExitCode != 0 || r.Summary.Count[model.Changed] != want {
					t.Fatalf("apply %d changed %d, want %d: %+v", n+1, r.Summary.Count[model.Changed], want, r.Resources)
				}
			}
			conf, err := os.ReadFile(filepath.Join(dir, "work", "etc", "choria", "server.conf"))
			if err != nil || !strings.Contains(string(conf), "\nidentity = node1.example.net\n") {
				t.Errorf("the configuration is\n%s%v", conf, err)
			}
			if r := apply(strings.ReplaceAll(example, "node1.example.net", "old7.example.net")); r.ExitCode != 0 || r.Resources[0].Status != model.Shutdown {
				t.Errorf("one that is gone: exit %d, %s: %s", r.ExitCode, r.Resources[0].Status, r.Resources[0].Reason)
			}
			if r := apply(strings.ReplaceAll(example, "node1.example.net", "node1.example.com")); r.ExitCode != exit.Later || r.Resources[0].Status != model.Deferred {
				t.Errorf("one of another domain: exit %d, %s: %s", r.ExitCode, r.Resources[0].Status, r.Resources[0].Reason)
			}
		})
	}
}
