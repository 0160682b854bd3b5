package manifests_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
)

func TestConditionTurnsResourceOff(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"nothing said", "", ""},
		{"true", "when: true", ""},
		{"false", "when: false", "skipped (when): false"},
		{"a condition that holds", `when: env.CI == "true"`, ""},
		{"one that does not", `when: env.CI == ""`, `skipped (when): env.CI == ""`},
		{"on several lines", "when: |\n              env.CI ==\n              \"\"\n", `skipped (when): env.CI == ""`},
		{"if", "control: {if: env.NO}", ""},
		{"if not", `control: {if: env.NO != ""}`, `skipped (control.if): env.NO != ""`},
		{"unless", `control: {unless: env.CI == "true"}`, `skipped (control.unless): env.CI == "true"`},
		{"unless not", `control: {unless: env.NO == "true"}`, ""},
		{"both", `control: {if: env.CI != "", unless: env.NO != ""}`, ""},
		{"the first that says no", "when: env.NO != env.CI\n          control: {if: true, unless: true}", "skipped (control.unless): true"},
		{"own over default", "when: true", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := "- exec:\n    - a:\n          command: /bin/true\n          " + strings.ReplaceAll(tt.text, "env.NO}", `env.NO == ""}`) + "\n"
			if tt.name == "own over default" {
				text = strings.Replace(text, "    - a", "    - defaults: {when: false}\n    - a", 1)
			}
			m, problems, _ := manifests.Load(manifests.Source{Path: "m.yaml", Bytes: []byte(text), Environ: []string{"CI=true", "NONE=x"}}, execType())
			if m == nil {
				t.Fatal(problems)
			}
			if got := m.Resources[0].Off; got != tt.want {
				t.Errorf("off: %q, want %q", got, tt.want)
			}
		})
	}
}

// machine is what conditions are asked of.
func machine(text string, vars bool) manifests.Source {
	src := manifests.Source{Path: "m.yaml", Bytes: []byte(text), Environ: []string{"CI=true"}}
	if vars {
		src.Vars = []manifests.Given{{Key: "size", Text: "3"}}
	}
	src.Facts = []manifests.Given{{Key: "memory_mb", Text: "512"}}
	src.Host = func() (map[string]any, error) {
		return map[string]any{"os": "linux", "cpus": 4, "interfaces": map[string]any{"eth0": map[string]any{"mtu": 1500}}}, nil
	}
	return src
}

const varsOfWhen = `vars:
  size: 1
  sites: [a, b]
  site: {port: 80, tls: true}
  half: {type: string}
  other: ${var.size}
`

func TestConditionsOverValues(t *testing.T) {
	t.Parallel()
	for condition, want := range map[string]string{
		`var.size == 3`: "",
		`var.size == 1`: "skipped (when): var.size == 1",
		`int(var.other) == 3 and "a" in var.sites`: "",
		`var.site.tls and var.site.port in 1..99`:  "",
		`host.os == "linux" and host.cpus > 2`:     "",
		`host.memory_mb > 1000`:                    "skipped (when): host.memory_mb > 1000",
		`host.interfaces.eth0.mtu == 1500`:         "",
		`any(var.sites, # == host.os)`:             "skipped (when): any(var.sites, # == host.os)",
	} {
		m, problems, _ := manifests.Load(machine(varsOfWhen+"resources: [exec: [{a: {command: /bin/true, when: '"+condition+"'}}]]\n", true), execType())
		if m == nil {
			t.Errorf("%s: %v", condition, problems)
			continue
		}
		if got := m.Resources[0].Off; got != want {
			t.Errorf("%s: off %q, want %q", condition, got, want)
		}
		if len(m.Resources[0].Values) == 0 {
			t.Errorf("%s: no values are told", condition)
		}
	}
	for condition, want := range map[string]string{
		`var.sice == 3`:             `var.sice is not defined; did you mean var.size?`,
		`var.site.prt == 80`:        `var.site has no key "prt"; did you mean "port"?`,
		`var.half == ""`:            `the variable half has no value; give it with --var half=…, or a default`,
		`host.kernel == ""`:         `this machine does not say host.kernel; give it with --fact kernel=…`,
		`host.cpu > 3`:              `host.cpu is not defined; did you mean host.cpus?`,
		`host.os == 3`:              `"==" does not go with a text and an integer; int(…) turns a text into a number, string(…) a number into a text`,
		`each.key == 3`:             `each is only available with for_each`,
		`${var.size} == 3`:          `a condition names values without ${}; write var.NAME == "x"`,
		`lookup("data.size") == 3 `: `unknown function "lookup" in a condition; write var.size`,
	} {
		_, problems, _ := manifests.Load(machine(varsOfWhen+"resources: [exec: [{a: {command: /bin/true, when: '"+condition+"'}}]]\n", true), execType())
		if len(problems) != 1 || problems[0].Message+"; "+problems[0].Suggestion != want && problems[0].Message != want {
			t.Errorf("%s: %v; want %s", condition, problems, want)
		}
	}
}

