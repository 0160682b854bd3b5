package manifests_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model"
)

// folder is a directory /srv as a manifest sees it: what it includes, by path.
type folder map[string]string

// load loads /srv/m.yaml, named so by somebody who stands in /srv.
func (f folder) load() (*model.Manifest, model.Problems, model.Problems) {
	src := manifests.Source{Path: "m.yaml", Dir: "/srv", Identity: "/srv/m.yaml", Bytes: []byte(f["m.yaml"])}
	src.Include = f.read
	return manifests.Load(src, execType())
}

func (f folder) read(path string) ([]byte, error) {
	text, ok := f[strings.TrimPrefix(path, "/srv/")]
	if !ok {
		return nil, errors.New("no such file or directory")
	}
	return []byte(text), nil
}

const bit = "- exec: [{%s: {command: /bin/true}}]\n"

func one(name string) string { return fmt.Sprintf(bit, name) }

func TestIncludedResources(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		folder
		want string // the resources in their order
	}{
		{"before the manifest's own, in order", folder{"m.yaml": "include: [b.yaml, a.yaml]\nresources:\n" + one("own"), "a.yaml": one("a"), "b.yaml": "resources:\n" + one("b")}, "b a own"},
		{"wherever include stands", folder{"m.yaml": "resources:\n" + one("own") + "include: a.yaml\n", "a.yaml": one("a")}, "a own"},
		{"one that is included by one that is", folder{"m.yaml": "include: [d/a.yaml, b.yaml]", "d/a.yaml": "include: [e/c.yaml, ../f.yaml]\nresources:\n" + one("a"), "d/e/c.yaml": one("c"), "f.yaml": one("f"), "b.yaml": one("b")}, "c f a b"},
		{"by an absolute path", folder{"m.yaml": "include: [/opt/x.yaml]", "/opt/x.yaml": one("x")}, "x"},
		{"none", folder{"m.yaml": "include: [a.yaml, b.yaml, c.yaml]\n", "a.yaml": "", "b.yaml": "# nothing\n", "c.yaml": "description: nothing\nx-y: {}\n"}, ""},
		{"no files", folder{"m.yaml": "include: []\nresources:\n" + one("own")}, "own"},
		{"references both ways", folder{"m.yaml": "include: a.yaml\nresources: [exec: [{own: {command: /bin/true, notify: exec#late}}]]", "a.yaml": "- exec: [{late: {command: /bin/true}}, {a: {command: /bin/true, require: exec#own}}]\n"}, "own late a"},
		{"ten deep", chain(10), "r10 r9 r8 r7 r6 r5 r4 r3 r2 r1 r0"},
		{"by an alias", folder{"m.yaml": "x-f: &f [a.yaml]\ninclude: *f\n", "a.yaml": one("a")}, "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, problems, warnings := tt.load()
			if m == nil || len(warnings) > 0 && tt.want != "" { // without a resource there is a warning
				t.Fatal(problems, warnings)
			}
			var got []string
			for _, n := range m.Order {
				got = append(got, m.Resources[n].Name)
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// chain is a manifest that includes a file that includes a file …, n deep.
func chain(n int) folder {
	f := folder{}
	for i := range n + 1 {
		name := fmt.Sprintf("f%d.yaml", i)
		if i == 0 {
			name = "m.yaml"
		}
		f[name] = fmt.Sprintf("include: f%d.yaml\nresources:\n%s", i+1, one(fmt.Sprintf("r%d", i)))
		if i == n {
			f[name] = one(fmt.Sprintf("r%d", i))
		}
	}
	return f
}

// aliases are more than half of those that a manifest may have.
var aliases = "x-a: &a [" + strings.Repeat("a,", 1000) + "]\nx-b: [" + strings.Repeat("*a,", 300) + "]\n"

func TestBadIncludes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		folder
		want string
	}{
		{"a missing file", folder{"m.yaml": "include: [a/b.yaml, /c.yaml]\n"}, "m.yaml:1:11: include: read \"a/b.yaml\": no such file or directory\nm.yaml:1:21: include: read \"/c.yaml\": no such file or directory"},
		{"what nothing expands", folder{"m.yaml": "include:\n- conf.d/*.yaml\n- ~/b.yaml\n"}, "m.yaml:2:3: include: read \"conf.d/*.yaml\": no such file or directory; name each file: nothing expands patterns here\nm.yaml:3:3: include: read \"~/b.yaml\": no such file or directory; write the whole path: nothing expands ~ here"},
		{"itself", folder{"m.yaml": "include: d/../m.yaml\n"}, "m.yaml:1:10: include: m.yaml includes itself"},
		{"each other", folder{"m.yaml": "include: d/a.yaml\n", "d/a.yaml": "description: a\ninclude:\n- ../b.yaml\n", "b.yaml": "include: [m.yaml]\n"}, "b.yaml:1:11: include: these files include each other:\n  m.yaml:1: m.yaml includes d/a.yaml\n  d/a.yaml:3: d/a.yaml includes b.yaml\n  b.yaml:1: b.yaml includes m.yaml"},
		{"a loop without the manifest", folder{"m.yaml": "include: a.yaml\n", "a.yaml": "include: b.yaml\n", "b.yaml": "include: a.yaml\n"}, "b.yaml:1:10: include: these files include each other:\n  a.yaml:1: a.yaml includes b.yaml\n  b.yaml:1: b.yaml includes a.yaml"},
		{"eleven deep", chain(11), "f10.yaml:1:10: include: files that include each other more than 10 deep"},
		{"a value", folder{"m.yaml": "include: [\"${var.x}.yaml\"]\nresources: [exec: [{x: {command: x, require: exec#y}}]]"}, "m.yaml:1:11: include: \"${var.x}.yaml\" cannot stand in include: the files of a manifest are always the same; include them all, and choose by when"},
		{"what is no path", folder{"m.yaml": "include: [[], {}, \"\", null]\n"}, "m.yaml:1:11: include: want a text, got a list\nm.yaml:1:15: include: want a text, got a map\nm.yaml:1:19: include: the text is empty\nm.yaml:1:23: include: want a text, got nothing"},
		{"no list", folder{"m.yaml": "include: {a: b}\n"}, "m.yaml:1:10: include: want a line of text or a list of them, got a map; quote the whole value if it is meant as text: \": \" and braces make it a map"},
		{"keys of the manifest", folder{"m.yaml": "include: a.yaml\n", "a.yaml": "name: x\nparallel: 0\nreources: []\n"}, "a.yaml:1:1: \"name\" belongs in the manifest that includes this file; move it to m.yaml\na.yaml:2:1: \"parallel\" belongs in the manifest that includes this file; move it to m.yaml\na.yaml:3:1: unknown key \"reources\"; did you mean \"resources\"?"},
		{"a CCM manifest", folder{"m.yaml": "include: a.yaml\nresources: [exec: [{x: {command: x, require: exec#y}}]]", "a.yaml": "ccm: {resources: [exec: [{y: {}}]]}\n"}, "a.yaml:1:1: a CCM manifest cannot be included; take the ccm key out and move what is under it to the left"},
		{"in a CCM manifest", folder{"m.yaml": "ccm: {include: [a.yaml]}\n"}, "m.yaml:1:7: unknown key \"include\"; a CCM manifest has no such key: put resources at the top instead of ccm"},
		{"no YAML", folder{"m.yaml": "include: a.yaml\nresources: [exec: [{x: {command: x, require: exec#y, tries: 0}}]]", "a.yaml": "- exec:\n\t- y: {}\n"}, "a.yaml:2:1: a tab in the indentation; use spaces\nm.yaml:2:61: exec#x: tries: want an integer of at least 1, got \"0\""},
		{"a text", folder{"m.yaml": "include: a.yaml\n", "a.yaml": "hello\n"}, "a.yaml:1:1: a manifest is a map or a list of entries, not \"hello\"; begin with \"resources:\""},
		{"one name in two files", folder{"m.yaml": "include: a.yaml\nresources:\n" + one("x"), "a.yaml": "\n" + one("x")}, "m.yaml:3:11: exec#x: already defined at a.yaml:2; give one of them another name"},
		{"a loop over files", folder{"m.yaml": "include: a.yaml\nresources: [exec: [{x: {command: x, require: exec#y}}]]", "a.yaml": "- exec: [{y: {command: y, require: exec#x}}]\n"}, "a.yaml:1:36: exec#y: require: these wait for each other:\n  a.yaml:1: exec#y requires exec#x\n  m.yaml:2: exec#x requires exec#y"},
		{"problems of several files", folder{"m.yaml": "include: [z.yaml, b.yaml]\nresources: [exec: [{x: {tries: 0}}]]", "z.yaml": "- exec: [{z: {tries: 0}}]", "b.yaml": "- exec:\n  - b: {tries: 0}\n  - c: {tries: x, require: exec#zz}"}, "b.yaml:2:16: exec#b: tries: want an integer of at least 1, got \"0\"\nb.yaml:3:16: exec#c: tries: want an integer of at least 1, got \"x\"\nb.yaml:3:28: exec#c: require: no resource exec#zz\nm.yaml:2:32: exec#x: tries: want an integer of at least 1, got \"0\"\nz.yaml:1:22: exec#z: tries: want an integer of at least 1, got \"0\""},
		{"more than a manifest may hold", folder{"m.yaml": "include: a.yaml", "a.yaml": strings.Repeat("#", entry.MaxSize)}, "m.yaml:1:10: include: the manifest is larger than 16 MiB with a.yaml; split it into several manifests"},
		{"more aliases than a manifest may have", folder{"m.yaml": "include: [a.yaml, b.yaml]", "a.yaml": aliases, "b.yaml": aliases}, "b.yaml:2:7: too many aliases: they stand for more values than a manifest may have"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, problems, _ := tt.load()
			if m != nil {
				t.Fatal("it loads")
			}
			if diff := cmp.Diff(tt.want, problems.Error()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for _, p := range problems {
				checkWords(t, p)
			}
		})
	}
}

// Where nothing reads files, a manifest that includes some says so.
func TestIncludeWithoutAReader(t *testing.T) {
	t.Parallel()
	if _, problems := load("m.yaml", "include: a.yaml"); problems.Error() != "m.yaml:1:10: include: include is not possible here" {
		t.Error(problems)
	}
}

// What holds for a whole file holds for that file; relative paths begin at it.
func TestIncludedFilesKeepTheirOwnDefaults(t *testing.T) {
	t.Parallel()
	f := folder{
		"m.yaml":     "clean_env: true\nsecrets: A\ninclude: d/a.yaml\ndefaults: {exec: {tries: 2}}\nresources:\n" + one("own"),
		"d/a.yaml":   "secrets: [B]\ninclude: e/b.yaml\ndefaults: {exec: {cwd: w, environment: {A: aaaa, B: bbbb}}}\nresources:\n" + one("a"),
		"d/e/b.yaml": "secrets: C\nresources: [exec: [{b: {command: /bin/true, creates: made, environment: [C=cccc]}}]]",
	}
	m, problems, _ := f.load()
	if m == nil {
		t.Fatal(problems)
	}
	type seen struct {
		Name, File, Cwd string
		Tries           int
	}
	var got []seen
	for _, r := range m.Resources {
		got = append(got, seen{r.Name, r.File, r.Spec.About().Cwd, r.Tries})
	}
	want := []seen{{"b", "d/e/b.yaml", "/srv/d/e", 1}, {"a", "d/a.yaml", "/srv/d/w", 1}, {"own", "m.yaml", "/srv", 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"A", "B", "C"}, slices.Sorted(slices.Values(m.Secrets))); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"aaaa", "bbbb", "cccc"}, slices.Sorted(slices.Values(m.SecretValues))); diff != "" {
		t.Errorf("their values (-want +got):\n%s", diff)
	}
}

