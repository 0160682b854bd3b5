//go:build unix

// Package hostile checks that values stay data, whatever is in them.
package hostile

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/settle-cm/settle/cmd/internal/settletest"
	"github.com/settle-cm/settle/model"
)

func TestMain(m *testing.M) { settletest.MainWithRaceDetector(m, "../../..") }

// hostilePlaces puts a value wherever a value may stand. What it is there is
// written to a file of out.
const hostilePlaces = `name: hostile
vars:
  v: {type: string, required: true}
  line: {type: string, required: true}
  part: {type: string, required: true}
  dir: {type: string, required: true}
defaults:
  exec: {logoutput: false}
resources:
  - exec:
      - name: 'sh -c ''printf %s "$1" >out/name'' sh ${var.line}'
      - posix: {command: 'sh -c ''printf %s "$1" >out/posix'' sh ${var.v}', description: "${var.v}", tags: ["x${var.line}"]}
      - within: {command: 'sh -c ''printf "%s\n" "$1$2" >out/within'' sh "<${var.v}"''${var.v}>'' '}
      - guarded: {command: sh -c '>out/guarded', onlyif: 'test "x${var.v}" = x${var.v}', unless: ['test "x${var.v}" = "x${var.v}."']}
      - list: {command: [sh, -c, 'printf %s "$1" >out/list', sh, "${var.v}"]}
      - plain: {provider: shell, command: 'printf %s ${var.v} >out/plain'}
      - double: {provider: shell, command: 'printf %s "<$HOME${var.v}>" >out/double'}
      - single: {provider: shell, command: 'printf %s ''<$HOME${var.v}>'' >out/single'}
      - substituted: {provider: shell, command: 'x=$(printf %s. ${var.v}); printf %s "$x$(printf %s. "${var.v}" ''${var.v}'')" >out/substituted'}
      - assigned: {provider: shell, command: 'x=${var.v} y="${var.v}"; printf %s "$x$y" >out/assigned'}
      - several: {shell: [/bin/sh, -euc], command: "if test x${var.v} = \"x${var.v}\"; then\n  for i in ${var.v}; do printf %s \"$i\" >out/several; done # why\nfi\n"}
      - environment: {provider: shell, command: 'printf %s "$V$W" >out/environment', environment: {V: "${var.v}", W: "<${var.v}>"}}
      - variables: {provider: shell, command: 'printf %s "$V" >out/variables', environment: ["V=${var.v}"]}
      - stdin: {command: sh -c 'cat >out/stdin', stdin: "${var.v}"}
      - cwd: {command: 'sh -c ''printf %s "${PWD##*/}" >../../out/cwd''', cwd: "dirs/${var.part}"}
      - creates: {command: 'sh -c ''>"$1"'' sh "made/${var.part}"', creates: "made/${var.part}", environment: {N: "${var.part}"}}
      - "path": {command: tool, path: ["${var.dir}", /usr/bin, /bin]}
      - "exec#${var.line}": {command: 'true', require: "exec#posix"}
      - after: {command: sh -c '>out/after', require: "exec#exec#${var.line}"}
  - file:
      - content: {path: out/content, content: "${var.v}"}
      - named: {path: "files/${var.part}", content: x}
      - link: {path: out/link, ensure: link, target: "${var.line}"}
      - validated: {path: out/validated, content: x, validate: 'sh -c ''test -f "$1" && printf %%s "$2" >out/validate'' sh % ${var.v}'}
  - provision:
      - server:
          helper: sh -c 'printf %s "$1" >out/helper; cat >out/input; echo "{\"shutdown\":true}"' sh ${var.v}
          directory: "etc/${var.part}"
          inventory: {facts: {v: "${var.v}", list: ["<${var.v}>"]}}
          on_shutdown: 'sh -c ''printf %s "$1" >out/shutdown'' sh "${var.v}"'
`

// hostileValues are data to everybody, whatever they look like.
var hostileValues = []string{
	"it's", `"`, `\`, "$(touch pwned)`touch pwned`", "'; touch pwned; '", `"; touch pwned; "`, "\ntouch pwned\n", "&& touch pwned #",
	"${env.HOME} ${var.v} $${var.v} ${raw.var.v}", "$HOME ~ *", "- a: b", "{a: b, c: [d]} # c", "&a *a !!str", "--- \n...\n", "%% %s", "null", "\t x \t",
	"a\x01\x1b[31mb\x7f\u0085", "é😀\u2028\ufeff", "#x", "x,y", "\r\n", "--help", "!", "EOF\n)}]\"'`",
}

// hostileTrial applies hostilePlaces with one value in all of them.
type hostileTrial struct {
	*testing.T
	dir, value  string
	line, part  string // what is left of the value for a name, and for a part of a path
	environment bool   // it is given by the environment, not by a file
}

