//go:build unix

package file_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
)

func TestPlanAndApplyShowTheSameDiff(t *testing.T) {
	for _, tt := range []struct{ properties, want string }{
		{`content: "new\n"`, "--- DIR/path\n+++ DIR/path\n@@ -1 +1 @@\n-old\n+new\n"},
		{`content: "old\n", mode: "0644"`, ""},
		{`ensure: absent`, "--- DIR/path\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"},
		{`ensure: link, target: x`, ""},
		{`content: "new\n", sensitive: true`, "***"},
		{`source: large`, "--- DIR/path\n+++ DIR/path\ntoo large to be shown line by line\n"},
	} {
		dir := t.TempDir()
		large := strings.Repeat("x", 300<<10)
		if err := errors.Join(before["file"](filepath.Join(dir, "path")), os.WriteFile(filepath.Join(dir, "large"), []byte(large), 0o600)); err != nil {
			t.Fatal(err)
		}
		for _, act := range []engine.Act{engine.Preview, engine.Apply} {
			o := one(t, dir, tt.properties, act)
			if diff := cmp.Diff(tt.want, strings.ReplaceAll(o.Diff, dir, "DIR")); diff != "" {
				t.Errorf("%s: %s: %s", tt.properties, o.Status, diff)
			}
		}
	}
}

func TestSensitiveContentIsNotInTheDecision(t *testing.T) {
	dir := t.TempDir()
	m, problems := load(dir, "- file: [{"+dir+"/path: {content: secret, sensitive: true}}]")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	d, err := m.Resources[0].Spec.Check(t.Context(), model.Ask{})
	if err != nil || d.Diff != "***" {
		t.Errorf("diff %q, %v", d.Diff, err)
	}
}

