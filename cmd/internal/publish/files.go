package publish

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/model"
)

// File is the value of one --report: a format and the path of the file.
type File struct{ Format, Path string }

// FileFormats returns the names of the formats that a report can be kept in.
func FileFormats() []string {
	return render.FormatNames(func(f render.Format) bool { return f.InFile })
}

// UnmarshalText reads FORMAT=FILE.
func (r *File) UnmarshalText(text []byte) error {
	format, path, ok := strings.Cut(string(text), "=")
	switch {
	case !ok || path == "" || !slices.Contains(FileFormats(), format):
		return fmt.Errorf("want FORMAT=FILE, not %q; FORMAT is one of %s", text, strings.Join(FileFormats(), ", "))
	case path == "-":
		return errors.New("- is not a file; standard output is for -o")
	}
	r.Format, r.Path = format, path
	return nil
}

// reportFiles collects the content of the files of --report, and writes them at
// the end.
type reportFiles struct {
	to     []File
	traces []render.Trace // one for each manifest that was begun
	events []*eventFile
	since  time.Time
}

func newReportFiles(to []File) *reportFiles {
	f := &reportFiles{to: to}
	for _, r := range to {
		if r.Format == "jsonl" {
			f.events = append(f.events, newEventFile(r.Path))
		}
	}
	return f
}

func (f *reportFiles) want(format string) bool {
	return slices.ContainsFunc(f.to, func(r File) bool { return r.Format == format })
}

// begin is called before a manifest is run; m is nil when it was refused.
func (f *reportFiles) begin(m *model.Manifest, since time.Time) {
	f.since = since
	t := render.Trace{}
	if m != nil && f.want("html") {
		t.Graph.Edges = Edges(m, nil)
		t.Spans = make([]render.Span, len(m.Resources))
	}
	f.traces = append(f.traces, t)
}

// started and finished record the times of a resource, for formats that show them.
// A skipped resource is finished without having been started.
func (f *reportFiles) started(n int) {
	if s := f.span(n); s != nil {
		s.From = max(time.Since(f.since), 1)
	}
}

func (f *reportFiles) finished(n int) {
	if s := f.span(n); s != nil && s.From > 0 {
		s.To = time.Since(f.since)
	}
}

func (f *reportFiles) span(n int) *render.Span {
	if t := f.traces[len(f.traces)-1]; n < len(t.Spans) {
		return &t.Spans[n]
	}
	return nil
}

// writeEvent appends an event to the files of the format jsonl.
func (f *reportFiles) writeEvent(line []byte) {
	for _, e := range f.events {
		e.write(line)
	}
}

// write writes all files. It goes on after a file that cannot be written.
func (f *reportFiles) write(reports []model.Report, families []render.Family) error {
	var all []error
	events := f.events
	for _, r := range f.to {
		var err error
		if r.Format == "jsonl" {
			err = events[0].close()
			events = events[1:]
		} else {
			format, _ := render.FindFormat(r.Format) // UnmarshalText has checked it
			o := render.Options{Traces: f.traces, Families: families}
			if format.Follows {
				o.Previous, _ = os.ReadFile(r.Path) // without the file there are no earlier runs to count
			}
			err = writeReport(r.Path, format.Render(reports, o))
		}
		if err != nil {
			all = append(all, fmt.Errorf("write report %s: %w", r.Path, ExplainWriteError(err)))
		}
	}
	return errors.Join(all...)
}

// WriteFiles writes reports to files, for commands that run no manifest.
func WriteFiles(to []File, reports []model.Report) error {
	f := newReportFiles(to)
	for range reports {
		f.begin(nil, time.Now())
	}
	return f.write(reports, nil)
}
