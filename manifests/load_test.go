package manifests_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/resources"
)

var update = flag.Bool("update", false, "write the expected texts beside the manifests anew")

// types are all there are; most tests only need exec, whatever else comes.
func types() []model.Type { return resources.Types(resources.World{}) }

func execType() []model.Type {
	return slices.DeleteFunc(types(), func(t model.Type) bool { return t.Name != "exec" })
}

func load(name, text string) (*model.Manifest, model.Problems) {
	m, problems, _ := loadAll(name, text)
	return m, problems
}

// loadAll returns the warnings too.
func loadAll(name, text string) (m *model.Manifest, problems, warnings model.Problems) {
	return manifests.Load(manifests.Source{Path: name, Dir: "/srv", Identity: "/srv/" + name, Bytes: []byte(text)}, execType())
}

// files returns the manifests of a folder of testdata, by name.
func files(t testing.TB, folder string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../testdata/manifests/" + folder + "/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no manifests in %s: %v", folder, err)
	}
	texts := map[string]string{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(path)] = string(data)
	}
	return texts
}

// golden compares a text with the one that stands beside a manifest.
func golden(t *testing.T, folder, name, got string) {
	t.Helper()
	path := filepath.Join("../testdata/manifests", folder, strings.TrimSuffix(name, ".yaml")+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestGoodManifestsLoadSilently(t *testing.T) {
	t.Parallel()
	for name, text := range files(t, "ok") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, problems, warnings := loadAll(name, text)
			if m == nil {
				t.Fatalf("problems:\n%s", problems.Error())
			}
			if len(warnings) > 0 {
				t.Errorf("warnings:\n%s", warnings.Error())
			}
		})
	}
}

func TestBadManifestsAreExplained(t *testing.T) {
	t.Parallel()
	bad := files(t, "bad")
	if len(bad) < 60 {
		t.Errorf("only %d bad manifests", len(bad))
	}
	for name, text := range bad {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, problems := load(name, text)
			if m != nil || len(problems) == 0 {
				t.Fatal("it loads")
			}
			golden(t, "bad", name, problems.Error()+"\n")
			for _, p := range problems {
				checkWords(t, p)
			}
		})
	}
}

func TestDoubtfulManifestsGetWarnings(t *testing.T) {
	t.Parallel()
	for name, text := range files(t, "doubtful") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, problems, warnings := loadAll(name, text)
			if m == nil {
				t.Fatalf("problems:\n%s", problems.Error())
			}
			golden(t, "doubtful", name, warnings.Error()+"\n")
			for _, p := range warnings {
				checkWords(t, p)
			}
		})
	}
}

// checkWords keeps the vocabulary of our tools out of what people read.
func checkWords(t *testing.T, p model.Problem) {
	t.Helper()
	if p.Line == 0 && !strings.Contains(p.Message, "the file is ") && !strings.Contains(p.Message, "16 MiB") {
		t.Errorf("%s: no line", p)
	}
	for _, word := range []string{"!!", "json", "JSON", "unmarshal", "yaml: ", "scalar", "node", "mapping", "sequence", "indicator", "token", "anchor", "[]string", "map[", "<nil>", "strconv", "goroutine"} {
		if strings.Contains(p.Message+p.Suggestion, word) {
			t.Errorf("%s: a person need not know the word %q", p, word)
		}
	}
	if first := p.Message[0]; 'A' <= first && first <= 'Z' && !strings.HasPrefix(p.Message, "G ") && !strings.HasPrefix(p.Message, "A ") {
		t.Errorf("%s: begins with a capital", p)
	}
}

func TestNameOfInvalidManifest(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"name: web\nresurces: []\n", "web"},
		{"resources:\n  - exec: {name: x, comand: y}\nname: 007\n", "007"},
		{"name: null\nx: 1\n", ""},
		{"name: [web]\n", ""},
		{"name: |\n  web\n", ""},
		{"x: 1\n", ""},
		{"a: &a\n  <<: *a\n<<: *a\nname: web\n", "web"},
		{"- exec: {name: x}\n", ""},
		{"name: web\n\tx: [\n", ""},
		{"", ""},
	} {
		if got := manifests.Name(manifests.Source{Path: "m.yaml", Bytes: []byte(tt.text)}); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

// Whose state is meant can be known of a manifest that is wrong in other places.
func TestIdentify(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, name, identity, problems string }{
		{"name: web\nresurces: []\ninclude: none.yaml\nparallel: x\n", "web", "web", ""},
		{"resources: x\n", "", "/srv/m.yaml", ""},
		{"- exec: {name: x}\n", "", "/srv/m.yaml", ""},
		{"", "", "/srv/m.yaml", ""},
		{"ccm: {name: x}\nname: y\n", "", "/srv/m.yaml", ""},
		{"name: y\nccm: {}\n", "", "/srv/m.yaml", ""},
		{"name: [web]\nx: 1\n", "", "", "m.yaml:1:7: name: want one line of text, got a list"},
		{"name: web\n\tx: [\n", "", "", "m.yaml:2:1: a tab in the indentation; use spaces"},
	} {
		m, problems := manifests.Identify(manifests.Source{Path: "m.yaml", Identity: "/srv/m.yaml", Bytes: []byte(tt.text)})
		switch {
		case tt.problems != "":
			if m != nil || problems.Error() != tt.problems {
				t.Errorf("%q: %v, %v; want %s", tt.text, m, problems, tt.problems)
			}
		case m == nil || m.Name != tt.name || m.Identity != tt.identity:
			t.Errorf("%q: %+v, %v; want %q, %q", tt.text, m, problems, tt.name, tt.identity)
		}
	}
}
