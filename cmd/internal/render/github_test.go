package render

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model"
)

// runner finds commands the way GitHub's runner does: a line that begins with ::
// after spaces, else ##[…] anywhere in it, and none from stop-commands on until
// its token comes.
type runner struct {
	stopped string
	heard   []string
}

func (r *runner) read(text []byte) []string {
	known := []string{"error", "warning", "add-mask", "add-path", "set-output", "stop-commands", "group", "add-matcher"}
	for _, line := range strings.FieldsFunc(string(text), func(c rune) bool { return c == '\n' || c == '\r' }) {
		name, data := "", ""
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "::"); ok {
			if head, tail, ok := strings.Cut(rest, "::"); ok {
				name, data = head, tail
			}
		}
		if _, rest, ok := strings.Cut(line, "##["); ok && name == "" {
			name, data, _ = strings.Cut(rest, "]")
		}
		name, _, _ = strings.Cut(name, " ")
		name = strings.ToLower(name)
		switch {
		case r.stopped != "":
			if name == strings.ToLower(r.stopped) {
				r.stopped = ""
			}
		case name == "stop-commands":
			r.stopped = data
		default:
			for _, k := range known {
				if name == k {
					r.heard = append(r.heard, name+" "+data)
				}
			}
		}
	}
	return r.heard
}

func TestGitHubRunsNoCommandOfOthers(t *testing.T) {
	said := "  ::error::owned\r\t::add-path::/tmp\nfine ##[add-mask]x\n##[set-output name=a]b\n::stop-commands::x\nplain :: text\n"
	if heard := (&runner{}).read([]byte(said)); len(heard) != 4 {
		t.Fatalf("the runner of this test is deaf: %q", heard)
	}
	if heard := (&runner{}).read(EscapeCommands([]byte(said))); len(heard) > 0 {
		t.Errorf("spelled out, it hears %q in\n%s", heard, EscapeCommands([]byte(said)))
	}
	begin, end := Fence("k3pd7q")
	r := &runner{}
	r.read([]byte(begin + said + "::other::\n" + end + "::error::ours\n"))
	if want := []string{"error ours"}; !cmp.Equal(want, r.heard) {
		t.Errorf("behind a fence it hears %q", r.heard)
	}
	for _, format := range []string{"text", "json"} {
		out := formatNamed(t, format).Render([]model.Report{hostileReport()}, Options{Verbose: true})
		safe := EscapeCommands(out)
		if format == "json" {
			safe = EscapeCommandsJSON(out)
			var a, b any
			if json.Unmarshal(out, &a) != nil || json.Unmarshal(safe, &b) != nil || !cmp.Equal(a, b) {
				t.Error("the JSON is another value")
			}
		}
		if heard := (&runner{}).read(safe); len(heard) > 0 {
			t.Errorf("%s: it hears %q", format, heard)
		}
	}
}

func FuzzEscapeCommands(f *testing.F) {
	f.Add([]byte("::error::x\n ##[add-mask]y"))
	f.Add([]byte("####[[::\r\n::"))
	f.Fuzz(func(t *testing.T, text []byte) {
		safe := EscapeCommands(text)
		if HasCommand(safe) {
			t.Fatalf("%q is still a command: %q", text, safe)
		}
		if heard := (&runner{}).read(safe); len(heard) > 0 {
			t.Fatalf("%q is heard as %q", text, heard)
		}
	})
}

