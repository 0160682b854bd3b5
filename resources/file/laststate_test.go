//go:build unix

package file_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
	"github.com/settle-cm/settle/providers/files"
	"github.com/settle-cm/settle/resources/file"
)

// ledger is a journal in memory.
type ledger struct {
	mu    sync.Mutex
	facts []model.Record
}

func (l *ledger) Append(facts []model.Record, _ bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.facts = append(l.facts, facts...)
	return nil
}

// remembered is a directory with a file that is walked again and again, each
// time with what was remembered before.
type remembered struct {
	*testing.T
	dir    string
	ledger ledger
}

// newRemembered makes one with a directory for the state.
func newRemembered(t *testing.T) *remembered {
	t.Helper()
	r := &remembered{T: t, dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(r.dir, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *remembered) path(name string) string { return filepath.Join(r.dir, name) }

// walk walks a file of these properties, and returns its outcome.
func (r *remembered) walk(properties string, act engine.Act) model.Result {
	r.Helper()
	m, problems := load(r.dir, "- file:\n    - "+r.path("path")+": {"+properties+"}\n")
	if len(problems) > 0 {
		r.Fatal(problems)
	}
	plan := &model.Plan{Manifest: m, Memory: model.Replay(r.ledger.facts), Run: "r"}
	outcomes, err := engine.Run(r.Context(), plan, engine.Options{Act: act, Journal: &r.ledger, RemembersState: true, Now: time.Now})
	if err != nil {
		r.Fatal(err)
	}
	return outcomes[0]
}

// changes are what is done behind settle's back to DIR/path, and to DIR/tool.
var changes = map[string]func(dir string) error{
	"":       func(string) error { return nil },
	"write":  func(dir string) error { return os.WriteFile(filepath.Join(dir, "path"), []byte("edited\n"), 0o600) },
	"chmod":  func(dir string) error { return os.Chmod(filepath.Join(dir, "path"), 0o600) },
	"remove": func(dir string) error { return os.RemoveAll(filepath.Join(dir, "path")) },
	"replace": func(dir string) error {
		return errors.Join(os.Remove(filepath.Join(dir, "path")), os.Symlink("to", filepath.Join(dir, "path")))
	},
	"source": func(dir string) error { return os.WriteFile(filepath.Join(dir, "tool"), []byte("new tool"), 0o755) },
	"both": func(dir string) error {
		return errors.Join(os.WriteFile(filepath.Join(dir, "tool"), []byte("new tool"), 0o755), os.WriteFile(filepath.Join(dir, "path"), []byte("edited\n"), 0o600))
	},
	"in the tree": func(dir string) error {
		return errors.Join(os.WriteFile(filepath.Join(dir, "path/a"), []byte("edited\n"), 0o600), os.Remove(filepath.Join(dir, "path/b/c")))
	},
	"in its source": func(dir string) error { return os.WriteFile(filepath.Join(dir, "tree/a"), []byte("new\n"), 0o600) },
	"make":          func(dir string) error { return os.WriteFile(filepath.Join(dir, "path"), []byte("made\n"), 0o644) },
	"lose the key":  func(dir string) error { return os.Remove(filepath.Join(dir, "state/.key")) },
}

func TestReasonNamesTheCause(t *testing.T) {
	const first = `content: "first\n", mode: "0644"`
	for _, tt := range []struct {
		first   string // what is applied
		outside string // what changes then
		then    string // what is declared next; "" for the same
		want    string // the reason
	}{
		{first, "", "", "as declared"},
		{first, "write", "", "content (changed outside)"},
		{first, "chmod", "", "mode 0600 → 0644 (changed outside)"},
		{first, "remove", "", "missing (changed outside)"},
		{first, "replace", "", "a link to to → a file (changed outside)"},
		{first, "", `content: "second\n", mode: "0644"`, "content (the manifest changed)"},
		{first, "", `content: "second\n", mode: "0640"`, "content, mode 0644 → 0640 (the manifest changed)"},
		{first, "write", `content: "second\n", mode: "0644"`, "content (changed outside; the manifest changed)"},
		{first, "write", `content: "edited\n", mode: "0644"`, "as declared"},
		{first, "chmod", `content: "first\n", mode: "0640"`, "mode 0600 → 0640 (changed outside; the manifest changed)"},
		{first, "chmod", `content: "second\n"`, "content (the manifest changed)"},
		{first, "chmod", `content: "second\n", mode: "0644"`, "content, mode 0600 → 0644 (changed outside: mode; the manifest changed: content)"},
		{first, "", `ensure: absent`, "a file is there (the manifest changed)"},
		{first, "remove", `ensure: link, target: to`, "missing (changed outside; the manifest changed)"},
		{first, "", `ensure: link, target: to`, "a file → a link (the manifest changed)"},
		{`ensure: absent`, "make", "", "a file is there (changed outside)"},
		{`ensure: absent`, "", `content: x`, "missing (the manifest changed)"},
		{`ensure: absent`, "make", `content: x`, "content differs"}, // whose doing that is, one could argue
		{first, "lose the key", `content: "second\n", mode: "0640"`, "content differs, mode 0644 → 0640"},
		{`content: "first\n"`, "", `content: "first\n", mode: "0600"`, "mode 0644 → 0600 (the manifest changed)"},
		{`mode: "0644"`, "write", `content: "first\n"`, "content differs"}, // what was in it is not remembered: it was not declared
		{`content: "first\n", replace: false`, "write", `content: "first\n"`, "content differs"},
		{`content: "first\n", sensitive: true`, "write", "", "content differs"}, // nothing of it is in the state
		{`content: "first\n", sensitive: true, mode: "0644"`, "chmod", "", "mode 0600 → 0644 (changed outside)"},
		{`source: tool`, "write", "", "content (changed outside)"},
		{`source: tool`, "source", "", "content (the source changed)"},
		{`source: tool`, "both", "", "content (changed outside; the source changed)"},
		{`source: tool`, "", `content: "first\n"`, "content (the manifest changed)"},
		{`content: tool`, "", `source: other`, "content (the manifest changed)"},
		{`ensure: directory, mode: "0755"`, "chmod", "", "mode 0600 → 0755 (changed outside)"},
		{`ensure: directory`, "remove", "", "missing (changed outside)"},
		{`ensure: link, target: here`, "", `ensure: link, target: there`, "target here → there (the manifest changed)"},
		{`ensure: link, target: here`, "replace", "", "target to → here (changed outside)"},
		{`ensure: link, target: here`, "replace", `ensure: link, target: there`, "target to → there (changed outside; the manifest changed)"},
		{`source: tree, recurse: true`, "in the tree", "", "a: content (changed outside); b/c: missing (changed outside)"},
		{`source: tree, recurse: true`, "in its source", "", "a: content differs"},
		{
			`source: tree, recurse: true`, "in the tree", `source: tree, recurse: true, mode: "0640"`,
			".: mode 0755 → 0750; a: content differs, mode 0644 → 0640; and 2 more",
		},
	} {
		t.Run(strings.Join([]string{tt.first, tt.outside, tt.then}, " then "), func(t *testing.T) {
			r := newRemembered(t)
			r.Chdir(r.dir)
			err := errors.Join(os.WriteFile("tool", []byte("tool"), 0o755), os.WriteFile("other", []byte("other"), 0o755),
				os.MkdirAll("tree/b", 0o755), os.WriteFile("tree/a", []byte("a\n"), 0o644), os.WriteFile("tree/b/c", []byte("c\n"), 0o644))
			if tt.first == "ensure: absent" {
				err = changes["make"](r.dir)
			}
			if err != nil {
				t.Fatal(err)
			}
			if o := r.walk(tt.first, engine.Apply); o.Status != model.Changed {
				t.Fatalf("first %v: %s", o.Status, o.Reason)
			}
			if err := changes[tt.outside](r.dir); err != nil {
				t.Fatal(err)
			}
			then := tt.then
			if then == "" {
				then = tt.first
			}
			facts := len(r.ledger.facts)
			plan := r.walk(then, engine.Preview)
			if got := shown(&plan, r.dir); !strings.HasSuffix(got, ": "+tt.want) {
				t.Errorf("plan says %s, want %s", got, tt.want)
			}
			if o := r.walk(then, engine.Apply); o.Reason != plan.Reason {
				t.Errorf("apply says %s, plan %s", o.Reason, plan.Reason)
			}
			if o := r.walk(then, engine.Apply); o.Status != model.Stable {
				t.Errorf("again %v: %s", o.Status, o.Reason)
			}
			if more := len(r.ledger.facts) - facts; more > 2 {
				t.Errorf("%d facts were written", more)
			}
		})
	}
}

// Whenever a run is killed, nothing that it wrote is taken for somebody else's
// doing, and what it has not written is not claimed either.
func TestRunAfterAKillRemovesRemains(t *testing.T) {
	r := newRemembered(t)
	const first, second, third = `content: "first\n", mode: "0644"`, `content: "second\n", mode: "0640"`, `content: "third\n", mode: "0600"`
	r.walk(first, engine.Apply)
	before := len(r.ledger.facts)
	r.walk(second, engine.Apply)
	whole := r.ledger.facts
	if len(whole) != before+2 {
		t.Fatalf("%d facts, then %d", before, len(whole))
	}
	for cut, states := range [][]string{
		{"old"},        // it has not begun: it only begins when that is on the disk
		{"old", "new"}, // anywhere in between
		{"new"},
	} {
		for _, state := range states {
			r.ledger.facts = nil
			r.walk(map[string]string{"old": first, "new": second}[state], engine.Apply)
			r.ledger.facts = whole[:before+cut]
			got := r.walk(third, engine.Preview).Reason
			want := map[int]string{
				0: "content, mode 0644 → 0600 (the manifest changed)",
				1: map[string]string{"old": "content differs, mode 0644 → 0600", "new": "content differs, mode 0640 → 0600"}[state],
				2: "content, mode 0640 → 0600 (the manifest changed)",
			}[cut]
			if got != want {
				t.Errorf("cut behind %d facts, the file is %s: %s, want %s", cut, state, got, want)
			}
		}
	}
}

// What is remembered shows nothing of what is in a file, and is short.
func TestLastStateHoldsNoSecret(t *testing.T) {
	r := newRemembered(t)
	remembers := func(properties string) string {
		t.Helper()
		if err := os.WriteFile(r.path("path"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		r.walk(properties, engine.Apply)
		return r.ledger.facts[len(r.ledger.facts)-1].LastState
	}
	last := remembers(`content: hunter2`)
	if len(last) == 0 || len(last) > 80 || strings.Contains(last, "hunter2") {
		t.Errorf("remembers %q", last)
	}
	if again := remembers(`content: hunter2`); again != last {
		t.Errorf("remembers %q, and then %q", last, again)
	}
	if last := remembers(`content: hunter2, sensitive: true`); !strings.HasSuffix(last, " - -") {
		t.Errorf("of a sensitive one it remembers %q", last)
	}
	info, err := os.Stat(r.path("state/.key"))
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 32 {
		t.Errorf("the key: %v, %v", info, err)
	}
	if err := os.Remove(r.path("state/.key")); err != nil {
		t.Fatal(err)
	}
	sum := func(last string) string { return last[strings.LastIndexByte(last, ' '):] }
	if other := remembers(`content: hunter2`); sum(other) == sum(last) {
		t.Errorf("by another key the sum is still %s", sum(other))
	}
}

// On a file system that keeps no modes, or where somebody else is as quick,
// nothing is said of who made the file what it is.
func TestFileThatDiffersHasNoLastState(t *testing.T) {
	r := newRemembered(t)
	if err := os.WriteFile(r.path("path"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	functions := files.Disk()
	functions.Adjust = func(string, *uint32, *uint32, *uint32) error { return nil }
	types := []model.Type{file.Type(file.Options{Disk: functions, Key: func(bool) []byte { return []byte("key") }})}
	src := manifests.Source{Path: "m.yaml", Dir: r.dir, Bytes: []byte("- file: [{" + r.path("path") + `: {mode: "0644"}}]`)}
	m, problems, _ := manifests.Load(src, types)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	outcomes, err := engine.Run(t.Context(), &model.Plan{Manifest: m, Run: "r"}, engine.Options{Act: engine.Apply, Journal: &r.ledger, RemembersState: true, Now: time.Now})
	if err != nil || outcomes[0].Status != model.Changed || outcomes[0].LastState != "" {
		t.Errorf("%v: %s, remembers %q: %v", outcomes[0].Status, outcomes[0].Reason, outcomes[0].LastState, err)
	}
}

// A preview makes no key, and without a state nothing is remembered.
func TestWithoutStateThereIsNoLastState(t *testing.T) {
	r := newRemembered(t)
	r.walk(`content: x`, engine.Preview)
	if _, err := os.Stat(r.path("state/.key")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a preview made a key: %v", err)
	}
	if err := os.Remove(r.path("state")); err != nil {
		t.Fatal(err)
	}
	if o := r.walk(`content: x`, engine.Apply); o.Status != model.Changed || o.LastState != "" || len(r.ledger.facts) != 0 {
		t.Errorf("%v, remembers %q in %d facts", o.Status, o.LastState, len(r.ledger.facts))
	}
}
