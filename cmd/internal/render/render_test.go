package render

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata/reports")

// golden compares with a file of testdata/reports, or rewrites it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("..", "..", "..", "testdata", "reports", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: -want +got\n%s", name, diff)
	}
}

// formatNamed returns a format that has to be in the table.
func formatNamed(t testing.TB, name string) Format {
	t.Helper()
	f, ok := FindFormat(name)
	if !ok {
		t.Fatalf("no format is called %s", name)
	}
	return f
}

func outcome(id string, line int, s model.Status, reason string) model.ResourceReport {
	ref, _ := model.ParseRef(id)
	return model.ResourceReport{
		Declaration: model.Declaration{ID: id, Type: ref.Type, Name: ref.Name, Pos: model.Pos{File: "site.yaml", Line: line, Column: 9}},
		Status:      s, Reason: reason, Command: ref.Name, Cwd: "/opt/app",
	}
}

func number(n int) *int { return &n }

// applyReport is one report that holds every status of an apply, and what is
// hardest to show: failures of each kind, control characters, a long name.
func applyReport() model.Report {
	unpack := outcome("exec#unpack", 4, model.Changed, "creates /opt/app/bin/app is missing")
	unpack.Command, unpack.Attempts, unpack.DurationMS, unpack.Exit = "/usr/bin/tar -xzf app.tar.gz", 1, 412, number(0)
	unpack.Action = model.ActionCreate
	unpack.Description, unpack.Tags = "the program itself", []string{"app", "deploy"}
	reload := outcome("exec#reload", 9, model.Changed, "refreshed by exec#unpack")
	reload.Attempts, reload.DurationMS, reload.Exit, reload.RefreshedBy = 1, 80, number(0), []string{"exec#unpack"}
	late := outcome("exec#notify the load balancer, which has a long name", 12, model.Changed, "refresh owed by exec#unpack since run 20260101T000000Z-aaaaaa")
	late.Attempts, late.DurationMS, late.Exit = 1, 3, number(0)
	migrate := outcome("exec#migrate", 31, model.Failed, "exit 3")
	migrate.Command, migrate.Attempts, migrate.DurationMS, migrate.Exit = "/opt/app/bin/migrate --all", 1, 1204, number(3)
	migrate.Expects = "returns 0"
	migrate.Guards = []model.GuardResult{{Property: "unless", Command: "/opt/app/bin/migrate --check", Exit: number(1)}}
	migrate.Values = []model.ValueUse{
		{Expression: "${var.scope:-all}", Value: "all", Pos: model.Pos{File: "site.yaml", Line: 32, Column: 18}},
		{Expression: "${var.notes}", Value: strings.Repeat("long\n", 60), Pos: model.Pos{File: "site.yaml", Line: 33, Column: 9}},
	}
	migrate.Output = "connecting to db1\nerror: relation \"users\" is locked\n"
	killed := outcome("exec#killed", 40, model.Failed, "killed by SIGKILL")
	killed.Attempts, killed.DurationMS, killed.Signal = 3, 65_000, "SIGKILL"
	killed.Command = "set -e\nmake all\nmake install"
	for i := range 30 {
		killed.Output += strings.Repeat("x", i) + " \x1b[31mred\x1b[0m\tcaf\ufffd\n"
	}
	asked := outcome("exec#asked", 45, model.Failed, "onlyif: timed out after 5m")
	asked.Guards = []model.GuardResult{{Property: "onlyif", Command: "/bin/sleep 600"}}
	ignored := outcome("exec#optional", 50, model.Failed, "exit 1")
	ignored.Ignored, ignored.Attempts, ignored.Exit, ignored.DurationMS = true, 1, number(1), 20
	odd := outcome("exec#x\x1b]0;owned\a", 55, model.Changed, "runs every time")
	odd.Attempts, odd.DurationMS, odd.Exit = 1, 7_300_000, number(0)
	odd.Warnings = []model.Problem{{Pos: odd.Pos, ID: odd.ID, Property: "creates", Message: "did not create /opt/x: it will run again"}}
	interrupted := outcome("exec#long", 60, model.Interrupted, "interrupted by SIGINT")
	interrupted.Attempts, interrupted.DurationMS = 1, 3000
	all := []model.ResourceReport{
		unpack, reload, late, migrate, killed, asked, ignored, odd, interrupted,
		outcome("exec#done", 70, model.Stable, "creates /opt/done exists"),
		outcome("provision#web1", 71, model.Deferred, "the machine boots"),
		outcome("provision#web2", 72, model.Shutdown, "not needed any more"),
	}
	for i := range 8 {
		skip := outcome("exec#after"+string(rune('a'+i)), 80+i, model.Skipped, "exec#migrate failed")
		skip.RootCause = "exec#migrate"
		all = append(all, skip)
	}
	all = append(all, outcome("exec#never", 90, model.NotReached, "interrupted by SIGINT"))
	return report("apply", 130, all)
}