func newHostileTrial(t *testing.T, value string) *hostileTrial {
	line := strings.NewReplacer("\n", "", "\r", "", "\x7f", "").Replace(strings.ToValidUTF8(value, ""))
	line = "l" + strings.ToValidUTF8(line[:min(len(line), 1000)], "")
	part := strings.NewReplacer("/", "", ":", "").Replace(line)
	part = strings.ToValidUTF8(part[:min(len(part), 200)], "")
	h := &hostileTrial{T: t, dir: t.TempDir(), value: value, line: line, part: "p" + part}
	for _, dir := range []string{"out", "files", "made", "etc", filepath.Join("dirs", h.part), filepath.Join("bin", h.part)} {
		h.must(os.MkdirAll(filepath.Join(h.dir, dir), 0o755))
	}
	h.must(os.WriteFile(filepath.Join(h.dir, "bin", h.part, "tool"), []byte("#!/bin/sh\nprintf found >out/path\n"), 0o755))
	h.must(os.WriteFile(filepath.Join(h.dir, "m.yaml"), []byte(hostilePlaces), 0o644))
	return h
}

func (h *hostileTrial) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// settle runs the program itself in the trial's directory.
func (h *hostileTrial) settle(args ...string) (out []byte) {
	h.Helper()
	values := map[string]string{"line": h.line, "part": h.part, "dir": filepath.Join(h.dir, "bin", h.part)}
	if !h.environment {
		values["v"] = h.value
	}
	text, err := json.Marshal(values)
	h.must(err)
	h.must(os.WriteFile(filepath.Join(h.dir, "values.json"), text, 0o644))
	cmd := exec.Command("settle", args...)
	cmd.Dir, cmd.Env = h.dir, append(os.Environ(), "HOME=/home/me", "SETTLE_STATE_DIR="+filepath.Join(h.dir, ".state"))
	if h.environment {
		cmd.Env = append(cmd.Env, "SETTLE_VAR_v="+h.value)
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err = cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || len(out) == 0 {
		h.Fatalf("%v: %.2000s%.2000s", err, out, &log)
	}
	return out
}

// apply returns the report of an apply.
func (h *hostileTrial) apply(args ...string) *model.Report {
	h.Helper()
	var r model.Report
	out := h.settle(append([]string{"apply", "-o", "json"}, args...)...)
	if err := json.Unmarshal(out, &r); err != nil {
		h.Fatalf("%v: %.2000s", err, out)
	}
	return &r
}

// filled applies the manifest with its values, which nobody doubts.
func (h *hostileTrial) filled() *model.Report {
	h.Helper()
	r := h.apply("--var-file", "values.json", "m.yaml")
	if len(r.Warnings) > 0 {
		h.Errorf("%.200q: %.500v", h.value, r.Warnings)
	}
	return r
}

// rendered applies the manifest that the values were put into beforehand, where
// nothing has been done yet.
func (h *hostileTrial) rendered() *model.Report {
	h.Helper()
	text := h.settle("render", "--var-file", "values.json", "m.yaml")
	h.must(os.WriteFile(filepath.Join(h.dir, "rendered.yaml"), text, 0o644))
	for _, dir := range []string{"out", "files", "made", ".state"} {
		h.must(os.RemoveAll(filepath.Join(h.dir, dir)))
		h.must(os.Mkdir(filepath.Join(h.dir, dir), 0o700))
	}
	return h.apply("rendered.yaml")
}

// written demands what the commands saw of the value.
func (h *hostileTrial) written() {
	h.Helper()
	v := h.value
	for name, want := range map[string]string{
		"name": h.line, "posix": v, "within": "<" + v + v + ">\n", "guarded": "", "list": v, "plain": v, "double": "</home/me" + v + ">", "single": "<$HOME" + v + ">",
		"substituted": v + "." + v + "." + v + ".", "assigned": v + v, "several": v, "environment": v + "<" + v + ">", "variables": v, "stdin": v, "cwd": h.part, "path": "found", "after": "",
		"content": v, "validate": v, "helper": v, "shutdown": v,
	} {
		if got, err := os.ReadFile(filepath.Join(h.dir, "out", name)); err != nil || string(got) != want {
			h.Errorf("%.200q in %s is %.200q, %v; want %.200q", v, name, got, err, want)
		}
	}
	if got, err := os.Readlink(filepath.Join(h.dir, "out", "link")); err != nil || got != h.line {
		h.Errorf("the link points to %q, %v; want %q", got, err, h.line)
	}
	for _, path := range []string{filepath.Join("files", h.part), filepath.Join("made", h.part)} {
		if _, err := os.Lstat(filepath.Join(h.dir, path)); err != nil {
			h.Error(err)
		}
	}
	h.asked()
	h.untouched()
}

// asked demands the value in what the helper was told.
func (h *hostileTrial) asked() {
	h.Helper()
	var input struct{ Inventory string }
	var inventory struct {
		Facts struct {
			V    string
			List []string
		}
	}
	text, err := os.ReadFile(filepath.Join(h.dir, "out", "input"))
	h.must(err)
	h.must(json.Unmarshal(text, &input))
	h.must(json.Unmarshal([]byte(input.Inventory), &inventory))
	want := strings.ToValidUTF8(h.value, "\ufffd")
	if f := inventory.Facts; f.V != want && utf8.ValidString(h.value) || len(f.List) != 1 || f.List[0] != "<"+f.V+">" {
		h.Errorf("the helper is told %q, want %q", f, want)
	}
}

// untouched demands that nothing acted on the value.
func (h *hostileTrial) untouched() {
	h.Helper()
	h.must(filepath.WalkDir(h.dir, func(path string, _ os.DirEntry, err error) error {
		if filepath.Base(path) == "pwned" {
			h.Errorf("%q made %s", h.value, path)
		}
		return err
	}))
}

// reported demands that the report is one of the value as it is.
func (h *hostileTrial) reported(r *model.Report) {
	h.Helper()
	if len(r.Problems) > 0 || len(r.Resources) == 0 {
		h.Fatalf("%.200q: %.2000v", h.value, r.Problems)
	}
	want := strings.ToValidUTF8(h.value, "\ufffd")
	if o := r.Resources[1]; utf8.ValidString(h.value) && (o.Description != want || len(o.Tags) != 1 || o.Tags[0] != "x"+h.line) {
		h.Errorf("the report shows %q with the tags %q, want %q", o.Description, o.Tags, want)
	}
	for i := range r.Resources {
		if o := &r.Resources[i]; o.Status != model.Changed && o.Status != model.Shutdown {
			h.Errorf("%.200q: %.200s is %s: %.500s", h.value, o.ID, o.Status, o.Reason)
		}
	}
	if r.ExitCode != 0 {
		h.Errorf("%.200q: exit code %d", h.value, r.ExitCode)
	}
}

// What a value holds is data in every position.
func TestHostileValuesStayData(t *testing.T) {
	for _, value := range hostileValues {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			h := newHostileTrial(t, value)
			h.reported(h.filled())
			h.written()
			h.reported(h.rendered())
			h.written()
		})
	}
}