// The hash is of all files: a saved plan does not outlive a change of any.
func TestHashOfAllFiles(t *testing.T) {
	t.Parallel()
	base := folder{"m.yaml": "include: [a.yaml, b.yaml]", "a.yaml": one("a"), "b.yaml": one("b")}
	m, problems, _ := base.load()
	if m == nil {
		t.Fatal(problems)
	}
	for name, text := range base {
		changed := folder{"m.yaml": base["m.yaml"], "a.yaml": base["a.yaml"], "b.yaml": base["b.yaml"]}
		changed[name] = text + "\n#"
		if other, problems, _ := changed.load(); other == nil || other.Hash == m.Hash {
			t.Errorf("%s changed and the hash did not: %v", name, problems)
		}
	}
}

// Excerpts are of the file that they are about, and without what must not be
// seen of that file; secrets are those of all files.
func TestExcerptsOfIncludedFiles(t *testing.T) {
	t.Parallel()
	f := folder{
		"m.yaml": "secrets: TOKEN\ninclude: [a.yaml, b.yaml]\nresources:\n- exec: [{own: {tries: 0}}]\n",
		"a.yaml": "\n\n\n- exec: [{a: {command: x hunter22, tries: 0}}]\n",
		"b.yaml": "\n\n\n- exec: [{b: {command: x, sensitive: true, tries: 0}}]\n",
	}
	src := manifests.Source{Path: "m.yaml", Dir: "/srv", Bytes: []byte(f["m.yaml"]), Environ: []string{"TOKEN=hunter22"}}
	src.Include = f.read
	_, problems, _ := manifests.Load(src, execType())
	var got []string
	for _, p := range problems {
		got = append(got, p.File+" "+p.Excerpt.Before+"|"+p.Excerpt.From)
	}
	want := []string{"a.yaml - exec: [{a: {command: x ***, tries: |0}}]", "b.yaml |", "m.yaml - exec: [{own: {tries: |0}}]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What cannot be read is said in the words of whoever reads.
func TestReaderErrors(t *testing.T) {
	t.Parallel()
	src := manifests.Source{Path: "-", Dir: "/srv", Bytes: []byte("include: x/a.yaml")}
	src.Include = func(path string) ([]byte, error) {
		if path != "/srv/x/a.yaml" {
			t.Errorf("asked for %s", path)
		}
		return nil, fs.ErrPermission
	}
	if _, problems, _ := manifests.Load(src, execType()); problems.Error() != "-:1:10: include: read \"x/a.yaml\": permission denied" {
		t.Error(problems)
	}
}

// A file that two files include is loaded once, where it is included first.
func TestFileOfTwoIncludesIsLoadedOnce(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.yaml": "include: c.yaml\nresources: [probe: [{a: {}}]]\n", "b.yaml": "\ninclude: [./c.yaml, ./c.yaml]\nresources: [probe: [{b: {}}]]\n",
		"c.yaml": "vars: {x: 1}\nresources: [probe: [{c: {text: \"${var.x}\"}}]]\n",
	}
	m, problems, _ := manifests.Load(withFiles(source("include: [a.yaml, b.yaml, c.yaml]\n"), files), []model.Type{fillingType})
	if m == nil {
		t.Fatal(problems)
	}
	var got []string
	for _, r := range m.Resources {
		got = append(got, r.Name)
	}
	if joined := strings.Join(got, " "); joined != "c a b" {
		t.Errorf("the resources are %s", joined)
	}
}
