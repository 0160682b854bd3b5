package manifests_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
)

// A later source replaces an earlier one: the default, the environment, a file, --var.
// A text becomes a value of the declared type.
func TestSourcesOfVariables(t *testing.T) {
	t.Parallel()
	const text = `vars: {a: 1, list: [x], yes: {type: bool}, word: {default: w, enum: [w, v]}, map: {k: 1}, typed: {type: int, default: "${env.COUNT}"}}
resources:
- probe:
  - x: {any: ["${var.a}", "${var.list}", "${var.yes:-none}", "${var.word}", "${var.map}", "${var.typed}"]}
`
	given := func(pairs ...string) []manifests.Given {
		var list []manifests.Given
		for _, p := range pairs {
			key, value, _ := strings.Cut(p, "=")
			list = append(list, manifests.Given{Key: key, Text: value})
		}
		return list
	}
	file := func(text string) manifests.ValueFile {
		return manifests.ValueFile{Path: "v.yaml", Bytes: []byte(text)}
	}
	for _, tt := range []struct {
		name     string
		in       manifests.Inputs
		environ  []string
		want     string
		warnings string
	}{
		{name: "defaults", want: "[1,[x],none,w,{k=1},3]"},
		{name: "--var", in: manifests.Inputs{Vars: given("a=2", "list=p, q", "yes=true", "word=v", "a=3")}, want: "[3,[p,q],true,v,{k=1},3]"},
		{name: "a list as YAML", in: manifests.Inputs{Vars: given(`list=["p, q", 3, r]`)}, want: "[1,[p, q,3,r],none,w,{k=1},3]"},
		{name: "a file", in: manifests.Inputs{Vars: given("a=2"), VarFiles: []manifests.ValueFile{file("{a: 4, word: v}"), file(`{"a": 5, "map": {"z": [true]}}`)}}, want: "[2,[x],none,v,{z=[true]},3]"},
		{name: "the environment", environ: []string{"SETTLE_VAR_a=6", "SETTLE_VAR_word=v", "SETTLE_VAR_other=7"}, want: "[6,[x],none,v,{k=1},3]"},
		{name: "a file over the environment", in: manifests.Inputs{VarFiles: []manifests.ValueFile{file("a: 4")}}, environ: []string{"SETTLE_VAR_a=6", "SETTLE_VAR_word=v"}, want: "[4,[x],none,v,{k=1},3]"},
		{name: "a later file", in: manifests.Inputs{VarFiles: []manifests.ValueFile{file("a: 4"), file("a: 5")}}, want: "[5,[x],none,w,{k=1},3]"},
		{name: "--var over all", in: manifests.Inputs{Vars: given("a=2"), VarFiles: []manifests.ValueFile{file("a: 4")}}, environ: []string{"SETTLE_VAR_a=6"}, want: "[2,[x],none,w,{k=1},3]"},
		{name: "the environment, nearly", environ: []string{"SETTLE_VAR_WORD=v", "SETTLE_VAR_typd=7"}, want: "[1,[x],none,w,{k=1},3]",
			warnings: "SETTLE_VAR_WORD: vars: no variable is called WORD; did you mean \"SETTLE_VAR_word\"?\nSETTLE_VAR_typd: vars: no variable is called typd; did you mean \"SETTLE_VAR_typed\"?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			src := source(text)
			src.Inputs, src.Environ = tt.in, append(src.Environ, tt.environ...)
			m, problems, warnings := manifests.Load(src, []model.Type{fillingType})
			if m == nil {
				t.Fatal(problems)
			}
			if got := flat(m.Resources[0].Spec.(probe).values["any"]); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if diff := cmp.Diff(tt.warnings, warnings.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestGivenValuesThatAreWrongAreRefused(t *testing.T) {
	t.Parallel()
	const text = "vars: {count: 1, stage: {enum: [test, live]}, key: {type: string}, list: [a]}\nresources: []\n"
	for _, tt := range []struct {
		name string
		in   manifests.Inputs
		want string
	}{
		{"an unknown variable", manifests.Inputs{Vars: []manifests.Given{{Key: "conut", Text: "1"}, {Key: "zzzzz", Text: "1"}}},
			`--var: vars: the manifest declares no variable "conut"; did you mean "count"?` + "\n" + `--var: vars: the manifest declares no variable "zzzzz"; declare it under vars`},
		{"a wrong type", manifests.Inputs{Vars: []manifests.Given{{Key: "count", Text: "many"}}}, `--var: vars: count: want an integer, got "many"`},
		{"not in enum", manifests.Inputs{Vars: []manifests.Given{{Key: "stage", Text: "tset"}}}, `--var: vars: stage: "tset" is not in its enum; did you mean "test"?`},
		{"a broken list", manifests.Inputs{Vars: []manifests.Given{{Key: "list", Text: "[a, *b]"}}}, `--var: vars: list: want a list, got "[a, *b]"`},
		{"a file", manifests.Inputs{VarFiles: []manifests.ValueFile{{Path: "v.yaml", Bytes: []byte("count: many\nkey: [a]\nstagee: x\nlist: null\n")}}},
			`v.yaml:1:8: vars: count: want an integer, got "many"` + "\n" + `v.yaml:2:6: vars: key: want a text, got a list` + "\n" + `v.yaml:3:1: vars: the manifest declares no variable "stagee"; did you mean "stage"?` + "\n" + `v.yaml:4:7: null is not allowed here; leave it out, or write "" for an empty text`},
		{"a file that is no map", manifests.Inputs{VarFiles: []manifests.ValueFile{{Path: "v.yaml", Bytes: []byte("- a\n")}}}, "v.yaml:1:1: a file of values is a map, not a list; write NAME: VALUE"},
		{"a file that is no YAML", manifests.Inputs{VarFiles: []manifests.ValueFile{{Path: "v.yaml", Bytes: []byte("a: @x\n")}}}, "v.yaml:1:4: "},
		{"an unknown fact", manifests.Inputs{Facts: []manifests.Given{{Key: "oss", Text: "x"}, {Key: "cpus", Text: "x"}}}, `--fact: cpus: want a number, got "x"` + "\n" + `--fact: no fact is called "oss"; did you mean "os"?`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			src := source(text)
			src.Inputs = tt.in
			_, problems, _ := manifests.Load(src, []model.Type{fillingType})
			if !strings.HasPrefix(problems.Error(), tt.want) || len(problems) != 1+strings.Count(tt.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", problems.Error(), tt.want)
			}
		})
	}
}

// The machine is asked once, and only when something wants to know it.
func TestFactsAreGatheredWhenAskedFor(t *testing.T) {
	t.Parallel()
	asked := 0
	load := func(text string, facts ...manifests.Given) (*model.Manifest, model.Problems) {
		asked = 0
		src := source(text)
		src.Facts = facts
		src.FactFiles = []manifests.ValueFile{{Path: "f.yaml", Bytes: []byte("{family: debian, interfaces: {eth0: {mtu: 9000}, lo: {mtu: 1}}}")}}
		host := src.Host
		src.Host = func() (map[string]any, error) { asked++; return host() }
		m, problems, _ := manifests.Load(src, []model.Type{fillingType})
		return m, problems
	}
	if m, problems := load("vars: {a: \"${host.os}\"}\nresources: [{probe: [{x: {text: \"$${host.os}\"}}]}]"); asked != 0 || m == nil {
		t.Errorf("asked %d times for nothing: %v", asked, problems)
	}
	m, problems := load("resources: [{probe: [{x: {text: \"${host.os} ${host.family} ${host.interfaces.eth0.mtu} ${host.interfaces.lo.mtu} ${host.interfaces.eth0.addresses.0} ${host.cpus}\"}}]}]", manifests.Given{Key: "os", Text: "darwin"}, manifests.Given{Key: "interfaces.eth0.mtu", Text: "1400"})
	if m == nil || asked != 1 {
		t.Fatalf("asked %d times: %v", asked, problems)
	}
	if got := m.Resources[0].Spec.(probe).values["text"].Text; got != "darwin debian 1400 1 10.0.0.1 4" {
		t.Error(got)
	}
	src := source("- probe: [{x: {text: \"${host.os}${host.cpus}\"}}]")
	src.Host = func() (map[string]any, error) { return nil, errors.New("no /proc") }
	if _, problems, _ := manifests.Load(src, []model.Type{fillingType}); problems.Error() != "m.yaml:1:22: probe#x: text: find out the facts of this machine: no /proc; give those that are needed with --fact NAME=VALUE" {
		t.Error(problems)
	}
}

// FuzzGiven gives anything as values and as facts: it must be said to be wrong,
// or be there as it is.
func FuzzGiven(f *testing.F) {
	f.Add("x", "x: a\nlist: [b]\n", "os: x\n")
	f.Add("[a, b]", `{"x": "a", "map": {"a": [1, true, null]}}`, `{"interfaces": {"eth0": {"mtu": 1}}}`)
	f.Add("[a, *b", "a: &a [*a]\n", "- x\n")
	f.Fuzz(func(t *testing.T, text, file, facts string) {
		src := source("vars: {x: '', list: [], map: {type: map}}\nresources: [{probe: [{p: {text: \"${var.x}\", any: [\"${var.list}\", \"${var.map:-}\", \"${host.interfaces:-}\"]}}]}]\n")
		src.Vars = []manifests.Given{{Key: "x", Text: text}, {Key: "list", Text: text}}
		if file != "" {
			src.VarFiles = []manifests.ValueFile{{Path: "v.yaml", Bytes: []byte(file)}}
		}
		src.FactFiles = []manifests.ValueFile{{Path: "f.yaml", Bytes: []byte(facts)}}
		m, problems, _ := manifests.Load(src, []model.Type{fillingType})
		if (m == nil) == (len(problems) == 0) {
			t.Fatalf("manifest %v beside problems %v", m, problems)
		}
		if m != nil && file == "" && m.Resources[0].Spec.(probe).values["text"].Text != text {
			t.Errorf("%q became %q", text, m.Resources[0].Spec.(probe).values["text"].Text)
		}
	})
}
