package manifests_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
)

func TestManifestFields(t *testing.T) {
	t.Parallel()
	text := files(t, "ok")["every-key.yaml"]
	m, problems := load("every-key.yaml", text)
	if m == nil {
		t.Fatal(problems)
	}
	sum := sha256.Sum256([]byte(text))
	want := model.Manifest{
		Path: "every-key.yaml", Dir: "/srv", Name: "all", Identity: "all", Hash: hex.EncodeToString(sum[:]), TextHash: hex.EncodeToString(sum[:]),
		Description: "every key and every common property", Parallel: 2, FailFast: true, CleanEnv: true,
		OnMissingState: "refresh", Secrets: []string{"TOKEN", "OTHER"}, SecretValues: []string{"hunter22"}, Order: []int{0, 1, 2},
	}
	got := *m
	got.Resources = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	first, third := m.Resources[0], m.Resources[2]
	first.Spec, third.Spec = nil, nil
	if diff := cmp.Diff(model.Resource{
		Ref: model.Ref{Type: "exec", Name: "first"}, Pos: model.Pos{File: "every-key.yaml", Line: 13, Column: 9},
		Alias: "one", Description: "several\nlines\n", Tags: []string{"a", "b"},
		Tries: 3, TrySleep: 90 * time.Second, Sensitive: true, IgnoreFailure: true, Subscribers: []string{"exec#third"},
	}, first); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(model.Resource{
		Ref: model.Ref{Type: "exec", Name: "third"}, Pos: model.Pos{File: "every-key.yaml", Line: 38, Column: 9},
		Tags: []string{"all"}, OnRefresh: model.RefreshChecks, Tries: 1, TrySleep: time.Second,
		Upstream: []model.Edge{{On: 0, Refresh: true, By: "subscribe", Pos: model.Pos{File: "every-key.yaml", Line: 40, Column: 23}}},
	}, third); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, identity, want string }{
		{"resources: []", "/srv/m.yaml", "/srv/m.yaml"},
		{"name: web", "/srv/m.yaml", "web"},
		{"name: web", "", "web"},
		{"[]", "", ""},
	} {
		m, problems, _ := manifests.Load(manifests.Source{Path: "-", Identity: tt.identity, Bytes: []byte(tt.text)}, types())
		if m == nil || m.Identity != tt.want || m.Parallel != 1 {
			t.Errorf("%q: %+v %v, want identity %q", tt.text, m, problems, tt.want)
		}
	}
}

// One name of a secret may be written without a list, as a tag may.
func TestSecrets(t *testing.T) {
	t.Parallel()
	for _, names := range []string{"TOKEN", "[TOKEN, OTHER]"} {
		m, problems := load("m.yaml", "secrets: "+names+`
defaults: {exec: {environment: [TOKEN=by-default, PLAIN=a]}}
resources:
  - exec:
      - a: {command: /bin/true}
      - b: {command: /bin/true}
      - c: {command: /bin/true, environment: {TOKEN: own, NOTOKEN: b}}
`)
		if m == nil {
			t.Fatal(problems)
		}
		if diff := cmp.Diff([]string{"by-default", "own"}, m.SecretValues); diff != "" || m.Secrets[0] != "TOKEN" {
			t.Errorf("secrets: %s: %v (-want +got):\n%s", names, m.Secrets, diff)
		}
	}
}

func TestCCMManifest(t *testing.T) {
	t.Parallel()
	m, problems := load("ccm.yaml", files(t, "ok")["ccm.yaml"])
	if m == nil {
		t.Fatal(problems)
	}
	if !m.CleanEnv || !m.FailFast || m.PreMessage != "hello" || m.PostMessage != "bye" || len(m.Resources) != 3 {
		t.Errorf("got %+v", m)
	}
}

