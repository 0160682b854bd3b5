package manifests_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/manifests"
)

// Each problem and warning comes with its line, cut at its column, unless the
// line may hold what is not to be seen.
func TestExcerpts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       []string // "" where there is none
	}{
		{"a property", "- exec:\n    - é: {tries: 0}\n", []string{"    - é: {tries: |0}"}},
		{"a warning", "- exec:\n    - a:\n        command: echo $HOME\n", []string{"        command: |echo $HOME"}},
		{"both", "- exec:\n    - a: {command: echo *}\n    - b: {tries: 0}\n", []string{"    - b: {tries: |0}", "    - a: {command: |echo *}"}},
		{"no YAML", "- exec:\n    - a: {tries: @}\n", []string{"    - a: {tries: |@}"}},
		{"Windows line ends and a mark", "\ufeff- exec:\r\n    - a: {tries: 0}\r\n", []string{"    - a: {tries: |0}"}},
		{"nothing at all is in the line", "- exec:\n    - a:\n\t\n", []string{"|\t"}},
		{"a line that is too long", "- exec: [{a: {tries: 0, stdin: " + strings.Repeat("x", 2000) + "}}]\n", []string{""}},
		{"a secret beside it", "secrets: TOKEN\nresources:\n- exec:\n    - a: {command: x hunter22, tries: 0}\n", []string{"    - a: {command: x ***, tries: |0}"}},
		{"a secret that it cuts", "secrets: TOKEN\nresources:\n- exec:\n    - \"a: 1\": {tries: 0}\n", []string{""}},
		{"sensitive", "- exec:\n    - a:\n        command: x && y\n        sensitive: true\n    - b: {tries: 0}\n", []string{"", "    - b: {tries: |0}"}},
		{"sensitive, over several lines", "- exec:\n    - a:\n        sensitive: true\n        command: |\n          x\n          y\n\n        tries: 0\n    - b: {tries: 0}\n", []string{"", "", "    - b: {tries: |0}"}},
		{"sensitive by what is merged", "x-a: &a\n  sensitive: true\nresources:\n- exec:\n    - a: {<<: *a, command: x, tries: 0}\n", []string{""}},
		{"what sensitive merges", "x-a: &a\n  command: x && y\nresources:\n- exec:\n    - a: {<<: *a, sensitive: true}\n", []string{""}},
		{"not sensitive", "- exec:\n    - a: {command: x, sensitive: false, tries: 0}\n", []string{"    - a: {command: x, sensitive: false, tries: |0}"}},
		{"sensitive, badly", "- exec:\n    - a: {command: x, sensitive: yes, tries: 0}\n", []string{"", ""}},
		{"sensitive by default", "- exec:\n    - defaults: {sensitive: true}\n    - a: {command: x, tries: 0}\n", []string{""}},
		{"sensitive by the file's default", "defaults: {exec: {sensitive: true}}\nresources:\n- exec:\n    - a: {command: x, tries: 0}\n", []string{""}},
		{"sensitive somewhere in what is no YAML", "- exec:\n    - a: {sensitive: true}\n    - b: {tries: @}\n", []string{""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			src := manifests.Source{Path: "m.yaml", Bytes: []byte(tt.text), Environ: []string{"TOKEN=hunter22", "OTHER=a: 1"}}
			if tt.want[0] == "" && strings.Contains(tt.text, "a: 1") {
				src.Environ[0] = "TOKEN=a: 1\": {tries: 0"
			}
			_, problems, warnings := manifests.Load(src, execType())
			var got []string
			for _, p := range append(problems, warnings...) {
				x := p.Excerpt.Before + "|" + p.Excerpt.From
				if x == "|" {
					x = ""
				}
				got = append(got, x)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// The values that settle's environment gives to secrets are in nothing that is
// said, also where the manifest is too broken to say what is secret.
func TestSecretsOfTheEnvironmentAreRedacted(t *testing.T) {
	t.Parallel()
	const resources = "resources:\n- exec:\n  - a: {timeout: hunter22, hunter22: 1, require: exec#hunter22, cwd: $hunter22, command: \"$hunter22 x\"}\n  - hunter22 is it: {tries: 0}\n"
	for name, text := range map[string]string{
		"one":               "secrets: TOKEN\n" + resources,
		"a list":            "secrets:\n- OTHER\n- TOKEN\n" + resources,
		"an indented list":  "secrets:\n\n  - OTHER\n  # why\n  - TOKEN\n" + resources,
		"in brackets":       "secrets: [\n  OTHER,\n  TOKEN\n]\n" + resources,
		"only warnings":     "secrets: TOKEN\nresources:\n- exec:\n  - a: {cwd: $hunter22, command: \"$hunter22 x\"}\n",
		"a map":             "secrets: {TOKEN: x}\n" + resources,
		"a key twice":       "secrets: TOKEN\nsecrets: OTHER\n" + resources,
		"under ccm":         "ccm:\n  secrets: TOKEN\n  bogus: 1\nhunter22: 1\n",
		"no YAML":           "secrets: TOKEN\nhunter22\nresources: []\n",
		"no YAML, an alias": "secrets: TOKEN\nresources: *hunter22\n",
		"JSON":              `{"secrets": ["TOKEN"], "resources": "hunter22"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems, warnings := manifests.Load(manifests.Source{Path: "m.yaml", Bytes: []byte(text), Environ: []string{"PATH=/bin", "TOKEN=hunter22"}}, execType())
			said := append(problems, warnings...)
			if !strings.Contains(said.Error(), "***") {
				t.Errorf("nothing is hidden in\n%s", said.Error())
			}
			for _, p := range said {
				if strings.Contains(p.String()+p.Excerpt.Before+p.Excerpt.From, "hunter") {
					t.Errorf("%s\n%s%s", p, p.Excerpt.Before, p.Excerpt.From)
				}
			}
		})
	}
}

// What nobody would read costs neither time nor memory.
func TestExcessIsRefusedEarly(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for n := range 12_000 {
		fmt.Fprintf(&many, "  - r%d: {<<: *a}\n", n)
	}
	for _, tt := range []struct {
		name, text string
		problems   int
		last       string
	}{
		{"values", "[" + strings.Repeat("a,", 1_000_000) + "]", 1, "m.yaml:1:2000000: more than 1,000,000 values; split it into several manifests"},
		{"brackets", "[" + strings.Repeat("[],", 4_000_000) + "]", 1, "m.yaml:1:2250001: more than 1,000,000 values, by the brackets, commas, dashes and colons so far; split it into several manifests"},
		{"dashes", strings.Repeat("-\n", 6_000_000), 1, "m.yaml:1500001:1: more than 1,000,000 values, by the brackets, commas, dashes and colons so far; split it into several manifests"},
		{"keys in JSON", "{" + strings.Repeat(`"a":"b",`, 1_500_000) + "}", 1, "m.yaml:1:6000001: more than 1,000,000 values, by the brackets, commas, dashes and colons so far; split it into several manifests"},
		{"prose is no value", "x-text: |\n" + strings.Repeat("  a manifest, as a rule: a short one - it has few values.\n", 40_000) + "resources: x\n", 1, `m.yaml:40002:12: want a list of entries under resources, got "x"; begin each entry with a dash: "- exec:"`},
		{"problems", strings.Repeat("- x\n", 20_000), 10_001, `m.yaml:10000:3: want a type with its resources, got "x"; write the type first: "- exec:"`},
		{"the same problem", "x-a: &a {tries: 0}\nresources:\n- exec:\n" + many.String() + "  - last: {tries: x}\n", 2, `m.yaml:12004:19: exec#last: tries: want an integer of at least 1, got "x"`},
		{"documents", strings.Repeat("---\n", 20_000) + "x-a: b\n--- c\n--- d", 1, "m.yaml:20002:1: a second YAML document: only one is allowed; put it in a file of its own"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, problems := load("m.yaml", tt.text)
			if len(problems) != tt.problems {
				t.Fatalf("%d problems", len(problems))
			}
			if last := problems[len(problems)-1].String(); last != tt.last {
				t.Errorf("the last one is %s", last)
			}
			if len(problems) > 10_000 && problems[0].String() != "m.yaml: there are more: these are the first 10000" {
				t.Errorf("the first one is %s", problems[0])
			}
		})
	}
}
