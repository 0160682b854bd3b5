package manifests_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
)

// essence is what a manifest says, whatever it is written like.
type essence struct {
	Manifest  model.Manifest
	Resources []model.Resource
	About     []model.About
}

func essenceOf(m *model.Manifest) essence {
	e := essence{Manifest: *m}
	e.Manifest.Resources, e.Manifest.Hash, e.Manifest.Identity, e.Manifest.Path = nil, "", "", ""
	e.Manifest.SecretValues, e.Manifest.Secrets, e.Manifest.TextHash = nil, nil, ""
	if len(m.Order) == 0 {
		e.Manifest.Order = nil
	}
	for _, r := range m.Resources {
		about := model.About{}
		if r.Type != "probe" {
			about = r.Spec.About()
		}
		if r.Sensitive {
			about.Command = "***"
		}
		e.About = append(e.About, about)
		r.Spec, r.Pos, r.Values = nil, model.Pos{}, nil
		if r.Off != "" {
			r.Off = "off"
		}
		edges := r.Upstream
		r.Upstream = nil
		for _, edge := range edges {
			edge.Pos = model.Pos{}
			r.Upstream = append(r.Upstream, edge)
		}
		e.Resources = append(e.Resources, r)
	}
	return e
}

// again loads what Render makes of a source, and compares the two.
func again(t *testing.T, src manifests.Source) string {
	t.Helper()
	all := append(types(), fillingType)
	m, problems, _ := manifests.Load(src, all)
	text, rendered, _ := manifests.Render(src, all)
	if m == nil || text == nil {
		if (m == nil) != (text == nil) || cmp.Diff(problems, rendered) != "" {
			t.Errorf("it loads: %v, it renders: %v\n%v\n%v", m != nil, text != nil, problems, rendered)
		}
		return ""
	}
	back := manifests.Source{Path: "back.yaml", Dir: src.Dir, Bytes: text}
	n, problems, _ := manifests.Load(back, all)
	if n == nil {
		t.Errorf("what it renders does not load:\n%s\n%s", problems.Error(), text)
		return ""
	}
	if diff := cmp.Diff(essenceOf(m), essenceOf(n)); diff != "" && len(m.SecretValues) == 0 {
		t.Errorf("what it renders says something else (-as written +rendered):\n%s\n%s", diff, text)
	}
	twice, _, _ := manifests.Render(back, all)
	if diff := cmp.Diff(string(text), string(twice)); diff != "" {
		t.Errorf("rendered twice it is another text:\n%s", diff)
	}
	inJSON := manifests.Source{Path: "back.json", Dir: src.Dir, Bytes: manifests.JSON(text)}
	twice, problems, _ = manifests.Render(inJSON, all)
	if diff := cmp.Diff(string(inJSON.Bytes), string(manifests.JSON(twice))); diff != "" || !json.Valid(inJSON.Bytes) {
		t.Errorf("as JSON it is another text:\n%s\n%v\n%s", diff, problems, inJSON.Bytes)
	}
	return string(text)
}

func TestRenderedManifestLoadsToTheSame(t *testing.T) {
	t.Parallel()
	all := files(t, "ok")
	for name, text := range files(t, "doubtful") {
		all["doubtful-"+name] = text
	}
	examples, err := filepath.Glob("examples/*.yaml")
	if err != nil || len(examples) < 5 {
		t.Fatal(examples, err)
	}
	for _, path := range examples {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[path] = string(data)
	}
	for name, text := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := source(text)
			again(t, src)
		})
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	src := source(`name: ${var.stage}-web
vars: {stage: live, sites: [a, "b c"], key: {secret: true, default: hunter22}, words: [x, y z]}
parallel: ${env.COUNT}
secrets: [COUNT2]
defaults: {exec: {cwd: "/srv/${self.name}", timeout: 5m}}
x-any: {}
resources:
  - exec:
      - site ${each.key}:
          for_each: ${var.sites}
          command: echo ${each.value} '$${var.x}' $HOME
          tags: ["${each.value}", no, "1.10"]
          environment: ["A=${each.value}", B=~]
      - echo ${var.stage} it's: {provider: shell, onlyif: "test ${var.words.1} = x\n"}
      - name: command
        command: ["${var.key}", x]
        returns: [0, 3]
        unchanged: [3]
        require: exec#site 1
      - hush: {command: "echo ${var.stage}", sensitive: true, description: "see ${var.stage}"}
  - probe:
      - p: {any: {n: 1, t: "1", v: "${var.sites}", null: ~}, text: "a\n  b\n", bool: true, map: {}, lines: [], int: -5}
`)
	src.Bytes = []byte(strings.Replace(string(src.Bytes), "echo ${var.stage} it's", `"echo ${var.stage} it"`, 1))
	all := append(types(), fillingType)
	text, problems, _ := manifests.Render(src, all)
	const want = `name: live-web
parallel: 3
secrets:
  - COUNT2
resources:
  - exec:
      - site 0:
          command: echo a '$${var.x}' '$HOME'
          cwd: /srv/site 0
          environment:
            A: a
            B: "~"
          tags:
            - a
            - no
            - "1.10"
          timeout: 5m
`
	if !strings.HasPrefix(string(text), want) || strings.Contains(string(text), "hunter22") {
		t.Errorf("%v\n%s\n%s", problems, text, cmp.Diff(want, string(text)))
	}
	src.Bytes = []byte(strings.Replace(string(src.Bytes), "secret: true, ", "type: string, ", 1))
	again(t, src)
}