func TestEdges(t *testing.T) {
	t.Parallel()
	m, problems := load("m.yaml", `
- exec:
    - a: {command: /bin/true, notify: [exec#d, exec#d], before: exec#d}
    - b: {command: /bin/true, alias: bee, before: exec#d}
    - c: {command: /bin/true}
    - d: {command: /bin/true, subscribe: [exec#e, exec#c], require: [exec#bee, exec#c, exec#b]}
    - e: {command: /bin/true, notify: exec#d}
`)
	if m == nil {
		t.Fatal(problems)
	}
	var got []string
	for _, e := range m.Resources[3].Upstream {
		got = append(got, fmt.Sprintf("%s %s %v", e.By, m.Resources[e.On].Name, e.Refresh))
	}
	want := []string{"require b false", "require c false", "subscribe e true", "subscribe c true", "before a false", "notify a true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("edges of d (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 1, 2, 4, 3}, m.Order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	for _, n := range []int{0, 2, 4} {
		if diff := cmp.Diff([]string{"exec#d"}, m.Resources[n].Subscribers); diff != "" {
			t.Errorf("subscribers of %s (-want +got):\n%s", m.Resources[n].ID(), diff)
		}
	}
	if m.Resources[1].Subscribers != nil {
		t.Errorf("b is required only, yet has subscribers %v", m.Resources[1].Subscribers)
	}
}

// A manifest that only repeats itself must be refused before it is written out.
func TestAliasBombIsCheap(t *testing.T) {
	t.Parallel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if m, _ := load("m.yaml", files(t, "bad")["yaml-alias-bomb.yaml"]); m != nil {
		t.Fatal("it loads")
	}
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 500<<20 {
		t.Errorf("it allocated %d MiB", bytes>>20)
	}
}

// Sensible use of anchors is no bomb: every resource may merge what all have in common.
func TestManyAliasesLoad(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("x-common: &common {cwd: /tmp, timeout: 5m, tries: 2, environment: {A: a, B: b, C: c, D: d, E: e}}\nresources:\n  - exec:\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "      - r%d: {<<: *common, command: /bin/true}\n", i)
	}
	if m, problems := load("m.yaml", b.String()); m == nil {
		t.Error(problems[0])
	}
}

func TestSizeLimit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		size int
		want string
	}{
		{16 << 20, "m.yaml:1:1: a control character"}, // reading 16 MiB of YAML takes a while: other rubbish is noticed as early
		{16<<20 + 1, "m.yaml:1:1: the manifest is larger than 16 MiB; split it into several manifests"},
	} {
		_, problems := load("m.yaml", strings.Repeat("\x00", tt.size))
		if !strings.HasPrefix(problems.Error(), tt.want) {
			t.Errorf("%d bytes: %s, want %s", tt.size, problems, tt.want)
		}
	}
}

