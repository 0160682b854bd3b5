package manifests_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
)

// probe is a type with a property of every kind, whose specs keep what the
// loader made of them.
type probe struct {
	model.Spec
	ref    model.Ref
	values map[string]model.Value
}

func (p probe) Check(context.Context, model.Ask) (model.Decision, error) {
	return model.Decision{}, nil
}

var probeType = model.Type{
	Name: "probe", Meaning: "a type for tests",
	Properties: []model.Property{
		{Name: "text", Kind: model.Text}, {Name: "line", Kind: model.Line}, {Name: "bool", Kind: model.Bool},
		{Name: "int", Kind: model.Int}, {Name: "duration", Kind: model.Duration},
		{Name: "choice", Kind: model.Choice, Choices: []string{"true", "some", "false"}},
		{Name: "lines", Kind: model.Lines}, {Name: "dirs", Kind: model.PathList},
		{Name: "command", Kind: model.CommandLine}, {Name: "guards", Kind: model.CommandLines},
		{Name: "codes", Kind: model.Codes}, {Name: "unchanged", Kind: model.CodesOrTrue},
		{Name: "env", Kind: model.Environment}, {Name: "map", Kind: model.TextMap}, {Name: "any", Kind: model.AnyValue},
	},
	Decode: func(b *model.Body) model.Spec {
		values := map[string]model.Value{}
		for name, value := range b.Values {
			values[name] = value
		}
		return probe{ref: b.Ref, values: values}
	},
}

// probed loads a manifest of probes, written as the list under their type.
func probed(t *testing.T, resources string) map[string]map[string]model.Value {
	t.Helper()
	return probedFile(t, "- probe:\n"+strings.ReplaceAll("\n"+resources, "\n", "\n    ")+"\n")
}

func probedFile(t *testing.T, text string) map[string]map[string]model.Value {
	t.Helper()
	m, problems, _ := manifests.Load(manifests.Source{Path: "m.yaml", Dir: "/srv", Bytes: []byte(text)}, []model.Type{probeType})
	if m == nil {
		t.Fatalf("%s\n%s", text, problems.Error())
	}
	all := map[string]map[string]model.Value{}
	for _, r := range m.Resources {
		all[r.Name] = r.Spec.(probe).values
	}
	return all
}