func planReport() model.Report {
	unpack := outcome("exec#unpack", 4, model.WouldRun, "creates /opt/app/bin/app is missing")
	unpack.Action = model.ActionCreate
	unpack.Description = "the program itself"
	motd := outcome("file#/etc/motd", 5, model.WouldRun, "content, mode 0600 → 0640 (changed outside)")
	motd.Command, motd.Action, motd.Diff = "", model.ActionChange, "--- /etc/motd\n+++ /etc/motd\n@@ -1 +1 @@\n-Welcome\n+Welcome to db1\n"
	old := outcome("file#/etc/old.conf", 6, model.WouldRun, "a file is there")
	old.Command, old.Action = "", model.ActionRemove
	cleanup := outcome("exec#clean the caches of every service on this machine", 7, model.WouldRun, "runs every time")
	reload := outcome("exec#reload", 9, model.WouldRefresh, "refreshed by exec#unpack")
	reload.RefreshedBy = []string{"exec#unpack"}
	owed := outcome("exec#restart", 10, model.WouldRefresh, "refresh owed by exec#unpack since run 20260101T000000Z-aaaaaa")
	migrate := outcome("exec#migrate", 31, model.MayRun, "unless was read before exec#unpack runs")
	migrate.Guards = []model.GuardResult{{Property: "unless", Command: "/opt/app/bin/migrate --check", Exit: number(1)}}
	check := outcome("exec#health", 33, model.WouldRun, "runs every time")
	check.Action = model.ActionCheck
	broken := outcome("exec#broken", 40, model.Failed, "unless: program nope not found in /usr/bin")
	broken.Guards = []model.GuardResult{{Property: "unless", Command: "nope"}}
	skipped := outcome("exec#after", 41, model.Skipped, "exec#broken failed")
	skipped.RootCause = "exec#broken"
	stable := outcome("exec#done", 50, model.Stable, "unless exit 0")
	stable.Guards = []model.GuardResult{{Property: "unless", Command: "/bin/true", Exit: number(0)}}
	stable.Values = []model.ValueUse{{Expression: "${var.token}", Value: "***", Pos: model.Pos{File: "more.yaml", Line: 5, Column: 12}}}
	return report("plan", 1, []model.ResourceReport{unpack, motd, old, cleanup, reload, owed, migrate, check, broken, skipped, stable})
}

func report(mode string, code int, outcomes []model.ResourceReport) model.Report {
	return model.Report{
		Schema: model.ReportSchema, Version: "0.1.0", Mode: mode, Manifest: "site.yaml", Name: "web",
		Run: "20260102T030405Z-bbbbbb", Host: "db1", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		DurationMS: 1900, ExitCode: code, State: model.State{Dir: "/var/lib/settle", Found: true},
		Summary: model.Summarize(mode == "plan", outcomes, 1),
		Warnings: model.Problems{{
			Pos: model.Pos{File: "site.yaml", Line: 3, Column: 5}, ID: "exec#unpack", Property: "command",
			Message: "$HOME is not expanded", Suggestion: "use provider: shell",
		}},
		Resources: outcomes,
	}
}

func invalidReport() model.Report {
	r := report("validate", 65, nil)
	r.Warnings = nil
	r.Error = "site.yaml: 2 problems"
	r.Problems = model.Problems{
		{Pos: model.Pos{File: "site.yaml", Line: 7, Column: 9}, ID: "exec#x", Property: "comand", Message: "unknown property", Suggestion: `did you mean "command"?`},
		{Pos: model.Pos{File: "site.yaml", Line: 9, Column: 3}, Message: "a loop:\nsite.yaml:9: exec#a requires exec#b\nsite.yaml:12: exec#b requires exec#a"},
	}
	return r
}

