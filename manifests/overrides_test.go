package manifests_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
)

// layered returns a manifest whose variables are overridden by the given hierarchy,
// with facts of a Debian machine called web01.
func layered(hierarchy, more string) manifests.Source {
	src := source(`vars:
  service: chronyd
  workers: 2
  env: test
  packages: [chrony, curl]
  server: {type: map, default: {listen: {port: 80, tls: false}}}
  site: {required: true}
hierarchy: ` + hierarchy + "\n" + more + `
resources:
- probe:
  - x: {any: ["${var.service}", "${var.workers}", "${var.packages}", "${var.server}", "${var.site:-none}"]}
`)
	src.Facts = []manifests.Given{{Key: "family", Text: "debian"}, {Key: "hostname", Text: "web01"}}
	return src
}

const threeLevels = `overrides:
  family:debian: {service: chrony, packages: [curl, vim], server: {listen: {port: 81}}, site: debian}
  family:rhel: {site: rhel}
  host:web01:
    workers: 16
    packages: [vim, htop]
    server: {listen: {tls: true}, name: web}
    site: ${var.env}-${host.hostname}
  host:web02: {site: other}
`

func TestLevelsOverrideVariables(t *testing.T) {
	t.Parallel()
	const first = `["family:${host.family}", "env:${var.env}", "host:${host.hostname}"]`
	const deep = `{merge: deep, order: ["family:${host.family}", "env:${var.env}", "host:${host.hostname}"]}`
	for _, tt := range []struct {
		name, hierarchy, more, want string
		edit                        func(*manifests.Source)
	}{
		{name: "the first level that exists", hierarchy: first, more: threeLevels, want: "[chrony,2,[curl,vim],{listen={port=81}},debian]"},
		{name: "a later level where the first does not exist", hierarchy: `["family:${env.NOTHING}", "role:${host.virtualization}", "host:${host.hostname}"]`, more: threeLevels,
			want: "[chronyd,16,[vim,htop],{listen={tls=true},name=web},test-web01]"},
		{name: "all levels", hierarchy: deep, more: threeLevels, want: "[chrony,16,[chrony,curl,vim,htop],{listen={port=81,tls=true},name=web},test-web01]"},
		{name: "order alone", hierarchy: `{order: ["host:${host.hostname}"]}`, more: threeLevels, want: "[chronyd,16,[vim,htop],{listen={tls=true},name=web},test-web01]"},
		{name: "a level without values", hierarchy: `[empty, "host:${host.hostname}"]`, more: "overrides: {empty: , host:web01: {site: x}}",
			edit: func(s *manifests.Source) { s.Vars = []manifests.Given{{Key: "site", Text: "given"}} }, want: "[chronyd,2,[chrony,curl],{listen={port=80,tls=false}},given]"},
		{name: "the environment over a level", hierarchy: first, more: threeLevels,
			edit: func(s *manifests.Source) { s.Environ = append(s.Environ, "SETTLE_VAR_service=ntp") }, want: "[ntp,2,[curl,vim],{listen={port=81}},debian]"},
		{name: "--var decides the level", hierarchy: `["env:${var.env}"]`, more: "overrides: {env:live: {site: live, workers: 64}}",
			edit: func(s *manifests.Source) { s.Vars = []manifests.Given{{Key: "env", Text: "live"}} }, want: "[chronyd,64,[chrony,curl],{listen={port=80,tls=false}},live]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			src := layered(tt.hierarchy, tt.more)
			if tt.edit != nil {
				tt.edit(&src)
			}
			_, all := loadValues(t, src)
			if got := flat(all["x"]["any"]); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// Every use of an overridden variable names the level, and so does render. Another
// level makes another hash, so that a saved plan is not applied on another machine.
func TestLevelsAreReported(t *testing.T) {
	t.Parallel()
	src := layered(`{merge: deep, order: ["family:${host.family}", "host:${host.hostname}"]}`, threeLevels)
	src.Bytes = append(src.Bytes, "  - y: {when: 'var.service == \"chrony\"', text: \"${var.env}\"}\n"...)
	m, _ := loadValues(t, src)
	var got []string
	for _, r := range m.Resources {
		for _, u := range r.Values {
			got = append(got, u.Expression+" from "+u.From)
		}
	}
	want := []string{
		"${var.service} from family:debian", "${var.workers} from host:web01", "${var.packages} from family:debian, host:web01",
		"${var.server} from family:debian, host:web01", "${var.env} from ", "${host.hostname} from ", "${var.site:-none} from family:debian, host:web01",
		"${var.env} from ", "var.service from family:debian",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	src.Vars = []manifests.Given{{Key: "workers", Text: "3"}}
	text, problems, _ := manifests.Render(src, []model.Type{fillingType})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	_, origins, _ := strings.Cut(string(text), "x-variables:\n")
	if diff := cmp.Diff(`  service: "family:debian (m.yaml:10:28)"
  workers: "--var workers"
  env: default
  packages: "family:debian, host:web01 (m.yaml:14:15)"
  server: "family:debian, host:web01 (m.yaml:15:13)"
  site: "family:debian, host:web01 (m.yaml:16:11)"
`, origins); diff != "" {
		t.Error(diff)
	}
	again := source(string(text))
	if _, problems, _ := manifests.Load(again, []model.Type{fillingType}); len(problems) > 0 {
		t.Errorf("the rendered manifest does not load: %v", problems)
	}
	src.Facts[1].Text = "web02"
	if other, _ := loadValues(t, src); other.Hash == m.Hash {
		t.Error("another level has the same hash")
	}
}

func TestWrongOverridesAreRefused(t *testing.T) {
	t.Parallel()
	const first = `["family:${host.family}", "env:${var.env}"]`
	for _, tt := range []struct{ name, hierarchy, more, want string }{
		{"an undeclared variable", first, "overrides: {a: {worker: 1}}", `m.yaml:9:17: overrides: an override of "worker", which no file declares; did you mean "workers"?`},
		{"a value of another type", first, "overrides: {a: {workers: many, packages: x, server: [1]}}", `m.yaml:9:26: overrides: workers: want an integer, got the text "many"
m.yaml:9:42: overrides: packages: want a list, got the text "x"
m.yaml:9:53: overrides: server: want a map, got a list`},
		{"null", first, "overrides: {a: {workers: null}}", `m.yaml:9:26: overrides: null is not allowed here; leave it out, or write "" for an empty text`},
		{"a variable that decides the level", first, "overrides: {a: {env: live}}", `m.yaml:9:17: overrides: env decides the level at m.yaml:8, so no level can override it; give it by --var, or use another variable in the hierarchy`},
		{"a level of two lines", first, `overrides: {"a\nb": {workers: 1}}`, `m.yaml:9:13: overrides: the name of a level has a line break: "a\nb"; a level is one line of text`},
		{"an entry of two lines", `["a\nb"]`, "overrides: {a: {workers: 1}}", `m.yaml:8:13: hierarchy: the name of a level has a line break: "a\nb"; a level is one line of text`},
		{"a level that is no map", first, "overrides: {a: 1}", `m.yaml:9:16: overrides: want a map of variables, got "1"; write NAME: VALUE`},
		{"levels that are no map", first, "overrides: [a]", `m.yaml:9:12: overrides: want a map of levels, got a list; write LEVEL: {NAME: VALUE}`},
		{"a hierarchy that is no list", "family", "", `m.yaml:8:12: hierarchy: want a list of levels, got "family"; write them in brackets: ["family:${host.family}"]`},
		{"a hierarchy without order", "{merge: deep}", "", `m.yaml:8:12: hierarchy: a hierarchy without order; write order: with a list of levels`},
		{"an unknown key and word", "{orders: [a], merge: all, order: [b]}", "", `m.yaml:8:13: hierarchy: unknown key "orders"; did you mean "order"?
m.yaml:8:33: hierarchy.merge: unknown merge "all"; write first or deep`},
		{"an undeclared variable in an entry", `["a:${var.envs}"]`, "", `m.yaml:8:13: hierarchy: ${var.envs}: no variable "envs" is declared; did you mean "${var.env}"?`},
		{"a list in an entry", `["${var.packages}"]`, "", `m.yaml:8:13: hierarchy: want the name of a level, got a list; name one value in it`},
		{"values that wait for each other", `[a]`, "overrides: {a: {service: \"${var.site}\", site: \"${var.service}\"}}", `m.yaml:7:3: vars: these variables wait for each other: site, service, site; give one of them a value of its own`},
		{"one value twice", first, "overrides: {a: {workers: 1}, a: {workers: 2}}", `m.yaml:9:30: key "a" is already defined at line 9`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			src := layered(tt.hierarchy, tt.more)
			src.Bytes = []byte(strings.Replace(string(src.Bytes), "site: {required: true}", "site: web", 1))
			_, problems, _ := manifests.Load(src, []model.Type{fillingType})
			if diff := cmp.Diff(tt.want, problems.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
	src := source("vars: {a: 1}\noverrides: {x: {a: 2}}\nresources: []\n")
	_, problems, _ := manifests.Load(src, []model.Type{fillingType})
	if want := `m.yaml:2:12: overrides: overrides without a hierarchy never hold; add hierarchy: ["family:${host.family}"], for example`; problems.Error() != want {
		t.Errorf("got %v", problems)
	}
}

// A secret variable stays secret in every level, also in one that does not hold.
func TestOverridesOfSecretsAreRedacted(t *testing.T) {
	t.Parallel()
	src := source(`vars: {key: {secret: true, type: int, default: 1111}, word: {secret: true, enum: [a], default: a}}
hierarchy: [here]
overrides:
  here: {key: hunter22}
  elsewhere: {key: hunter33, word: "${env.NOTHING:-hunter55}"}
resources: [{probe: [{x: {int: "${var.word}"}}]}]
`)
	_, problems, _ := manifests.Load(src, []model.Type{fillingType})
	if len(problems) < 2 {
		t.Errorf("%d problems", len(problems))
	}
	for _, p := range problems {
		if said := p.String() + p.Excerpt.Before + p.Excerpt.From; strings.Contains(said, "hunter") {
			t.Error(said)
		}
	}
}

// withFiles lets a manifest read files of the directory /srv.
func withFiles(src manifests.Source, files map[string]string) manifests.Source {
	src.Include = func(path string) ([]byte, error) {
		name, _ := strings.CutPrefix(path, "/srv/")
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		for other := range files {
			if strings.HasPrefix(other, name+"/") {
				return nil, fmt.Errorf("is a directory")
			}
		}
		return nil, fs.ErrNotExist
	}
	return src
}

func TestOverridesFromFiles(t *testing.T) {
	t.Parallel()
	data := map[string]string{
		"data/family:debian.yaml": "service: chrony\nworkers: 4\n", "data/host/web01.yaml": "{workers: 16, site: \"${var.env}\"}", "data/family:rhel.yaml": "- broken\n",
		"data/empty.yaml": "# nothing\n",
	}
	const deep = `{merge: deep, order: ["family:${host.family}", "host/${host.hostname}", "none:${host.family}"]}`
	for _, tt := range []struct{ name, hierarchy, more, want string }{
		{"all levels", deep, "overrides_from: data/", "[chrony,16,[chrony,curl],{listen={port=80,tls=false}},test]"},
		{"a file beside overrides", deep, "overrides_from: data\noverrides: {family:debian: {site: x, packages: [vim]}}", "[chrony,16,[chrony,curl,vim],{listen={port=80,tls=false}},test]"},
		{"an empty file is a level", `[empty, "family:${host.family}"]`, "overrides_from: data/\nx-site: 1", "[chronyd,2,[chrony,curl],{listen={port=80,tls=false}},given]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			src := withFiles(layered(tt.hierarchy, tt.more), data)
			if strings.Contains(tt.want, "given") {
				src.Vars = []manifests.Given{{Key: "site", Text: "given"}}
			}
			_, all := loadValues(t, src)
			if got := flat(all["x"]["any"]); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	for _, tt := range []struct{ name, hierarchy, more, want string }{
		{"a broken file", `["family:rhel"]`, "overrides_from: data", "data/family:rhel.yaml:1:1: a file of values is a map, not a list; write NAME: VALUE"},
		{"an undeclared variable", `[x]`, "overrides_from: data", `data/x.yaml:1:1: overrides: an override of "worker", which no file declares; did you mean "workers"?`},
		{"no such directory", `[x]`, "overrides_from: dota", `m.yaml:9:17: overrides_from: there is no directory "dota"; name a directory with a file for each level`},
		{"a level outside of the directory", `["../${host.hostname}"]`, "overrides_from: data", `m.yaml:8:13: hierarchy: the level "../web01" names no file below data; a level is the name of a file in that directory`},
		{"an expression", `[x]`, "overrides_from: data/${host.os}", `m.yaml:9:17: overrides_from: "data/${host.os}" cannot stand in overrides_from; put the expression into the hierarchy: its levels are the names of the files`},
		{"one variable in both", `["family:debian"]`, "overrides_from: data\noverrides: {family:debian: {workers: 3}}", `data/family:debian.yaml:2:1: overrides: the level "family:debian" overrides workers already at m.yaml:10; drop one of them`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"data/x.yaml": "worker: 1\n", "data/family:rhel.yaml": "- broken\n", "data/family:debian.yaml": "service: chrony\nworkers: 4\n"}
			src := withFiles(layered(tt.hierarchy, tt.more), files)
			src.Vars = []manifests.Given{{Key: "site", Text: "given"}}
			_, problems, _ := manifests.Load(src, []model.Type{fillingType})
			if problems.Error() != tt.want {
				t.Errorf("got\n%s\nwant\n%s", problems.Error(), tt.want)
			}
		})
	}
}