// Where it can be told, a problem stands at the word that is wrong.
func TestPlaceWithinACondition(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ when, from string }{
		"plain":             {`env.É == "é" or vars.x`, "vars.x"},
		"single quotes":     {`'env.É == "é" or vars.x'`, "vars.x'"},
		"double quotes":     {`"env.É == 'é' or vars.x"`, `vars.x"`},
		"literal":           {"|\n            env.É == 'é'\n              or vars.x\n", "vars.x"},
		"literal, stripped": {"|-\n            env.É == 'é' or vars.x", "vars.x"},
		"folded, one line":  {">\n            env.É == 'é' or vars.x\n", "vars.x"},
		"folded":            {">\n            env.É == 'é'\n            or vars.x\n", ">"},
		"plain, two lines":  {"env.É == 'é'\n            or vars.x", "env.É == 'é'"},
		"escaped quotes":    {`'env.É == ''é'' or vars.x'`, `'env.É == ''é'' or vars.x'`},
		"an anchor":         {`&a env.É == 'é' or vars.x`, `&a env.É == 'é' or vars.x`},
		"a comment":         {`vars.x  # why`, "vars.x  # why"},
	} {
		_, problems, _ := manifests.Load(machine("- exec:\n    - a:\n          command: /bin/true\n          when: "+tt.when+"\n", false), execType())
		if len(problems) != 1 || problems[0].Excerpt.From != tt.from {
			t.Errorf("%s: %v, at %q; want %q", name, problems, problems[0].Excerpt.From, tt.from)
		}
	}
}

// Each item of for_each has its own answer.
func TestConditionsOverItems(t *testing.T) {
	t.Parallel()
	m, problems, _ := manifests.Load(machine(`
- exec:
    - defaults: {when: each.value.on}
    - "r${each.key}":
        for_each: {a: {on: true}, b: {on: false}, c: {on: true}}
        command: /bin/true
        control: {unless: 'each.key == "c"'}
`, false), execType())
	if m == nil {
		t.Fatal(problems)
	}
	var got []string
	for _, r := range m.Resources {
		got = append(got, r.Name+" "+r.Off)
	}
	if _, problems, _ := manifests.Load(machine(`
- exec:
    - defaults: {when: each.value}
    - "r${each.key}": {for_each: [true], command: /bin/true}
    - other: {command: /bin/true}
`, false), execType()); len(problems) != 1 {
		t.Errorf("where there is no item: %v", problems)
	}
	want := []string{"ra ", "rb skipped (when): each.value.on", `rc skipped (control.unless): each.key == "c"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What is for other machines may name what is only there; a saved plan is of the
// machine that it was made on.
func TestResourceThatIsOffNeedsNoValues(t *testing.T) {
	t.Parallel()
	load := func(environ ...string) (*model.Manifest, model.Problems) {
		src := machine("- exec:\n    - a: {command: 'echo ${env.TOKEN}', when: 'env.DEPLOY != \"\"'}\n", false)
		src.Environ = environ
		m, problems, _ := manifests.Load(src, execType())
		return m, problems
	}
	off, problems := load()
	if off == nil || off.Resources[0].Off == "" {
		t.Fatalf("%v", problems)
	}
	if m, problems := load("DEPLOY=1"); m != nil || !strings.Contains(problems.Error(), "the environment has no TOKEN") {
		t.Errorf("%v", problems)
	}
	on, problems := load("DEPLOY=1", "TOKEN=x")
	if on == nil || on.Hash == off.Hash {
		t.Errorf("one hash for both: %v", problems)
	}
}

// A host is asked for its facts only where a condition names one, and only once.
func TestFactsForConditions(t *testing.T) {
	t.Parallel()
	for condition, want := range map[string]int{`env.CI == "true"`: 0, `host.os == "x" or host.cpus > 2`: 1} {
		asked := 0
		src := machine("- exec:\n    - a: {command: /bin/true, when: '"+condition+"'}\n    - b: {command: /bin/true, when: 'not ("+condition+")'}\n", false)
		src.Host = func() (map[string]any, error) { asked++; return nil, errors.New("no such machine") }
		_, problems, _ := manifests.Load(src, execType())
		if asked != want || (len(problems) == 0) != (want == 0) {
			t.Errorf("%s: asked %d times, %v", condition, asked, problems)
		}
	}
}

// Two resources may write one path where only one is for this machine.
func TestOneFileForEachMachine(t *testing.T) {
	t.Parallel()
	const text = "- file:\n    - a: {path: /srv/x, content: a, when: %}\n    - b: {path: /srv/x, content: b, when: 'true'}\n"
	for when, want := range map[string]string{
		"false": "",
		"true":  "m.yaml:3:17: file#b: path: /srv/x is already declared by file#a at m.yaml:2; declare all of it in one place",
	} {
		_, problems, _ := manifests.Load(manifests.Source{Path: "m.yaml", Bytes: []byte(strings.Replace(text, "%", when, 1))}, types())
		if got := problems.Error(); got != want {
			t.Errorf("when: %s: %s, want %q", when, got, want)
		}
	}
}

// A value that a variable needs and that is missing was reported by the first
// resource that used the variable only: not at all when that one was off.
func TestMissingValueBehindVariableIsReportedByEveryUser(t *testing.T) {
	t.Parallel()
	src := machine(`
vars:
  token: ${env.TOKEN}
resources:
  - exec:
      - elsewhere:
          command: echo ${var.token}
          when: env.DEPLOY != ""
      - here:
          command: echo ${var.token}
`, false)
	src.Environ = nil
	m, problems, _ := manifests.Load(src, execType())
	if m != nil || !strings.Contains(problems.Error(), "the environment has no TOKEN") {
		t.Errorf("got %v with problems %q, want a problem that names TOKEN", m, problems.Error())
	}
}