func TestReportsMatchGoldenFiles(t *testing.T) {
	empty := report("apply", 0, nil)
	empty.Warnings, empty.Summary.Owed = nil, 0
	valid := report("validate", 0, nil)
	valid.Summary = model.Summary{Total: 3}
	for _, row := range []struct {
		file    string
		format  string
		o       Options
		reports []model.Report
	}{
		{"apply.txt", "text", Options{}, []model.Report{applyReport()}},
		{"apply-verbose.txt", "text", Options{Verbose: true}, []model.Report{applyReport()}},
		{"apply-quiet.txt", "text", Options{Quiet: true}, []model.Report{applyReport()}},
		{"apply-color.txt", "text", Options{Color: true}, []model.Report{applyReport()}},
		{"apply.json", "json", Options{}, []model.Report{applyReport()}},
		{"plan.txt", "text", Options{}, []model.Report{planReport()}},
		{"plan-verbose.txt", "text", Options{Verbose: true}, []model.Report{planReport()}},
		{"plan.json", "json", Options{}, []model.Report{planReport()}},
		{"empty.txt", "text", Options{}, []model.Report{empty}},
		{"empty.json", "json", Options{}, []model.Report{empty}},
		{"validate.txt", "text", Options{}, []model.Report{valid}},
		{"invalid.txt", "text", Options{}, []model.Report{invalidReport()}},
		{"invalid.json", "json", Options{}, []model.Report{invalidReport()}},
		{"several.txt", "text", Options{}, []model.Report{valid, invalidReport(), empty}},
		{"several.json", "json", Options{}, []model.Report{empty, invalidReport()}},
	} {
		t.Run(row.file, func(t *testing.T) {
			golden(t, row.file, formatNamed(t, row.format).Render(row.reports, row.o))
		})
	}
}

// Every status has to be in the golden reports, or a new one could be forgotten.
func TestGoldenReportsHoldEveryStatus(t *testing.T) {
	seen := map[model.Status]bool{}
	for _, r := range []model.Report{applyReport(), planReport()} {
		for _, o := range r.Resources {
			seen[o.Status] = true
		}
	}
	for s := model.NotReached; s <= model.MayRun; s++ {
		if !seen[s] {
			t.Errorf("no resource is %s", s)
		}
	}
}

func TestTextEndsWithFailureAndSummary(t *testing.T) {
	root := outcome("exec#root", 2, model.Failed, "exit 1")
	root.Exit, root.Attempts = number(1), 1
	all := []model.ResourceReport{root}
	for i := range 300 {
		o := outcome("exec#s"+strings.Repeat("x", i), 3+i, model.Skipped, "exec#root failed")
		o.RootCause = "exec#root"
		all = append(all, o)
	}
	out := strings.Split(strings.TrimSpace(string(Text([]model.Report{report("apply", 1, all)}, Options{}))), "\n")
	if len(out) > 20 {
		t.Errorf("%d lines for one failure", len(out))
	}
	last := strings.Join(out[max(0, len(out)-10):], "\n")
	if want := "0 changed, 1 failed, 300 skipped"; !strings.HasPrefix(out[len(out)-1], want) {
		t.Errorf("the last line is not the summary: %s", out[len(out)-1])
	}
	for _, want := range []string{"exec#root failed: exit 1", "300 resources because of this"} {
		if !strings.Contains(last, want) {
			t.Errorf("the last ten lines do not say %q:\n%s", want, last)
		}
	}
}

func TestQuietIsSilentOnSuccess(t *testing.T) {
	for _, code := range []int{0, 2} {
		r := report("apply", code, []model.ResourceReport{outcome("exec#a", 1, model.Changed, "")})
		if out := Text([]model.Report{r}, Options{Quiet: true}); len(out) > 0 {
			t.Errorf("exit %d: %q", code, out)
		}
	}
}

func TestJSONHasNoNullLists(t *testing.T) {
	var r map[string]any
	if err := json.Unmarshal(JSON([]model.Report{{Resources: []model.ResourceReport{{}}}}, Options{}), &r); err != nil {
		t.Fatal(err)
	}
	one := r["resources"].([]any)[0].(map[string]any)
	for _, key := range []string{"tags", "refreshed_by", "guards", "warnings"} {
		if _, ok := one[key].([]any); !ok {
			t.Errorf("resource: %s is %v", key, one[key])
		}
	}
	for _, key := range []string{"problems", "warnings"} {
		if _, ok := r[key].([]any); !ok {
			t.Errorf("report: %s is %v", key, r[key])
		}
	}
	if one["exit"] != nil {
		t.Errorf("exit is %v when nothing ran", one["exit"])
	}
}

