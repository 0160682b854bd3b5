package manifests_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
)

// fillingType is a probe that makes words of its commands, as a type must that
// takes values into them.
var fillingType = func() model.Type {
	t := probeType
	decode := t.Decode
	t.Decode = func(b *model.Body) model.Spec {
		for _, property := range []string{"command", "guards"} {
			for _, v := range b.Each(property) {
				fillHoles(v)
			}
		}
		fillHoles(b.Named)
		b.Values["named"] = b.Named
		return decode(b)
	}
	return t
}()

// fillHoles fills a command with its values in angle brackets.
func fillHoles(v model.Value) {
	if v.Placeholders == nil {
		return
	}
	v.Placeholders.Filled = v.Text
	for _, hole := range v.Placeholders.Items {
		form := "<%s>"
		if hole.Raw {
			form = "<raw %s>"
		}
		v.Placeholders.Filled = strings.Replace(v.Placeholders.Filled, model.PlaceholderByte, fmt.Sprintf(form, hole.Text), 1)
	}
}

// source is a manifest with an environment and facts.
func source(text string) manifests.Source {
	return manifests.Source{
		Path: "m.yaml", Dir: "/srv", Bytes: []byte(text), Environ: []string{"HOME=/root", "EMPTY=", "COUNT=3"},
		Inputs: manifests.Inputs{Host: func() (map[string]any, error) {
			return map[string]any{"os": "linux", "cpus": 4, "virtualization": "", "interfaces": map[string]any{"eth0": map[string]any{"mtu": 1500, "addresses": []any{"10.0.0.1"}}}}, nil
		}},
	}
}

// loadValues loads a manifest of filling probes.
func loadValues(t *testing.T, src manifests.Source) (*model.Manifest, map[string]map[string]model.Value) {
	t.Helper()
	m, problems, _ := manifests.Load(src, []model.Type{fillingType})
	if m == nil {
		t.Fatalf("%s\n%s", src.Bytes, problems.Error())
	}
	all := map[string]map[string]model.Value{}
	for _, r := range m.Resources {
		all[r.Name] = r.Spec.(probe).values
	}
	return m, all
}

const someVars = `vars:
  text: web
  count: 8
  yes: true
  list: [a, "b c", 3]
  map: {port: 80, host: db, "on": true}
  sites: [{name: one, ports: [1, 2]}, {name: two}]
  home: ${env.HOME}/x
  made: ${var.home}/${var.count}
  whole: ${var.list}
  codes: [0, 3]
  key: host
  one: 1
  nic: eth0
`