// What is said of a manifest does not grow faster than the manifest does.
func TestManyProblems(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("- exec:\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "    - r%d: {command: /bin/true, require: exec#s%d, tries: 0}\n", i, i)
	}
	if _, problems := load("m.yaml", b.String()); len(problems) != 2000 {
		t.Errorf("%d problems", len(problems))
	}
}

// FuzzLoad feeds the loader anything: it must say something of it, at a place
// that is in it, and the same every time.
func FuzzLoad(f *testing.F) {
	for _, folder := range []string{"ok", "bad", "doubtful"} {
		for _, text := range files(f, folder) {
			if len(text) < 5000 {
				f.Add(text)
			}
		}
	}
	all := append(types(), fillingType)
	for _, text := range []string{
		someVars + "resources: [{probe: [{\"a ${var.text}\": {for_each: \"${var.sites}\", text: \"${each.value.name:-x} ${self.name} ${host.cpus}\"}}]}]\n",
		"vars: {x: {secret: true, required: true}, list: [a], y: ${env.HOME}}\nname: ${var.x}\nresources: [{exec: [{\"echo ${var.x}\": {onlyif: \"test ${raw.var.y}\", environment: [\"A=${var.list.0}\"], tags: \"${var.list}\"}}]}]\n",
		"- exec: [{a: {for_each: {p: 1, q: [2]}, command: [\"${each.key}\"], provider: \"${env.X:-posix}\", umask: \"${env.COUNT}\"}}]\n",
	} {
		f.Add(text)
	}
	f.Add("include: [in.yaml, d/in.yaml]\nresources: [exec: [{x: {require: exec#in}}]]\n")
	f.Add("include: m.yaml")
	f.Fuzz(func(t *testing.T, text string) {
		// whatever it is, it can be included, and can include itself
		around := folder{"m.yaml": text, "in.yaml": "include: in2.yaml\nresources: [exec: [{in: {tries: 0}}]]\n", "in2.yaml": text, "d/in.yaml": "- exec: [{name: d, cwd: $x}]\n"}
		src := manifests.Source{Path: "m.yaml", Dir: "/srv", Identity: "/srv/m.yaml", Bytes: []byte(text)}
		src.Include = around.read
		src.Environ = []string{"HOME=/root", "COUNT=3", "SETTLE_VAR_x=a; $(b) 'c'", "SETTLE_VAR_list=[a, b]"}
		src.Host = source("").Host
		m, problems, warnings := manifests.Load(src, all)
		if (m == nil) == (len(problems) == 0) {
			t.Fatalf("manifest %v beside problems %v", m, problems)
		}
		if m != nil {
			checkValid(t, m)
		}
		said := slices.Concat(problems, warnings)
		for _, p := range said {
			text, ok := around[strings.TrimPrefix(path.Join("/srv", p.File), "/srv/")]
			lines := 1 + strings.Count(text, "\n") + strings.Count(text, "\r") + strings.Count(text, "\u0085") + strings.Count(text, "\u2028") + strings.Count(text, "\u2029")
			if p.Line == 0 && strings.HasPrefix(p.File, "SETTLE_VAR_") {
				continue
			}
			if !ok || p.Message == "" || p.Line < 1 || p.Line > lines || p.Column < 1 {
				t.Errorf("of %d lines: %q", lines, p)
			}
		}
		_, problems, warnings = manifests.Load(src, all)
		if diff := cmp.Diff(said, slices.Concat(problems, warnings)); diff != "" {
			t.Errorf("the second time it says something else:\n%s", diff)
		}
		if !strings.Contains(text, "include") { // which brings directories of its own
			again(t, src)
		}
	})
}

// checkValid says whether a manifest keeps what its type promises.
func checkValid(t *testing.T, m *model.Manifest) {
	t.Helper()
	place := map[int]int{}
	for at, n := range m.Order {
		place[n] = at
	}
	if len(place) != len(m.Resources) {
		t.Fatalf("order %v of %d resources", m.Order, len(m.Resources))
	}
	for n, r := range m.Resources {
		if r.Spec == nil || r.Name == "" || r.Tries < 1 {
			t.Errorf("resource %+v", r)
		}
		for _, e := range r.Upstream {
			if place[e.On] >= place[n] {
				t.Errorf("%s goes before what it depends on", r.ID())
			}
		}
	}
}

// FuzzReference gives a resource any name and refers to it.
func FuzzReference(f *testing.F) {
	for _, name := range []string{"a", "a#b", "#", "- x", "yes", "'", `"`, "a: b", "é", " ", "defaults", "{{x}}", "\t"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if !utf8.ValidString(name) {
			t.Skip()
		}
		if name != "" {
			ref := model.Ref{Type: "probe", Name: name}
			if back, ok := model.ParseRef(ref.String()); !ok || back != ref {
				t.Fatalf("ParseRef(%q) = %q, %v", ref.String(), back, ok)
			}
		}
		key, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		reference, err := json.Marshal("probe#" + name)
		if err != nil {
			t.Fatal(err)
		}
		if len(key) > 900 || strings.Contains(name, "${") || strings.Contains(name, "\ufeff") || strings.ContainsFunc(name, refused) || strings.TrimSuffix(name, "\n") != name || name == "" || name == "defaults" {
			t.Skip()
		}
		text := fmt.Sprintf("- probe:\n    - %s: {}\n    - other name: {require: %s}\n    - name: %s\n      alias: x\n      require: %s\n", key, reference, "third name", reference)
		if name == "other name" || name == "third name" || name == "x" {
			t.Skip()
		}
		m, problems, _ := manifests.Load(manifests.Source{Path: "m.yaml", Bytes: []byte(text)}, []model.Type{probeType})
		if m == nil {
			t.Fatalf("%s\n%s", text, problems)
		}
		if m.Resources[0].Name != name || len(m.Resources[1].Upstream) != 1 || m.Resources[2].Upstream[0].On != 0 {
			t.Errorf("%q became %+v", name, m.Resources[0])
		}
	})
}

// refused says whether a character cannot stand in a name, or not in YAML as it is.
func refused(r rune) bool {
	return r == '\n' || r == 0 || 0x7F <= r && r < 0xA0 || r == 0xFFFE || r == 0xFFFF
}
