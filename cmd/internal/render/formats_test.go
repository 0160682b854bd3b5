package render

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
)

// hostile is a text that tries to escape from every format.
const hostile = "<a>&' > \"x\" ]]> \x00\x1b[1m\x1b]0;own\a \ufffe\uffff\u0085\u202e `|` ```\n```\n</code></details> *b* [l](http://x) @all #1 \\| --> -->\n" +
	"</script><script>alert(1)</script>\r\n::error::owned\n##[add-mask]owned\n\xff\xfe\ttab $HOME {{.x}} %0A"

// hostileReport holds that text in every field.
func hostileReport() model.Report {
	var all []model.ResourceReport
	for _, s := range []model.Status{model.Failed, model.Changed, model.Skipped, model.Interrupted, model.WouldRun, model.Stable, model.Stable} {
		o := outcome("exec#"+hostile, 7, s, hostile)
		o.Command, o.Cwd, o.Output, o.Diff, o.Description, o.Alias, o.Tags = hostile, hostile, hostile, hostile, hostile, hostile, []string{hostile}
		o.File, o.RootCause, o.RefreshedBy = hostile, "exec#"+hostile, []string{"exec#" + hostile}
		o.Attempts, o.Exit = 2, number(1)
		o.Guards = []model.GuardResult{{Property: "unless", Command: hostile, Exit: number(1)}, {Property: "onlyif", Command: hostile}}
		o.Values = []model.ValueUse{{Expression: hostile, Value: hostile, Pos: model.Pos{File: hostile, Line: 1, Column: 1}}}
		o.Warnings = []model.Problem{{Pos: o.Pos, ID: o.ID, Property: hostile, Message: hostile, Suggestion: hostile}}
		all = append(all, o)
	}
	r := report("apply", 1, all)
	r.Name, r.Manifest, r.Host, r.Run, r.Version, r.State.Dir = hostile, hostile, hostile, hostile, hostile, hostile
	r.Warnings = all[0].Warnings
	return r
}

func refusedReport() model.Report {
	r := report("apply", 75, nil)
	r.Warnings, r.Error, r.Summary.Owed = nil, "web is applied by pid 4711 since 2026-01-02T03:04:00Z: exec#migrate runs", 0
	return r
}

// traceOf returns edges between the resources of a report, a chain of three and a
// fan, and a time for each.
func traceOf(r *model.Report) Trace {
	var t Trace
	at := time.Duration(0)
	for i := range r.Resources {
		o := &r.Resources[i]
		t.Graph.Nodes = append(t.Graph.Nodes, Node{ID: o.ID})
		span := Span{}
		if o.Attempts > 0 || o.Status == model.Stable {
			span = Span{at, at + time.Duration(o.DurationMS+2)*time.Millisecond}
			at += time.Duration(o.DurationMS/2+1) * time.Millisecond
		}
		t.Spans = append(t.Spans, span)
		switch {
		case i == 0:
		case i < 3:
			t.Graph.Edges = append(t.Graph.Edges, Edge{From: r.Resources[i-1].ID, To: o.ID, Kind: "subscribe"})
		case o.RootCause != "":
			t.Graph.Edges = append(t.Graph.Edges, Edge{From: o.RootCause, To: o.ID, Kind: "require"})
		case i%2 == 0:
			t.Graph.Edges = append(t.Graph.Edges, Edge{From: r.Resources[0].ID, To: o.ID, Kind: "require"})
		}
	}
	return t
}

// goldenReports are the reports that every format is tested with, by the name of
// the golden file.
func goldenReports() map[string][]model.Report {
	empty := report("apply", 0, nil)
	empty.Warnings, empty.Summary.Owed = nil, 0
	return map[string][]model.Report{
		"apply":   {applyReport()},
		"plan":    {planReport()},
		"invalid": {invalidReport()},
		"refused": {refusedReport()},
		"several": {empty, invalidReport(), refusedReport()},
		"hostile": {hostileReport()},
	}
}

// goldenFormats maps the formats that are written to files to the extension of a
// golden file.
var goldenFormats = map[string]string{"jsonl": ".jsonl", "junit": ".xml", "markdown": ".md", "metrics": ".prom", "html": ".html"}

func TestFormatsMatchGoldenFiles(t *testing.T) {
	for format, ending := range goldenFormats {
		for name, reports := range goldenReports() {
			t.Run(format+"/"+name, func(t *testing.T) {
				var o Options
				for i := range reports {
					o.Traces = append(o.Traces, traceOf(&reports[i]))
				}
				golden(t, name+ending, formatNamed(t, format).Render(reports, o))
			})
		}
	}
}

// Equal reports are equal bytes, whatever the order of a map is today.
func TestFormatsAreDeterministic(t *testing.T) {
	for _, format := range Formats {
		once := string(format.Render([]model.Report{applyReport(), planReport()}, Options{}))
		for range 10 {
			if again := string(format.Render([]model.Report{applyReport(), planReport()}, Options{})); again != once {
				t.Fatalf("%s differs from itself", format.Name)
			}
		}
	}
}

// No format may contain a control character of its report, or break on one.
func FuzzFormats(f *testing.F) {
	f.Add(hostile, "]]>")
	f.Fuzz(func(t *testing.T, a, b string) {
		o := outcome("exec#"+a, 1, model.Failed, b)
		o.Command, o.Output, o.Description = b, a+b, a
		o.Guards = []model.GuardResult{{Property: "unless", Command: a}}
		o.Values = []model.ValueUse{{Expression: a, Value: b, Pos: model.Pos{File: b}}}
		r := report("apply", 1, []model.ResourceReport{o, o})
		r.Name, r.Manifest = a, b
		for name, ending := range goldenFormats {
			out := string(formatNamed(t, name).Render([]model.Report{r}, Options{}))
			if name == "jsonl" {
				for line := range strings.Lines(out) {
					if !json.Valid([]byte(line)) {
						t.Errorf("no JSON: %q", line)
					}
				}
				continue // where U+FFFE is a character like any other
			}
			if at := strings.IndexFunc(out, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c == 0xfffe }); at >= 0 {
				t.Errorf("%s lets %q through", ending, out[at:at+1])
			}
		}
		wellFormed(t, JUnit([]model.Report{r}, Options{}))
		parseMetrics(t, Metrics([]model.Report{r}, Options{}))
	})
}
