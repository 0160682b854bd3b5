package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/model"
)

// One manifest serves two distributions and three environments. What it is given
// is data, whatever it looks like.
func TestOneManifestForEveryHost(t *testing.T) {
	const shown = "it's $(touch pwned); `touch pwned` ${env.HOME} \"&& *"
	for _, env := range []struct {
		name, file, domain string
		flags              []string
		banner             string
		ports              map[string]string
	}{
		{"test", "", "test.example.net", []string{"--var", "banner=" + shown}, shown, map[string]string{"shop": "8001", "blog": "8002"}},
		{"staging", "staging.yaml", "staging.example.net", nil, "Staging, reset every night", map[string]string{"shop": "8001", "blog": "8002"}},
		{"production", "production.yaml", "example.net", nil, "It's production; think twice", map[string]string{"shop": "80", "blog": "81", "api": "82"}},
	} {
		for _, host := range []struct{ distribution, family, server, log string }{
			{"ubuntu", "debian", "apache2", "${APACHE_LOG_DIR}/error.log"},
			{"rocky", "rhel", "httpd", "logs/error_log"},
		} {
			t.Run(env.name+" on "+host.distribution, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				copyInto(t, dir, filepath.Join(top, "manifests", "examples", "site.yaml"))
				flags := append([]string{"--state-dir", filepath.Join(dir, ".state"), "--fact", "distribution=" + host.distribution, "--fact", "family=" + host.family}, env.flags...)
				if env.file != "" {
					flags = append(flags, "--var-file", filepath.Join(dir, "site", env.file))
				}
				flags = append(flags, filepath.Join(dir, "site.yaml"))
				if r := report(t, "validate", append([]string{"--strict"}, flags[2:]...)...); len(r.Problems) > 0 {
					t.Fatal(r.Problems)
				}
				plan, apply := report(t, "plan", flags...), report(t, "apply", flags...)
				if apply.ExitCode != exit.OK || apply.Name != "example-site-"+env.name {
					t.Fatalf("apply of %s exits %d: %+v", apply.Name, apply.ExitCode, apply.Resources)
				}
				if diff := cmp.Diff(due(plan), ran(apply)); diff != "" {
					t.Errorf("-planned +run\n%s", diff)
				}
				root := filepath.Join(dir, "work", env.name)
				want := map[string]string{"etc/motd": env.banner + "\n", "log/reloads": host.server + " on " + host.distribution + "\n"}
				for name, port := range env.ports {
					want["etc/"+host.server+"/"+name+".conf"] = "# " + host.server + " " + name + " of " + env.name + "\nListen " + port + "\nServerName " + name + "." + env.domain + "\nErrorLog " + host.log + "\n"
				}
				if env.name == "production" {
					want["etc/backups"] = ""
				}
				if diff := cmp.Diff(want, filesIn(t, root)); diff != "" {
					t.Errorf("-want +made\n%s", diff)
				}
				if again := report(t, "apply", flags...); again.Summary.Count[model.Changed] > 0 || again.ExitCode != exit.OK {
					t.Errorf("the second apply changed %v", ran(again))
				}
				if _, err := os.Lstat(filepath.Join(dir, "pwned")); err == nil {
					t.Error("something acted on a value")
				}
			})
		}
	}
}

// filesIn returns what the files in a directory hold, by their paths in it.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[filepath.ToSlash(strings.TrimPrefix(path, dir+string(filepath.Separator)))] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