func TestValuesStandForExpressions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ yaml, property, want string }{
		{"text: ${var.text}", "text", "web"},
		{"text: a ${var.text}-${var.count} ${var.yes}", "text", "a web-8 true"},
		{"text: ${var.count}", "text", "8"},
		{"text: ${var.made}", "text", "/root/x/8"},
		{"text: ${var.sites.0.name}${var.sites.0.ports.1}", "text", "one2"},
		{"text: ${env.NOTHING:-a b} ${env.EMPTY:-c}${env.EMPTY}", "text", "a b c"},
		{"text: ${host.os} ${host.cpus} ${host.interfaces.eth0.mtu} ${host.interfaces.eth0.addresses.0}${host.virtualization}", "text", "linux 4 1500 10.0.0.1"},
		{"text: ${self.name} ${self.type}", "text", "x probe"},
		{"text: ${var.map['port']} ${var.map[var.key]} ${var.sites[0].ports[var.one]} ${var.map[host.os]:-none} ${var.map[env.NOTHING]:-unset}", "text", "80 db 2 none unset"},
		{"line: ${var.map[self.name]:-x} ${host.interfaces[var.nic].mtu}", "line", "x 1500"},
		{"any: ${var.sites[var.one]}", "any", "{name=two}"},
		{"text: $${var.text} ${HOME} $(x) {{.Names}}", "text", "${var.text} ${HOME} $(x) {{.Names}}"},
		{"text: |\n        ${var.text}\n        b", "text", "web\nb\n"},
		{"line: |\n        /srv/${var.text}\n", "line", "/srv/web"},
		{"lines: ${var.list}", "lines", "[a,b c,3]"},
		{"lines: [x, \"${var.text}\"]", "lines", "[x,web]"},
		{"dirs: /a:${var.text}", "dirs", "/a:web"},
		{"choice: ${var.yes}", "choice", "true"},
		{"codes: ${var.codes}", "codes", "[0,3]"},
		{"codes: [\"${env.COUNT}\", 1]", "codes", "[3,1]"},
		{"env: ${var.map}", "env", "{port=80,host=db,on=true}"},
		{"env: {A: \"${var.text}\", B: \"${var.count}\"}", "env", "{A=web,B=8}"},
		{"env: [\"A=${var.text}=${var.text}\"]", "env", "{A=web=web}"},
		{"map: {a: \"${var.text}\"}", "map", "{a=web}"},
		{"any: {a: [\"${var.map}\", \"x${var.count}\"], b: \"${var.count}\"}", "any", "{a=[{port=80,host=db,on=true},x8],b=8}"},
		{"command: ${var.list}", "command", "[a,b c,3]"},
		{"command: [\"${var.text}\", x]", "command", "[web,x]"},
		{"command: echo ${var.text} $${var.text} ${raw.var.text}", "command", "echo \x00 ${var.text} \x00"},
		{"guards: [\"test ${var.text}\", x]", "guards", "[test \x00,x]"},
		{"guards: ${var.list}", "guards", "[\x00,\x00,\x00]"},
	} {
		t.Run(tt.yaml, func(t *testing.T) {
			t.Parallel()
			_, all := loadValues(t, source(someVars+"resources:\n- probe:\n  - x:\n      "+tt.yaml+"\n"))
			if got := flat(all["x"][tt.property]); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestValuesKeepTheirType(t *testing.T) {
	t.Parallel()
	m, all := loadValues(t, source(someVars+`
parallel: ${var.count}
fail_fast: ${var.yes}
name: ${var.text}-${env.COUNT}
resources:
- probe:
  - x: {int: "${var.count}", bool: "${var.yes}", unchanged: "${var.yes}", any: ["${var.count}", "${env.COUNT}", "x${var.count}"], duration: "${env.COUNT}m"}
  - y: {int: "${env.COUNT}", bool: "${env.NOTHING:-true}", tries: "${env.COUNT}"}
`))
	x, y := all["x"], all["y"]
	if m.Parallel != 8 || !m.FailFast || m.Name != "web-3" || m.Resources[1].Tries != 3 {
		t.Errorf("manifest %+v", m)
	}
	if x["int"].Int != 8 || !x["bool"].Bool || !x["unchanged"].Bool || x["duration"].Duration.Minutes() != 3 || y["int"].Int != 3 || !y["bool"].Bool {
		t.Errorf("x %+v, y %+v", x, y)
	}
	if items := x["any"].Items; items[0].Quoted || !items[1].Quoted || !items[2].Quoted {
		t.Errorf("any %+v", items)
	}
}

// A text that was put in is never looked at again: neither as YAML nor as an expression.
func TestValuesStayData(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{
		"a: b", "x\ny: [", "- x", "'", `"`, "${env.HOME}", "$${var.v}", "{{x}}", "# x", "a #b", "*a", "&a b", "!!int 3", "~", "null", "", " ", "\t", "yes", "é\u2028", "\u0085", strings.Repeat("x", 1<<20),
	} {
		src := source("vars: {v: ''}\nresources:\n- probe:\n  - x: {text: \"${var.v}\", any: [\"${var.v}\"], map: {k: \"${var.v}\"}, command: [\"${var.v}\"], lines: [\"a${var.v}\"], guards: \"${var.v}\"}\n")
		src.Vars = []manifests.Given{{Key: "v", Text: hostile}}
		if strings.Contains(hostile, "\n") {
			src.Bytes = []byte(strings.Replace(string(src.Bytes), "lines: [\"a${var.v}\"]", "int: 1", 1))
		}
		_, all := loadValues(t, src)
		x := all["x"]
		for _, v := range []model.Value{x["text"], x["any"].Items[0], x["map"].Pairs[0].Value, x["command"].Items[0]} {
			if v.Text != hostile || !v.Quoted {
				t.Errorf("%q became %q", hostile, v.Text)
			}
		}
		if hole := x["guards"].Placeholders.Items[0]; hole.Text != hostile || hole.Expr != "${var.v}" {
			t.Errorf("%q became the hole %+v", hostile, hole)
		}
	}
}

func TestForEach(t *testing.T) {
	t.Parallel()
	_, all := loadValues(t, source(someVars+`
defaults: {probe: {text: "${self.name}", line: "${each.key:-none}"}}
resources:
- probe:
  - list ${each.key}: {for_each: [p, "${var.text}"], lines: "${each.value}"}
  - name: map ${each.key}
    for_each: ${var.map}
    any: ${each.value}
  - site ${each.value.name}: {for_each: "${var.sites}", require: "probe#list ${each.key}", text: own}
  - none ${each.key}: {for_each: []}
`))
	want := map[string]string{
		"list 0": "text=list 0 line=0 lines=p", "list 1": "text=list 1 line=1 lines=web",
		"map port": "text=map port line=port any=80", "map host": "text=map host line=host any=db", "map on": "text=map on line=on any=true",
		"site one": "text=own line=0 require=probe#list 0", "site two": "text=own line=1 require=probe#list 1",
	}
	got := map[string]string{}
	for name, values := range all {
		var list []string
		for _, property := range []string{"text", "line", "lines", "any", "require"} {
			if v, ok := values[property]; ok {
				list = append(list, property+"="+flat(v))
			}
		}
		got[name] = strings.Join(list, " ")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A name has its values twice: in the name, and as holes for who takes it for a command.
func TestNamesWithValues(t *testing.T) {
	t.Parallel()
	_, all := loadValues(t, source("vars: {x: a b, n: 3}\nresources:\n- probe:\n  - echo ${var.x} ${raw.var.n}:\n  - name: ${var.n}\n    text: ${self.name}\n"))
	named := all["echo a b 3"]["named"]
	if named.Text != "echo \x00 \x00" || named.Placeholders.Filled != "echo <a b> <raw 3>" {
		t.Errorf("named is %+v of %v", named, slices.Collect(maps.Keys(all)))
	}
	if got := all["3"]["text"].Text; got != "3" {
		t.Errorf("self.name is %q", got)
	}
	for text, want := range map[string]string{
		"vars: {x: web}\nname: ${var.x}-${env.COUNT}\n": "web-3", "name: ${var.x}\n": "", "name: $${var.x}\n": "${var.x}", "vars: {a: &a [*a]}\nname: ${var.a}\n": "",
	} {
		if got := manifests.Name(source(text)); got != want {
			t.Errorf("%q is called %q, want %q", text, got, want)
		}
	}
}

func TestUnfilledCommandsAreRefused(t *testing.T) {
	t.Parallel()
	_, problems, _ := manifests.Load(source("- probe: [{\"a ${env.HOME}\": {}}, {x: {command: \"b ${env.HOME}\", guards: [\"c ${env.HOME}\"]}}]"), []model.Type{probeType})
	if len(problems) != 3 || !strings.Contains(problems[0].String(), "${env.HOME} cannot stand in this command") {
		t.Error(problems)
	}
}

// What was put into a resource is told, with its place and without secrets; and
// the hash of the manifest is another one for other values.
func TestResourceListsItsValues(t *testing.T) {
	t.Parallel()
	const text = `vars: {a: 1, key: {secret: true, default: hunter22}}
secrets: COUNT
defaults: {probe: {line: "${var.a}"}}
resources:
- probe:
  - x${var.a}:
      map: {k: "${var.key} ${env.HOME}"}
  - y: {sensitive: true, command: "echo ${env.COUNT}", line: z}
`
	m, _ := loadValues(t, source(text))
	var got []string
	for _, r := range m.Resources {
		for _, u := range r.Values {
			got = append(got, fmt.Sprintf("%s %s=%s %s", r.Name, u.Expression, u.Value, u.Pos))
		}
	}
	if diff := cmp.Diff([]string{
		"x1 ${var.a}=1 m.yaml:6:5", "x1 ${var.key}=hunter22 m.yaml:7:16", "x1 ${env.HOME}=/root m.yaml:7:16", "x1 ${var.a}=1 m.yaml:3:26",
		"y ${env.COUNT}=*** m.yaml:8:35",
	}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"hunter22", "3"}, m.SecretValues); diff != "" {
		t.Error(diff)
	}
	other := source(text)
	other.Vars = []manifests.Given{{Key: "a", Text: "2"}}
	if n, _ := loadValues(t, other); n.Hash == m.Hash {
		t.Error("other values have the same hash")
	}
	if n, _ := loadValues(t, source(text)); n.Hash != m.Hash {
		t.Error("the same values have another hash")
	}
}

// What is secret is in nothing that is said of a manifest.
func TestSecretVariablesAreRedacted(t *testing.T) {
	t.Parallel()
	src := source(`vars: {key: {secret: true, type: int, default: "hunter22"}, more: {secret: true, enum: [a, b]}, map: {secret: true, default: {a: hunter44}}}
resources: [{probe: [{x: {int: "${var.map.a}", choice: "${var.map.a}"}}]}]`)
	src.Vars = []manifests.Given{{Key: "key", Text: "hunter23"}}
	src.VarFiles = []manifests.ValueFile{{Path: "v.yaml", Bytes: []byte("more: hunter33")}}
	_, problems, _ := manifests.Load(src, []model.Type{fillingType})
	if len(problems) != 4 {
		t.Errorf("%d problems", len(problems))
	}
	for _, p := range problems {
		if said := p.String() + p.Excerpt.Before + p.Excerpt.From; strings.Contains(said, "hunter") || !strings.Contains(said, "***") {
			t.Error(said)
		}
	}
}

// One text that defaults, an alias or for_each give to very many resources is no
// bomb.
func TestTooMuchText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	for name, text := range map[string]string{
		"for_each": "vars: {l: []}\nresources:\n- probe:\n  - ${each.key}: {for_each: \"${var.l}\", text: " + long + "}\n",
		"defaults": "defaults: {probe: {text: " + long + "}}\nvars: {l: []}\nresources:\n- probe:\n  - ${each.key}: {for_each: \"${var.l}\"}\n",
	} {
		src := source(text)
		src.Vars = []manifests.Given{{Key: "l", Text: strings.Repeat("a,", 100)}}
		if _, problems, _ := manifests.Load(src, []model.Type{fillingType}); len(problems) != 0 {
			t.Errorf("%s: %d problems: %.500s", name, len(problems), problems.Error())
		}
		src.Vars[0].Text = strings.Repeat("a,", 10_000)
		_, problems, _ := manifests.Load(src, []model.Type{fillingType})
		if len(problems) != 1 || !strings.Contains(problems.Error(), "the resources have more than 128 MiB of text together, by defaults, aliases and for_each (from ${each.key}); put long texts into files") {
			t.Errorf("%s: %d problems: %.500s", name, len(problems), problems.Error())
		}
	}
}

func TestTooManyValues(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("  - ${each.key}: {for_each: \"${var.l}\", text: \"${var.v}\"}\n", 1)
	src := source("vars: {v: '', l: []}\nresources:\n- probe:\n" + many)
	src.Vars = []manifests.Given{{Key: "v", Text: strings.Repeat("x", 1<<20)}, {Key: "l", Text: strings.Repeat("a,", 99)}}
	if _, problems, _ := manifests.Load(src, []model.Type{fillingType}); len(problems) != 1 || !strings.Contains(problems.Error(), "the values that are put in have more than 64 MiB together") {
		t.Errorf("%d problems", len(problems))
	}
	src.Vars = []manifests.Given{{Key: "l", Text: strings.Repeat("a,", 100_000)}}
	if _, problems, _ := manifests.Load(src, []model.Type{fillingType}); !strings.Contains(problems.Error(), "for_each makes more than 100,000 resources (from ${var.l}); split the manifest") {
		t.Errorf("%d problems: %.500s", len(problems), problems.Error())
	}
}

// The types put what a command needs where it belongs: a value stays one word.
func TestCommandsOfTypes(t *testing.T) {
	t.Parallel()
	src := source(`vars: {x: "a b; rm 'c'"}
resources:
- exec:
  - echo ${var.x}:
  - posix: {command: "echo -${var.x}-", onlyif: "test ${var.x}"}
  - shell: {command: "echo ${var.x} ${raw.env.HOME}", provider: shell}
`)
	m, problems, _ := manifests.Load(src, types())
	if m == nil {
		t.Fatal(problems)
	}
	for i, want := range []string{`echo 'a b; rm '\''c'\'''`, `echo '-a b; rm '\''c'\''-'`, `echo 'a b; rm '\''c'\''' /root`} {
		if got := m.Resources[i].Spec.About().Command; got != want {
			t.Errorf("%s runs %s, want %s", m.Resources[i].Name, got, want)
		}
	}
}

// A long secret of which only the beginning is told is none that a mask knows.
func TestCutSecretsAreRedacted(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("hunter", 400)
	src := source("vars: {key: {secret: true, type: string}, n: {type: int}}\nsecrets: TOKEN\nresources: [{probe: [{x: {text: \"a ${var.key} ${env.TOKEN}\", line: \"${env.TOKEN}\"}}]}]\n")
	src.Vars = []manifests.Given{{Key: "key", Text: long}}
	src.Environ = append(src.Environ, "TOKEN=x"+long)
	m, _ := loadValues(t, src)
	for _, u := range m.Resources[0].Values {
		if strings.Contains(u.Value, "hunter") {
			t.Errorf("%s is told as %.80s", u.Expression, u.Value)
		}
	}
	for _, text := range []string{"vars: {key: {secret: true, type: int}}", "vars: {key: {secret: true, enum: [a]}}", "vars: {key: {secret: true}}\nresources: [{probe: [{x: {choice: \"xy${var.key}\"}}]}]"} {
		src.Bytes = []byte(text)
		if _, problems, _ := manifests.Load(src, []model.Type{fillingType}); len(problems) != 1 || strings.Contains(problems.Error(), "hunter") {
			t.Errorf("%s: %.300s", text, problems.Error())
		}
	}
}
