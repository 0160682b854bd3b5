package manifests_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
)

// loadFiles loads a manifest of all types, for edges and what is wrong with them.
func loadFiles(text string) (*model.Manifest, model.Problems) {
	m, problems, _ := manifests.Load(manifests.Source{Path: "m.yaml", Dir: "/srv", Identity: "/srv/m.yaml", Bytes: []byte(text)}, types())
	return m, problems
}

// edges lists who waits for whom, with the property that says so.
func edges(m *model.Manifest) string {
	var list []string
	for i := range m.Resources {
		for _, e := range m.Resources[i].Upstream {
			list = append(list, fmt.Sprintf("%s %s %s", m.Resources[i].Name, e.By, m.Resources[e.On].Name))
		}
	}
	return strings.Join(list, ", ")
}

func TestResourceWaitsForItsDirectory(t *testing.T) {
	t.Parallel()
	const dir, link, gone = "{ensure: directory}", "{ensure: link, target: /b}", "{ensure: absent}"
	for _, row := range []struct{ name, files, want string }{
		{"in the order of the file", `[/a: ` + dir + `, /a/f: {}]`, "/a/f parent /a"},
		{"against it", `[/a/f: {}, /a: ` + dir + `]`, "/a/f parent /a"},
		{"the innermost, which waits for the next", `[/a/b/c/f: {}, /a/b: ` + dir + `, /a: ` + dir + `]`, "/a/b/c/f parent /a/b, /a/b parent /a"},
		{"a link may lead to a directory", `[/a: ` + link + `, /a/f: {}]`, "/a/f parent /a"},
		{"a link in a directory", `[/a: ` + dir + `, /a/l: ` + link + `]`, "/a/l parent /a"},
		{"a tree", `[/a: {source: src, recurse: true}, /a/f: {}]`, "/a/f parent /a"},
		{"what is only made when it is missing may be a directory by then", `[/a: {replace: false}, /a/f: {}]`, "/a/f parent /a"},
		{"by path", `[one: {path: /a/../a/, ensure: directory}, two: {path: /a/f}]`, "two parent one"},
		{"not a name that only begins alike", `[/a: ` + dir + `, /ab/f: {}, /a.d: {}]`, ""},
		{"not what is to be gone", `[/a: ` + dir + `, /a/f: ` + gone + `]`, ""},
		{"nor what is below it and to be gone as well", `[/a: ` + gone + `, /a/f: ` + gone + `, /a/d/f: ` + gone + `]`, ""},
		{"required already", `[/a: ` + dir + `, /a/f: {require: "file#/a"}]`, "/a/f require /a"},
		{"subscribed already", `[/a: ` + dir + `, /a/f: {subscribe: "file#/a"}]`, "/a/f subscribe /a"},
		{"said from the other end", `[/a: {ensure: directory, before: "file#/a/f"}, /a/f: {}]`, "/a/f before /a"},
		{"the other way round", `[/a: {ensure: directory, require: "file#/a/f"}, /a/f: {}]`, "/a require /a/f"},
		{"the other way round, over another", `[/a: {ensure: directory, require: "file#x"}, /a/f: {}, /a/g: {}, x: {path: /x, require: "file#/a/f"}]`,
			"/a require x, /a/g parent /a, x require /a/f"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m, problems := loadFiles("- file: " + row.files)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if got := edges(m); got != row.want {
				t.Errorf("edges %q, want %q", got, row.want)
			}
			checkOrder(t, m)
		})
	}
}

func TestProvisionWaitsForDirectoryOfItsFiles(t *testing.T) {
	t.Parallel()
	m, problems := loadFiles(`
- provision: [server: {helper: /bin/helper, directory: /etc/choria}]
- file: [/etc/choria: {ensure: directory}]
`)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got := edges(m); got != "server parent /etc/choria" {
		t.Errorf("edges %q", got)
	}
}

func TestPathBelowAFileIsRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ files, want string }{
		{`[/a: {ensure: absent, force: true}, /a/b/f: {}]`, "m.yaml:1:45: file#/a/b/f: /a/b/f is below /a, where file#/a at m.yaml:1 makes no directory"},
		{`[/a/f: {ensure: directory}, /a: {content: x}]`, "m.yaml:1:10: file#/a/f: /a/f is below /a, where file#/a at m.yaml:1 makes no directory"},
	} {
		_, problems := loadFiles("- file: " + row.files)
		if len(problems) != 1 || !strings.HasPrefix(problems[0].String(), row.want) {
			t.Errorf("%s: %v, want %s", row.files, problems, row.want)
		}
	}
}

func TestLongPathsHaveNoParent(t *testing.T) {
	t.Parallel()
	m, problems := loadFiles("- file: [/a: {ensure: directory}, deep: {path: /a" + strings.Repeat("/a", 200_000) + "}]")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got := edges(m); got != "" {
		t.Errorf("edges %q", got)
	}
}

func checkOrder(t *testing.T, m *model.Manifest) {
	t.Helper()
	place := map[int]int{}
	for i, n := range m.Order {
		place[n] = i
	}
	if len(place) != len(m.Resources) {
		t.Fatalf("order %v of %d resources", m.Order, len(m.Resources))
	}
	for n := range m.Resources {
		for _, e := range m.Resources[n].Upstream {
			if place[e.On] >= place[n] {
				t.Errorf("%s comes before %s", m.Resources[n].ID(), m.Resources[e.On].ID())
			}
		}
	}
}

// Whatever is required of directories and what is in them: where that has an
// order without parents, it has one with them, and keeps what is written.
func TestParentEdgesCloseNoCycle(t *testing.T) {
	t.Parallel()
	parents := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		paths := []string{"/a", "/a/b", "/a/b/c", "/a/b/c/d", "/a/e", "/f", "/f/g", "/h"}
		rng.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
		var text strings.Builder
		var want []string
		text.WriteString("- file:\n")
		for i, path := range paths {
			fmt.Fprintf(&text, "  - %s: {ensure: directory", path)
			var refs []string
			for _, on := range paths[:i] {
				if rng.IntN(4) == 0 {
					refs = append(refs, fmt.Sprintf("%q", "file#"+on))
					want = append(want, path+" require "+on)
				}
			}
			fmt.Fprintf(&text, ", require: [%s]}\n", strings.Join(refs, ", "))
		}
		m, problems := loadFiles(text.String())
		if len(problems) > 0 {
			t.Fatalf("seed %d: %v\n%s", seed, problems, text.String())
		}
		checkOrder(t, m)
		var got []string
		for _, edge := range strings.Split(edges(m), ", ") {
			if strings.Contains(edge, " parent ") {
				parents++
			} else if edge != "" {
				got = append(got, edge)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: -want +got:\n%s", seed, diff)
		}
	}
	if parents < 300 {
		t.Errorf("only %d edges were added in all", parents)
	}
}

func TestResourceThatIsOffHasNoPlace(t *testing.T) {
	t.Parallel()
	m, problems := loadFiles(`
- file:
    - gone: {path: /a, ensure: absent, force: true, when: "false"}
    - made: {path: /a, ensure: directory}
    - off: {path: /b/f, when: "false"}
    - file: {path: /b, content: x}
    - in it: {path: /a/f}
`)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got := edges(m); got != "in it parent made" {
		t.Errorf("edges %q", got)
	}
}