func TestAnnotationsShowOverviewAndFirstFailures(t *testing.T) {
	in := func(file string) string { return "deploy/" + file }
	var many []model.ResourceReport
	for i := range 15 {
		o := outcome(fmt.Sprintf("exec#a%d", i), 10+i, model.Failed, "exit 1: 100%\nsecond line")
		many = append(many, o)
	}
	many[0].Ignored = true
	lines := strings.Split(strings.TrimSpace(string(Annotations([]model.Report{report("apply", 1, many)}, in))), "\n")
	if len(lines) != maxAnnotations {
		t.Fatalf("%d annotations", len(lines))
	}
	if want := "::error title=settle apply::site.yaml: 0 changed, 14 failed, 1 failed and ignored, 0 stable, 1 refresh owed in 1.9s"; lines[0] != want {
		t.Errorf("the first is\n%s, want\n%s", lines[0], want)
	}
	if want := "::error file=deploy/site.yaml,line=11,col=9::exec#a1 failed: exit 1: 100%25%0Asecond line"; lines[1] != want {
		t.Errorf("the second is\n%s, want\n%s", lines[1], want)
	}

	for name, row := range map[string]struct {
		r    model.Report
		want string
	}{
		"nothing wrong": {report("apply", 0, []model.ResourceReport{outcome("exec#a", 1, model.Changed, "")}), ""},
		"only ignored":  {report("apply", 0, many[:1]), ""},
		"refused":       {refusedReport(), "::error title=settle apply::web is applied by pid 4711 since 2026-01-02T03:04:00Z: exec#migrate runs\n"},
		"invalid": {invalidReport(), "::error title=settle validate::site.yaml: 2 problems\n" +
			"::error file=deploy/site.yaml,line=7,col=9::exec#x: comand: unknown property; did you mean \"command\"?\n" +
			"::error file=deploy/site.yaml,line=9,col=3::a loop:%0Asite.yaml:9: exec#a requires exec#b%0Asite.yaml:12: exec#b requires exec#a\n"},
	} {
		if diff := cmp.Diff(row.want, string(Annotations([]model.Report{row.r}, in))); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
	odd := report("apply", 1, []model.ResourceReport{outcome("exec#a", 1, model.Failed, "x")})
	odd.Resources[0].File = "a,b:c\n.yaml"
	if out := string(Annotations([]model.Report{odd}, func(f string) string { return f })); !strings.Contains(out, "file=a%2Cb%3Ac%0A.yaml,line=1") {
		t.Errorf("%s", out)
	}
	loud := outcome("exec#\x1b[31ma", 1, model.Failed, "exit 2")
	loud.Output = "connecting\rconnecting.\r\npsql: \x1b[1mConnection\x1b[0m refused\n\n"
	if out := string(Annotations([]model.Report{report("apply", 1, []model.ResourceReport{loud})}, in)); !strings.Contains(out, `::exec#\x1b[31ma failed: exit 2: psql: Connection refused`) {
		t.Errorf("%s", out)
	}
	stdin := report("apply", 1, []model.ResourceReport{outcome("exec#a", 1, model.Failed, "x")})
	stdin.Resources[0].File = "-"
	if out := string(Annotations([]model.Report{stdin}, in)); !strings.HasSuffix(out, "\n::error::exec#a failed: x\n") {
		t.Errorf("%s", out)
	}
}

func TestMaskCommandsAndOutputs(t *testing.T) {
	if got, want := string(MaskCommands([]string{"s3cr3t%", "one\r\n\ntwo"})), "::add-mask::s3cr3t%25\n::add-mask::one\n::add-mask::two\n"; got != want {
		t.Errorf("%q", got)
	}
	for want, reports := range map[string][]model.Report{
		"changed=4\nfailed=3\n":                               {applyReport()},
		"changed=8\nfailed=6\n":                               {applyReport(), applyReport()},
		"changed=0\nfailed=1\npending=7\nhas_changes=true\n":  {planReport()},
		"changed=0\nfailed=0\npending=0\nhas_changes=false\n": {report("plan", 0, nil)},
		"changed=0\nfailed=0\n":                               {refusedReport()},
	} {
		if got := string(Outputs(reports)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestGitLabSectionsHaveValidNames(t *testing.T) {
	at := time.Unix(1767323045, 0)
	got := SectionStart("exec#a\x1b]0;b c", 7, at) + SectionEnd("exec#a\x1b]0;b c", 7, at)
	want := "\x1b[0Ksection_start:1767323045:settle_exec_a__0_b_c_7\r\x1b[0Kexec#a\\x1b]0;b c\n\x1b[0Ksection_end:1767323045:settle_exec_a__0_b_c_7\r\x1b[0K\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