// The parts of a document are joined as an encoder of the whole report does it.
func TestJSONEqualsTheEncodedReport(t *testing.T) {
	for name, reports := range map[string][]model.Report{
		"none": {}, "empty": {{}}, "one": {applyReport()}, "plan": {planReport()}, "invalid": {invalidReport()},
		"several": {applyReport(), {}, planReport()},
	} {
		whole := make([]model.Report, len(reports))
		for i := range reports {
			whole[i] = withoutNulls(reports[i])
		}
		want := Document(map[string][]model.Report{"runs": whole})
		if len(whole) == 1 {
			want = Document(whole[0])
		}
		if got := JSON(reports, Options{}); !bytes.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestJSONDoesNotEscapeForHTML(t *testing.T) {
	o := outcome("exec#a && b > c", 1, model.Changed, "")
	if out := JSON([]model.Report{report("apply", 0, []model.ResourceReport{o})}, Options{}); !bytes.Contains(out, []byte("a && b > c")) {
		t.Errorf("%s", out)
	}
}

func TestEventsOfFinishedReports(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := applyReport()
	line := "a <b>"
	var out []byte
	for i, e := range []Event{
		{Type: EventVersion, Schema: EventsSchema, Version: "0.1.0"},
		{Type: EventRunStarted, Run: r.Run, Mode: "apply", Manifest: "site.yaml", Name: "web"},
		{Type: EventResourceStarted, ID: "exec#unpack"},
		{Type: EventOutput, ID: "exec#unpack", Line: &line},
		{Type: EventOutput, ID: "exec#unpack", Line: new(string)},
		{Type: EventResourceFinished, Resource: &r.Resources[0]},
		{Type: EventRunFinished, Report: &r},
	} {
		e.Seq, e.Time = i+1, at
		out = append(out, Line(e)...)
	}
	golden(t, "events.jsonl", out)
	if bytes.Contains(out, []byte("null,")) && !bytes.Contains(out, []byte(`"exit":null`)) {
		t.Error("a list is null")
	}
}

func TestEscapeSpellsOutControlCharacters(t *testing.T) {
	for in, want := range map[string]string{
		"plain":           "plain",
		"caf\u00e9":       "caf\u00e9",
		"\x1b]0;owned\a":  `\x1b]0;owned\x07`,
		"a\nb\r\tc":       `a\nb\r\tc`,
		"\xff\xfe":        `\xff\xfe`,
		"\u202egnp.exe":   `\u202egnp.exe`,
		"\u0085":          `\u0085`,
		`a \x1b b`:        `a \x1b b`,
		"\U000e0041":      `\U000e0041`,
		"\ufffd survives": "\ufffd survives",
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
	for _, line := range []string{"a\tb", "a\tb\x00", "\u00fc\u202e\xff"} {
		if got := string(AppendLine([]byte("> "), []byte(line))); got != "> "+EscapeLine(line) {
			t.Errorf("AppendLine does not append what EscapeLine returns: %q", got)
		}
	}
	if got := EscapeLine("a\tb\x00"); got != "a\tb\\x00" {
		t.Errorf("EscapeLine keeps tabs only: %q", got)
	}
}

// No control character of a report may reach a terminal.
func FuzzTextIsSafeOnATerminal(f *testing.F) {
	f.Add("x\x1b]0;owned\a", "\x9b31m")
	f.Fuzz(func(t *testing.T, a, b string) {
		o := outcome("exec#"+a, 1, model.Failed, b)
		o.Command, o.Cwd, o.Output, o.Description, o.Tags = b, a, a+"\n"+b, a, []string{b}
		o.Guards = []model.GuardResult{{Property: "unless", Command: a}}
		o.Warnings = []model.Problem{{Pos: model.Pos{File: a}, Message: b, Suggestion: a}}
		o.Values = []model.ValueUse{{Expression: a, Value: b, Pos: model.Pos{File: a}}}
		r := report("plan", 1, []model.ResourceReport{o})
		r.State.Dir, r.Manifest = a, b
		for _, line := range Text([]model.Report{r}, Options{Verbose: true, Titled: true}) {
			if line < ' ' && line != '\n' && line != '\t' || line == 0x7f {
				t.Fatalf("byte %#x", line)
			}
		}
	})
}

func TestDurationIsReadable(t *testing.T) {
	for ms, want := range map[int64]string{
		0: "0ms", 49: "49ms", 99: "99ms", 100: "0.1s", 412: "0.4s", 1204: "1.2s", 59_949: "59.9s", 59_960: "1m00s", 65_000: "1m05s",
		3_599_499: "59m59s", 3_599_500: "1h00m", 7_300_000: "2h01m",
	} {
		if got := Duration(ms); got != want {
			t.Errorf("Duration(%d) = %s, want %s", ms, got, want)
		}
	}
}

func TestGraphsMatchGoldenFiles(t *testing.T) {
	g := Graph{
		Nodes: []Node{{ID: "exec#unpack"}, {ID: `exec#say "hi" && echo \ <b>`}, {ID: "exec#end\n]"}},
		Edges: []Edge{
			{From: "exec#unpack", To: `exec#say "hi" && echo \ <b>`, Kind: "subscribe"},
			{From: "exec#unpack", To: "exec#end\n]", Kind: "require"},
		},
	}
	marked := Graph{
		Nodes: []Node{{ID: "exec#a", Status: "changed"}, {ID: `exec#b "\"`, Status: "failed"}, {ID: "exec#c", Status: "skipped"}},
		Edges: []Edge{
			{From: "exec#a", To: `exec#b "\"`, Kind: "subscribe"},
			{From: `exec#b "\"`, To: "exec#c", Kind: "require", Loop: true},
			{From: "exec#c", To: `exec#b "\"`, Kind: "subscribe", Loop: true},
		},
	}
	var names []string
	for name := range Graphs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		golden(t, "graph."+name, Graphs[name](g))
		golden(t, "graph-marked."+name, Graphs[name](marked))
	}
	golden(t, "graph-empty.dot", Graphs["dot"](Graph{}))
}

func TestFailuresStandBeforeInterruptedResources(t *testing.T) {
	r := report("apply", 1, []model.ResourceReport{
		outcome("exec#slow", 3, model.Interrupted, "the run took longer than 2s"),
		outcome("exec#broken", 5, model.Failed, "exit 3"),
	})
	place := func(path string) string { return path }
	for name, text := range map[string][]byte{
		"text":     Text([]model.Report{r}, Options{}),
		"markdown": Markdown([]model.Report{r}, Options{}),
		"github":   append([]byte("\n\n"), Annotations([]model.Report{r}, place)...),
	} {
		text, _, _ = bytes.Cut(text, []byte("| resource |")) // a table has the order of the manifest
		_, text, _ = bytes.Cut(text, []byte("\n\n"))         // as the rows of the text have
		broken, slow := bytes.Index(text, []byte("exit 3")), bytes.Index(text, []byte("longer than 2s"))
		if broken < 0 || slow < broken {
			t.Errorf("%s: the failure does not stand before the interrupted resource:\n%s", name, text)
		}
	}
}

func TestDroppedOutputIsCountedInBytes(t *testing.T) {
	o := outcome("exec#loud", 3, model.Failed, "exit 3")
	o.Output = strings.Repeat("a\n", 30) + "... 12345 bytes dropped ...\n" + strings.Repeat("b\n", 30)
	for _, tt := range []struct {
		truncated bool
		want      string
	}{
		{true, "(40 lines before these: -v; between them 12345 bytes were not kept)"},
		{false, "(41 lines before these: -v)"}, // the command printed that line itself
	} {
		o.Truncated = tt.truncated
		text := Text([]model.Report{report("apply", 1, []model.ResourceReport{o})}, Options{})
		if !bytes.Contains(text, []byte(tt.want)) {
			t.Errorf("truncated %v: no %q in\n%s", tt.truncated, tt.want, text)
		}
	}
	o.Truncated, o.Output = true, o.Output+strings.Repeat("c\n", 10_000)
	text := Markdown([]model.Report{report("apply", 1, []model.ResourceReport{o})}, Options{})
	before, shown, _ := strings.Cut(string(text), " bytes before these\n")
	shown, _, _ = strings.Cut(shown, "\n```")
	want := fmt.Sprintf("… %d", len(strings.TrimSpace(o.Output))-len(shown)+12345)
	if !strings.HasSuffix(before, want) {
		t.Errorf("no %q in\n%s", want, before)
	}
}

func TestCommandThatIgnoredItsSignalIsSaidToBeKilled(t *testing.T) {
	o := outcome("exec#stubborn", 3, model.Failed, "timed out after 1s")
	o.Signal = "SIGKILL"
	for name, format := range map[string]func([]model.Report, Options) []byte{"text": Text, "markdown": Markdown, "html": HTML} {
		if text := format([]model.Report{report("apply", 1, []model.ResourceReport{o})}, Options{}); !bytes.Contains(text, []byte("killed by SIGKILL")) {
			t.Errorf("%s does not name the signal:\n%s", name, text)
		}
	}
}
