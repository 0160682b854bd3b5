//go:build unix

package file_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
	"github.com/settle-cm/settle/providers/proc"
	"github.com/settle-cm/settle/resources"
)

// role makes the test binary another process, that plays one of the roles in a
// directory.
const role = "SETTLE_FILE_TEST"

var roles = map[string]func(dir string) error{"huge": convergeHuge, "nobody": walkAsNobody}

func TestMain(m *testing.M) {
	syscall.Umask(0o022) // the expected modes are under this umask
	proc.Main()
	name, dir, _ := strings.Cut(os.Getenv(role), " ")
	if play, ok := roles[name]; ok {
		if err := play(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// load reads a manifest that stands in dir.
func load(dir, yaml string) (*model.Manifest, model.Problems) {
	world := resources.World{Environ: os.Environ(), Grace: time.Second, Run: "run1", StateDir: filepath.Join(dir, "state")}
	m, problems, _ := manifests.Load(manifests.Source{Path: "m.yaml", Dir: dir, Identity: filepath.Join(dir, "m.yaml"), Bytes: []byte(yaml)}, resources.Types(world))
	return m, problems
}

// walk plans or applies a manifest that stands in dir.
func walk(t *testing.T, dir, yaml string, act engine.Act) []model.Result {
	t.Helper()
	m, problems := load(dir, yaml)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	plan := &model.Plan{Manifest: m, Memory: model.Replay(nil), Run: "run1"}
	outcomes, err := engine.Run(t.Context(), plan, engine.Options{Act: act, Jobs: 4, Journal: engine.NoJournal{}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return outcomes
}

// one is walk for a manifest of one file, whose properties are given as a flow map.
func one(t *testing.T, dir, properties string, act engine.Act) model.Result {
	t.Helper()
	return walk(t, dir, "- file:\n    - "+filepath.Join(dir, "path")+": {"+properties+"}\n", act)[0]
}

// shown is an outcome's status, reason and warnings, with the directory named DIR.
func shown(o *model.Result, dir string) string {
	text := o.Status.String() + ": " + o.Reason
	for _, warning := range o.Warnings {
		text += " (" + warning + ")"
	}
	return strings.ReplaceAll(text, dir, "DIR")
}

// before is what stands at DIR/path before a case.
var before = map[string]func(path string) error{
	"":     func(string) error { return nil },
	"file": func(path string) error { return errors.Join(os.WriteFile(path, []byte("old\n"), 0o600)) },
	"two names": func(path string) error {
		return errors.Join(os.WriteFile(path, []byte("old\n"), 0o600), os.Link(path, path+"2"))
	},
	"dir":  func(path string) error { return os.MkdirAll(filepath.Join(path, "sub"), 0o700) },
	"link": func(path string) error { return os.Symlink("elsewhere", path) },
	"remains": func(path string) error {
		return os.WriteFile(filepath.Join(filepath.Dir(path), ".path.settle-new"), nil, 0o600)
	},
	"fifo":     func(path string) error { return syscall.Mkfifo(path, 0o600) },
	"a source": func(path string) error { return nil },
}

func TestPlanNamesAndApplyMakesEveryDifference(t *testing.T) {
	const noForce = "only force: true"
	for _, tt := range []struct {
		before     string
		properties string
		plan       string // status and reason; apply's status is changed instead of would_run
		after      string // what stands there
	}{
		{"", `content: "x\n"`, `would_run: missing`, "0644 x\n"},
		{"", ``, `would_run: missing`, "0644 "},
		{"", `content: x, mode: "0400"`, `would_run: missing`, "0400 x"},
		{"", `content: x, sensitive: true`, `would_run: missing`, "0600 x"},
		{"", `source: tool`, `would_run: missing`, "0700 tool"},
		{"", `source: tool, mode: "0640"`, `would_run: missing`, "0640 tool"},
		{"", `ensure: directory`, `would_run: missing`, "0755/"},
		{"", `ensure: link, target: elsewhere`, `would_run: missing`, "→ elsewhere"},
		{"", `ensure: absent`, `stable: as declared`, ""},
		{"", `replace: false, content: x`, `would_run: missing`, "0644 x"},
		{"remains", `content: x`, `would_run: a killed run left DIR/.path.settle-new, missing`, "0644 x"},
		{"remains", `ensure: absent`, `would_run: a killed run left DIR/.path.settle-new`, ""},
		{"file", ``, `stable: as declared`, "0600 old\n"},
		{"file", `content: "old\n"`, `stable: as declared`, "0600 old\n"},
		{"file", `content: "new\n"`, `would_run: content differs`, "0600 new\n"},
		{"file", `content: "new, and longer\n", sensitive: true`, `would_run: content differs`, "0600 new, and longer\n"},
		{"file", `content: ""`, `would_run: content differs`, "0600 "},
		{"file", `source: tool`, `would_run: content differs`, "0600 tool"},
		{"file", `content: "old\n", mode: "0644"`, `would_run: mode 0600 → 0644`, "0644 old\n"},
		{"file", `content: "new\n", mode: "0644"`, `would_run: content differs, mode 0600 → 0644`, "0644 new\n"},
		{"file", `content: "new\n", replace: false`, `stable: as declared`, "0600 old\n"},
		{"file", `content: "new\n", replace: false, mode: "0640"`, `would_run: mode 0600 → 0640`, "0640 old\n"},
		{"file", `ensure: link, target: elsewhere`, `would_run: a file → a link`, "→ elsewhere"},
		{"file", `ensure: absent`, `would_run: a file is there`, ""},
		{"file", `ensure: directory`, `failed: DIR/path is a file: ` + noForce + ` replaces it by a directory`, "0600 old\n"},
		{"file", `ensure: directory, force: true`, `would_run: a file → a directory`, "0755/"},
		{"two names", `content: "old\n"`, `stable: as declared`, "0600 old\n"},
		{"two names", `mode: "0644"`, `would_run: mode 0600 → 0644 (DIR/path has other names (hard links): they keep what they have)`, "0644 old\n"},
		{"two names", `content: x`, `would_run: content differs (DIR/path has other names (hard links): they keep what they have)`, "0600 x"},
		{"dir", `ensure: directory, mode: "0755"`, `would_run: mode 0700 → 0755`, "0755/"},
		{"dir", `content: x`, `failed: DIR/path is a directory: ` + noForce + ` replaces it with all that is in it`, "0700/"},
		{"dir", `content: x, force: true`, `would_run: removes DIR/path (a directory with 1 entry below it); a directory → a file`, "0644 x"},
		{"dir", `ensure: absent`, `failed: DIR/path is a directory: ` + noForce + ` removes it with all that is in it`, "0700/"},
		{"dir", `ensure: absent, force: true`, `would_run: removes DIR/path (a directory with 1 entry below it); a directory is there`, ""},
		{"link", `ensure: link, target: elsewhere`, `stable: as declared`, "→ elsewhere"},
		{"link", `ensure: link, target: here`, `would_run: target elsewhere → here`, "→ here"},
		{"link", `ensure: link, target: here, replace: false`, `stable: as declared`, "→ elsewhere"},
		{"link", `content: x`, `would_run: a link to elsewhere → a file`, "0644 x"},
		{"link", `content: x, replace: false`, `stable: as declared`, "→ elsewhere"},
		{"link", `ensure: absent`, `would_run: a link is there`, ""},
		{"link", `ensure: directory`, `failed: DIR/path is a link: ` + noForce + ` replaces it by a directory`, "→ elsewhere"},
		{"fifo", `content: x, force: true`, `failed: DIR/path is a device, a pipe or a socket, which settle never replaces: remove it first`, "special"},
		{"fifo", `ensure: absent`, `would_run: a special file is there`, ""},
		{"", `source: nothing`, `failed: source DIR/nothing does not exist`, ""},
		{"", `source: "."`, `failed: source DIR is a directory: set recurse: true`, ""},
		{"", `source: tool, recurse: true`, `failed: source DIR/tool is no directory: recurse is for directories`, ""},
	} {
		t.Run(tt.before+": "+tt.properties, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "path")
			if err := errors.Join(os.WriteFile(filepath.Join(dir, "tool"), []byte("tool"), 0o700), before[tt.before](path)); err != nil {
				t.Fatal(err)
			}
			planned := one(t, dir, tt.properties, engine.Preview)
			if got := shown(&planned, dir); got != tt.plan {
				t.Errorf("plan: %s\nwant: %s", got, tt.plan)
			}
			applied := one(t, dir, tt.properties, engine.Apply)
			if got, want := shown(&applied, dir), strings.Replace(tt.plan, "would_run", "changed", 1); got != want {
				t.Errorf("apply: %s\nwant: %s", got, want)
			}
			if got := standing(t, path); got != tt.after {
				t.Errorf("after: %q; want %q", got, tt.after)
			}
			again := one(t, dir, tt.properties, engine.Apply)
			if want := "stable: as declared"; applied.Status != model.Failed && shown(&again, dir) != want {
				t.Errorf("again: %s", shown(&again, dir))
			}
			if left, err := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 || err != nil {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

// standing is what stands at a path: kind, mode and content; "" is nothing.
func standing(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return ""
	case err != nil:
		t.Fatal(err)
	case info.Mode()&os.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			t.Fatal(err)
		}
		return "→ " + target
	case info.IsDir():
		return fmt.Sprintf("%04o/", info.Mode().Perm())
	case !info.Mode().IsRegular():
		return "special"
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%04o %s", info.Mode().Perm(), content)
}

// A private key must not become readable because it is copied.
func TestNewFileHasTheModeOfItsSourceUnderTheUmask(t *testing.T) {
	for _, tt := range []struct{ source, properties, want string }{
		{"0600", `source: src`, "0600"},
		{"0444", `source: src`, "0444"},
		{"0666", `source: src`, "0644"},
		{"4755", `source: src`, "0755"},
		{"0640", `source: src, sensitive: true`, "0600"},
		{"0600", `source: src, mode: "0664"`, "0664"},
		{"0600", `content: x`, "0644"},
		{"0600", `content: x, mode: "0666"`, "0666"},
	} {
		t.Run(tt.source+" "+tt.properties, func(t *testing.T) {
			dir := t.TempDir()
			src := filepath.Join(dir, "src")
			bits, err := strconv.ParseUint(tt.source, 8, 32)
			if err = errors.Join(err, os.WriteFile(src, []byte("key"), 0o600), syscall.Chmod(src, uint32(bits))); err != nil {
				t.Fatal(err)
			}
			if o := one(t, dir, tt.properties, engine.Apply); o.Status != model.Changed {
				t.Fatal(o.Reason)
			}
			if got, _, _ := strings.Cut(standing(t, filepath.Join(dir, "path")), " "); got != tt.want {
				t.Errorf("mode %s; want %s", got, tt.want)
			}
		})
	}
}

func TestMissingDirectoryFailsTheFile(t *testing.T) {
	dir := t.TempDir()
	yaml := fmt.Sprintf("- file:\n    - %s/sub/file: {content: x}\n", dir)
	planned := walk(t, dir, yaml, engine.Preview)[0]
	why := "open directory DIR/sub: it does not exist; set parents: true, or declare the directory as a file resource"
	if got, want := shown(&planned, dir), "would_run: missing ("+why+")"; got != want {
		t.Errorf("plan: %s\nwant: %s", got, want)
	}
	applied := walk(t, dir, yaml, engine.Apply)[0]
	if got, want := shown(&applied, dir), "failed: "+why; got != want || applied.Began {
		t.Errorf("apply: %s, began %v\nwant: %s", got, applied.Began, want)
	}
}

func TestUnknownOwnerFailsBeforeAnyChange(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "path"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	planned := one(t, dir, `owner: no-such-user, group: no-such-group`, engine.Preview)
	if planned.Status != model.WouldRun || len(planned.Warnings) != 1 || !strings.Contains(planned.Reason, "→ no-such-user, group") {
		t.Errorf("plan: %s", shown(&planned, dir))
	}
	applied := one(t, dir, `owner: no-such-user, group: no-such-group`, engine.Apply)
	if got, want := shown(&applied, dir), "failed: user \"no-such-user\" does not exist\ngroup \"no-such-group\" does not exist"; got != want {
		t.Errorf("apply: %s", got)
	}
}

// A subscriber that is as declared is refreshed by looking at it.
func TestRefreshDoesNotRewriteAFile(t *testing.T) {
	dir := t.TempDir()
	yaml := fmt.Sprintf(`
- file:
    - %[1]s/a: {content: "%%s"}
    - %[1]s/b: {content: b, subscribe: 'file#%[1]s/a'}
`, dir)
	walk(t, dir, fmt.Sprintf(yaml, "one"), engine.Apply)
	before, err := os.Stat(filepath.Join(dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	outcomes := walk(t, dir, fmt.Sprintf(yaml, "two"), engine.Apply)
	after, err := os.Stat(filepath.Join(dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	if outcomes[0].Status != model.Changed || outcomes[1].Status != model.Stable || !os.SameFile(before, after) {
		t.Errorf("%s, %s, same file: %v", outcomes[0].Status, outcomes[1].Status, os.SameFile(before, after))
	}
}

// A change that plan sees reaches who subscribes to it.
func TestPlanRefreshesSubscribersOfAFile(t *testing.T) {
	dir := t.TempDir()
	planned := walk(t, dir, fmt.Sprintf(`
- file:
    - %[1]s/httpd.conf: {content: x}
- exec:
    - systemctl reload httpd: {refreshonly: true, subscribe: 'file#%[1]s/httpd.conf'}
`, dir), engine.Preview)
	if planned[0].Status != model.WouldRun || planned[1].Status != model.WouldRefresh {
		t.Errorf("%s, %s", shown(&planned[0], dir), shown(&planned[1], dir))
	}
}

// A directory and the file in it are two things: what is said of the file, and
// of who subscribes to it, is no guess.
func TestPlanAcceptsADirectoryThatIsDeclared(t *testing.T) {
	dir := t.TempDir()
	yaml := fmt.Sprintf(`
- file:
    - %[1]s/conf: {ensure: directory}
    - %[1]s/conf/a: {content: x, require: 'file#%[1]s/conf'}
- exec:
    - reload: {command: "true", refreshonly: true, subscribe: 'file#%[1]s/conf/a'}
`, dir)
	var got []string
	for _, o := range walk(t, dir, yaml, engine.Preview) {
		got = append(got, shown(&o, dir))
	}
	want := []string{"would_run: missing", "would_run: missing", "would_refresh: refreshed by file#DIR/conf/a"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, o := range walk(t, dir, yaml, engine.Apply) {
		if o.Status != model.Changed {
			t.Errorf("%s: %s", o.ID, shown(&o, dir))
		}
	}
}

// What something upstream may write is not known before it has run.
func TestSourceOfAnEarlierExecMayRun(t *testing.T) {
	dir := t.TempDir()
	yaml := fmt.Sprintf(`
- exec: [{make: {command: "cp m.yaml made", creates: made}}]
- file: [{%s/path: {source: made, require: exec#make}}]
`, dir)
	if err := os.WriteFile(filepath.Join(dir, "m.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	planned := walk(t, dir, yaml, engine.Preview)
	if got, want := shown(&planned[1], dir), "may_run: source DIR/made does not exist, before exec#make runs"; got != want {
		t.Errorf("plan: %s\nwant: %s", got, want)
	}
	applied := walk(t, dir, yaml, engine.Apply)
	if applied[1].Status != model.Changed {
		t.Errorf("apply: %s", shown(&applied[1], dir))
	}
	if planned := walk(t, dir, yaml, engine.Preview); planned[1].Status != model.Stable {
		t.Errorf("plan again: %s", shown(&planned[1], dir))
	}
}

func TestInterruptStopsACopy(t *testing.T) {
	dir := t.TempDir()
	m, problems := load(dir, "- file: [{"+dir+"/path: {content: x}}]")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	effect, err := m.Resources[0].Spec.Run(ctx, model.Stage{})
	if !errors.Is(err, cause) || effect.Began {
		t.Errorf("Run = %+v, %v", effect, err)
	}
	if standing(t, filepath.Join(dir, "path")) != "" {
		t.Error("written")
	}
}