// The environment can hold what no file of values can.
func TestHostileBytesStayData(t *testing.T) {
	t.Parallel()
	h := newHostileTrial(t, "\xff'\xc3\x28\"\x80\x7f$(touch pwned)")
	h.environment = true
	h.reported(h.filled())
	h.written()
}

// A value that is too long for a process fails the resource, and nothing else.
func TestHugeValuesStayData(t *testing.T) {
	t.Parallel()
	h := newHostileTrial(t, strings.Repeat("'$(touch pwned)\n", 1<<16))
	r := h.filled()
	if r.ExitCode != 1 || len(r.Problems) > 0 {
		t.Errorf("exit code %d, %v", r.ExitCode, r.Problems)
	}
	short := map[string]bool{"stdin": true, "cwd": true, "creates": true, "path": true, "content": true, "named": true, "link": true, "after": true}
	for i := range r.Resources {
		o := &r.Resources[i]
		switch tooLong := strings.Contains(o.Reason, "longer than the system allows"); {
		case short[o.Name] || i == 0 || strings.HasPrefix(o.Name, "exec#"):
			if o.Status != model.Changed && o.Status != model.Skipped {
				t.Errorf("%.100s is %s: %.500s", o.ID, o.Status, o.Reason)
			}
		case !tooLong || o.Status != model.Failed:
			t.Errorf("%.100s is %s: %.500s", o.ID, o.Status, o.Reason)
		}
	}
	for _, name := range []string{"stdin", "content"} {
		if got, err := os.ReadFile(filepath.Join(h.dir, "out", name)); err != nil || string(got) != h.value {
			t.Errorf("%s has %d bytes, %v", name, len(got), err)
		}
	}
	h.untouched()
}

// hostileTime is how long values are made at random; the tables above are for every day.
var hostileTime = flag.Duration("hostile", 2*time.Second, "how long TestRandomValuesStayData looks for a value that does not stay data")

// Nor does any value that is put together of what means something to somebody.
func TestRandomValuesStayData(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	pieces := []string{"'", `"`, `\`, "$", "`", "(", ")", "{", "}", ";", "&", "|", "\n", "\r", "\t", " ", "#", "!", "~", "*", "%", ":", "-", "=", "touch pwned", "$(touch pwned)", "${var.v}", "é", "\x80", "\x7f", "\x01"}
	for end := time.Now().Add(*hostileTime); time.Now().Before(end) && !t.Failed(); {
		value := "v"
		for range r.IntN(30) {
			value += pieces[r.IntN(len(pieces))]
		}
		h := newHostileTrial(t, value)
		h.environment = !utf8.ValidString(value)
		h.reported(h.filled())
		h.written()
	}
	if t.Failed() {
		t.Logf("the seed was %d", seed)
	}
}