// Resources of included files stay where they are.
func TestRenderInlinesIncludes(t *testing.T) {
	t.Parallel()
	src := source("include: [d/a.yaml, b.yaml]\nresources: [exec: [{x: {command: /bin/true}}]]\n")
	src.Include = folder{
		"d/a.yaml": "vars: {in: a}\nresources:\n- exec: [{a: {command: \"./run ${var.in}\"}}, {b: {command: ./run, cwd: e, creates: x}}, {c: {command: ./run, user: nobody}}]\n- file: [{f: {path: f, source: s, validate: ./check %}}, {g: {path: /g, content: x}}]\n",
		"b.yaml":   "- exec: [{d: {command: /bin/true}}]\n",
	}.read
	text := again(t, src)
	if text == "" {
		t.Fatal("it does not load")
	}
	for _, want := range []string{"path: /srv/d/f\n", "source: /srv/d/s\n", "cwd: /srv/d\n", "cwd: /srv/d/e\n", "creates: x\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	_, _, warnings := manifests.Render(src, types())
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0].String(), "d/a.yaml:4:11: its commands start in the directory of this file") {
		t.Errorf("warnings: %v", warnings)
	}
}

func TestRenderReplacesInvalidUTF8(t *testing.T) {
	t.Parallel()
	src := source("- exec: [{x: {command: \"echo ${env.ODD}\"}}]\n")
	src.Environ = []string{"ODD=a\xffb"}
	text, problems, warnings := manifests.Render(src, types())
	if !strings.Contains(string(text), "command: \"echo 'a\uFFFDb'\"") && !strings.Contains(string(text), "command: \"echo a\uFFFDb\"") || len(warnings) != 1 {
		t.Errorf("%s\n%v %v", text, problems, warnings)
	}
}

// Whatever a value holds, it is in the rendered text as data.
func FuzzRender(f *testing.F) {
	for _, v := range []string{"a", "a: b", "- x", "'", "\"", "a\nb", " a\n", "a\n\n", "\t", "yes", "~", "null", "1", "0755", "é\u2028\u0085\ufeff", "${env.HOME}", "$${var.v}", "a #b", "{{x}}", "!", "*a", "#", "x:", "", "\r", "a\r\nb", "\x7f\u0080", "a\n b\n  c", "::", "$HOME;", "[", "%"} {
		f.Add(v, "shell")
		f.Add("x"+v+"x", "posix")
	}
	f.Fuzz(func(t *testing.T, v, provider string) {
		if strings.ToValidUTF8(v, "") != v {
			t.Skip()
		}
		if provider != "shell" {
			provider = "posix"
		}
		src := source(`vars: {v: ""}
resources:
- exec:
  - "/bin/echo ${var.v}": {provider: ` + provider + `}
  - b: {provider: ` + provider + `, command: "echo x${var.v}", stdin: "${var.v}", description: "${var.v}", environment: {K: "x${var.v}"}, onlyif: ["test '${var.v}'"]}
- probe:
  - p: {text: "${var.v}", any: {k: ["${var.v}"]}, map: {k: "${var.v}"}, command: "x${var.v}", command2: x}
`)
		src.Bytes = []byte(strings.Replace(string(src.Bytes), ", command2: x", "", 1))
		src.Vars = []manifests.Given{{Key: "v", Text: v}}
		again(t, src)
	})
}