func TestValidatorDecidesAboutANewFile(t *testing.T) {
	for _, tt := range []struct {
		validate string
		plan     string // warnings
		reason   string // "" when it succeeds
		output   string
	}{
		{`grep -q new %`, "", "", ""},
		{`[/bin/sh, -c, 'echo fine; test "$(stat -c %%a "$0")" = 640', "%"]`, "", "", ""},
		{`grep old %`, "", "replace DIR/path: validate with grep old %: exit 1", ""},
		{`[/bin/sh, -c, 'echo "$0 is bad"; exit 3', "%"]`, "", `replace DIR/path: validate with /bin/sh -c 'echo "$0 is bad"; exit 3' %: exit 3`, "DIR/.path.settle-new is bad\n"},
		{`no-such-checker --file=%`, "validate: no-such-checker", "replace DIR/path: validate with no-such-checker --file=%: no-such-checker", ""},
	} {
		t.Run(tt.validate, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "path")
			if err := before["file"](path); err != nil {
				t.Fatal(err)
			}
			quoted := tt.validate
			if !strings.HasPrefix(quoted, "[") {
				quoted = "'" + quoted + "'"
			}
			properties := `content: "new\n", mode: "0640", validate: ` + quoted
			planned := one(t, dir, properties, engine.Preview)
			if planned.Status != model.WouldRun || len(planned.Warnings) != min(len(tt.plan), 1) || tt.plan != "" && !strings.HasPrefix(planned.Warnings[0], tt.plan) {
				t.Errorf("plan: %s", shown(&planned, dir))
			}
			applied := one(t, dir, properties, engine.Apply)
			if tt.reason == "" {
				if applied.Status != model.Changed || applied.Output != "" || standing(t, path) != "0640 new\n" {
					t.Errorf("apply: %s", shown(&applied, dir))
				}
				return
			}
			if got := shown(&applied, dir); !strings.HasPrefix(got, "failed: "+tt.reason) || applied.Began {
				t.Errorf("apply: %s, began %v\nwant: %s", got, applied.Began, tt.reason)
			}
			if got := strings.ReplaceAll(applied.Output, dir, "DIR"); got != tt.output {
				t.Errorf("output: %q; want %q", got, tt.output)
			}
			if got := standing(t, path); got != "0600 old\n" {
				t.Errorf("after: %q", got)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// Mode and owner alone are no reason to ask a validator: nothing takes the file's place.
func TestValidatorDoesNotRunForAMode(t *testing.T) {
	dir := t.TempDir()
	if err := before["two names"](filepath.Join(dir, "path")); err != nil {
		t.Fatal(err)
	}
	o := one(t, dir, `content: "old\n", mode: "0644", validate: 'false %'`, engine.Apply)
	if o.Status != model.Changed {
		t.Error(shown(&o, dir))
	}
}

func TestBackupKeepsTheOldFile(t *testing.T) {
	for before1, want := range map[string]string{"file": "0600 old\n", "link": "→ elsewhere", "dir": "0700/", "": ""} {
		dir := t.TempDir()
		path := filepath.Join(dir, "path")
		if err := before[before1](path); err != nil {
			t.Fatal(err)
		}
		o := one(t, dir, `content: new, backup: true, force: true`, engine.Apply)
		kept := filepath.Join(dir, "state", ".backup", "run1", path)
		if got := standing(t, kept); got != want || o.Status != model.Changed {
			t.Errorf("%q was kept as %q; %s", before1, got, shown(&o, dir))
		}
		if want != "" && o.Output != "kept as "+kept+"\n" {
			t.Errorf("output %q", o.Output)
		}
		o = one(t, dir, `content: new, backup: true, mode: "0640"`, engine.Apply)
		if got := standing(t, kept); got != want || o.Output != "" {
			t.Errorf("a mode alone was kept: %q, %q", got, o.Output)
		}
	}
}

func TestRecurseCopiesATree(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(
		os.MkdirAll(at("src/conf.d"), 0o755),
		os.WriteFile(at("src/app.conf"), []byte("app\n"), 0o600),
		os.WriteFile(at("src/conf.d/a"), []byte("a\n"), 0o644),
		os.WriteFile(at("src/start"), []byte("#!/bin/sh\n"), 0o700),
		os.Symlink("app.conf", at("src/link")),
		os.MkdirAll(at("path"), 0o750),
		os.WriteFile(at("path/other"), []byte("stays\n"), 0o600),
		os.WriteFile(at("path/app.conf"), []byte("old\n"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	o := one(t, dir, `source: src, recurse: true`, engine.Preview)
	if got, want := shown(&o, dir), "would_run: app.conf: content differs; conf.d: missing; and 3 more"; got != want {
		t.Errorf("plan: %s\nwant: %s", got, want)
	}
	if want := "-old\n+app\n--- /dev/null\n+++ DIR/path/conf.d/a\n@@ -0,0 +1 @@\n+a\n"; !strings.Contains(strings.ReplaceAll(o.Diff, dir, "DIR"), want) {
		t.Errorf("diff: %s", o.Diff)
	}
	one(t, dir, `source: src, recurse: true`, engine.Apply)
	for name, want := range map[string]string{
		"": "0750/", "other": "0600 stays\n", "app.conf": "0600 app\n", "conf.d": "0755/", "conf.d/a": "0644 a\n", "start": "0700 #!/bin/sh\n", "link": "→ app.conf",
	} {
		if got := standing(t, filepath.Join(at("path"), name)); got != want {
			t.Errorf("%s: %q; want %q", name, got, want)
		}
	}
	o = one(t, dir, `source: src, recurse: true, mode: "0640"`, engine.Apply)
	for name, want := range map[string]string{"": "0750/", "other": "0600 stays\n", "app.conf": "0640 app\n", "conf.d": "0750/", "start": "0640 #!/bin/sh\n"} {
		if got := standing(t, filepath.Join(at("path"), name)); got != want {
			t.Errorf("with mode: %s: %q; want %q", name, got, want)
		}
	}
	if err := os.Remove(at("src/start")); err != nil {
		t.Fatal(err)
	}
	if o = one(t, dir, `source: src, recurse: true, mode: "0640"`, engine.Apply); o.Status != model.Stable {
		t.Errorf("again: %s", shown(&o, dir))
	}
}

// Other names of a file keep their content and their mode.
func TestHardLinksKeepTheirContent(t *testing.T) {
	for _, properties := range []string{`mode: "0644"`, `content: x`} {
		dir := t.TempDir()
		path := filepath.Join(dir, "path")
		if err := before["two names"](path); err != nil {
			t.Fatal(err)
		}
		one(t, dir, properties, engine.Apply)
		if got := standing(t, path+"2"); got != "0600 old\n" {
			t.Errorf("%s: the other name is %q", properties, got)
		}
	}
}

// A tree that fails in the middle has begun: its subscribers are owed.
func TestTreeThatFailsHalfwayBegan(t *testing.T) {
	dir := t.TempDir()
	err := errors.Join(
		os.MkdirAll(filepath.Join(dir, "src/b"), 0o755), os.MkdirAll(filepath.Join(dir, "path"), 0o755),
		os.WriteFile(filepath.Join(dir, "src/a"), nil, 0o600), os.WriteFile(filepath.Join(dir, "path/b"), nil, 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	m, problems := load(dir, "- file: [{"+dir+"/path: {source: src, recurse: true}}]")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	effect, err := m.Resources[0].Spec.Run(t.Context(), model.Stage{})
	if err == nil || !effect.Began {
		t.Errorf("Run = %+v, %v", effect, err)
	}
}