// flat is a value as one text, to be read in a table.
func flat(v model.Value) string {
	var parts []string
	switch {
	case len(v.Pairs) > 0:
		for _, p := range v.Pairs {
			parts = append(parts, p.Key+"="+flat(p.Value))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case v.Shape == model.List:
		for _, item := range v.Items {
			parts = append(parts, flat(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return v.Text
}

func TestTextsAreTakenAsWritten(t *testing.T) {
	t.Parallel()
	for _, written := range []string{
		"yes", "on", "no", "y", "1e3", "0123", "0755", "1.10", "1.20", "2024-01-01", "true", "123", "680841e1", "0x1F", "1_000", ".inf", "12:30:45",
		"a: b", "a #b", "{}", "- x", "'", `"`, "é", "${HOME}", "{{.Names}}", "$USER", "~/x", "null", "", "*.go",
	} {
		quoted := "'" + strings.ReplaceAll(written, "'", "''") + "'"
		forms := []string{quoted}
		if plain(written) {
			forms = append(forms, written)
		}
		for _, form := range forms {
			got := probed(t, "- x:\n    text: "+form+"\n    any: ["+form+"]\n    map: {k: "+form+"}\n")["x"]
			for _, v := range []model.Value{got["text"], got["any"].Items[0], got["map"].Pairs[0].Value} {
				if v.Text != written {
					t.Errorf("%s became %q", form, v.Text)
				}
			}
		}
	}
}

// plain says whether a text means itself without quotes.
func plain(text string) bool {
	return text != "" && text != "null" && !strings.ContainsAny(text[:1], "{-'\"*$~") && !strings.Contains(text, ": ") && !strings.Contains(text, " #")
}

func TestEveryKindOfValue(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		yaml     string
		property string
		want     string
	}{
		{"line: |\n  /tmp\n", "line", "/tmp"},
		{"line: >\n  /a\n  b\n", "line", "/a b"},
		{"lines: x", "lines", "x"},
		{"lines: [x, 1.10, yes]", "lines", "[x,1.10,yes]"},
		{"lines: []", "lines", "[]"},
		{"dirs: /a:/b", "dirs", "/a:/b"},
		{"dirs:\n  - |\n    /a\n", "dirs", "[/a]"},
		{"command: |\n  a\n  b\n", "command", "a\nb\n"},
		{"command: [a, 'b c', '', 010]", "command", "[a,b c,,010]"},
		{"guards: [a b, \"c\\nd\"]", "guards", "[a b,c\nd]"},
		{"codes: [0, 255]", "codes", "[0,255]"},
		{"env: [A=yes, B==, 'C=a b']", "env", "{A=yes,B==,C=a b}"},
		{"env: {A: yes, B: 0755, C: 1e3, D: 1.10, E: 2024-01-02, F: true}", "env", "{A=yes,B=0755,C=1e3,D=1.10,E=2024-01-02,F=true}"},
		{"map: {b: 1, a: '', c: 2}", "map", "{b=1,a=,c=2}"},
		{"any: {a: [1, {b: ~}]}", "any", "{a=[1,{b=~}]}"},
		{"choice: true", "choice", "true"},
		{"choice: 'true'", "choice", "true"},
		{"choice: some", "choice", "some"},
	} {
		t.Run(tt.yaml, func(t *testing.T) {
			t.Parallel()
			got := probed(t, "- x:\n    "+strings.ReplaceAll(tt.yaml, "\n", "\n    "))["x"]
			if got := flat(got[tt.property]); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestTypedValues(t *testing.T) {
	t.Parallel()
	got := probed(t, "- x: {bool: true, int: -5, duration: 1d12h, codes: [3, 0], unchanged: true}\n- y: {bool: false, int: 0, duration: 0, unchanged: [2]}\n- z: {unchanged: false}\n")
	x, y, z := got["x"], got["y"], got["z"]
	if !x["bool"].Bool || x["int"].Int != -5 || x["duration"].Duration != 36*time.Hour || x["codes"].Items[0].Int != 3 || !x["unchanged"].Bool {
		t.Errorf("x is %+v", x)
	}
	if y["bool"].Bool || y["int"].Int != 0 || y["duration"].Duration != 0 || y["unchanged"].Bool || y["unchanged"].Items[0].Int != 2 {
		t.Errorf("y is %+v", y)
	}
	if z["unchanged"].Bool || len(z["unchanged"].Items) != 0 {
		t.Errorf("z is %+v", z)
	}
	if !probed(t, "- x: {text: 'yes'}\n")["x"]["text"].Quoted || probed(t, "- x: {text: yes}\n")["x"]["text"].Quoted {
		t.Error("Quoted does not tell quotes")
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	got := probedFile(t, `
defaults: {probe: {text: file, lines: [a, b], int: 1}}
resources:
  - probe:
      - defaults: {text: list, line: list}
      - a:
      - b: {text: own, lines: [c]}
  - probe:
      - c: {int: 2}
  - probe: {name: d, line: own}
`)
	for name, want := range map[string]string{
		"a": "text=list lines=[a,b] int=1 line=list",
		"b": "text=own lines=[c] int=1 line=list",
		"c": "text=file lines=[a,b] int=2 line=",
		"d": "text=file lines=[a,b] int=1 line=own",
	} {
		v := got[name]
		if line := "text=" + flat(v["text"]) + " lines=" + flat(v["lines"]) + " int=" + flat(v["int"]) + " line=" + flat(v["line"]); line != want {
			t.Errorf("%s: %s, want %s", name, line, want)
		}
	}
	if !got["a"]["text"].Default || got["b"]["text"].Default {
		t.Error("Default does not tell where a value came from")
	}
}

func TestMergeKeys(t *testing.T) {
	t.Parallel()
	got := probedFile(t, `
x-a: &a {text: a, line: a, int: 1}
x-b: &b {<<: *a, text: b, lines: [b]}
x-t: &t some text
resources:
  - probe:
      - own: {text: own, <<: *a}
      - order: {<<: [*b, *a]}
      - twice: {<<: *b, line: own, choice: true}
      - whole: *b
      - alias: {text: *t, lines: [*t, *t]}
`)
	for name, want := range map[string]string{
		"own": "own a 1 ", "order": "b a 1 [b]", "twice": "b own 1 [b]", "whole": "b a 1 [b]", "alias": "some text   [some text,some text]",
	} {
		v := got[name]
		if line := flat(v["text"]) + " " + flat(v["line"]) + " " + flat(v["int"]) + " " + flat(v["lines"]); line != want {
			t.Errorf("%s: %q, want %q", name, line, want)
		}
	}
}

func TestLineEndsChangeNothing(t *testing.T) {
	t.Parallel()
	const text = `- probe:
    - x:
        command: |
          a
          b
        text: "two
          lines"
        line: >
          folded
          text
        guards:
          - |
            c
        any: {a: 'x

          y'}
    - y: {text: "a\rb\
        c"}
`
	want := probedFile(t, text)
	crlf := strings.ReplaceAll(text, "\n", "\r\n")
	for name, other := range map[string]string{"CRLF": crlf, "a mark": "\ufeff" + text, "both": "\ufeff" + crlf} {
		if diff := cmp.Diff(want, probedFile(t, other)); diff != "" {
			t.Errorf("%s (-without +with):\n%s", name, diff)
		}
	}
}
