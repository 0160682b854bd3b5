package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/model"
)

// reportTo is one --report: what to write, and where.
type reportTo struct{ format, file string }

// fileFormats returns the formats that --report can write.
func fileFormats() []string {
	return render.FormatNames(func(f render.Format) bool { return f.InFile })
}

// UnmarshalText reads FORMAT=FILE.
func (r *reportTo) UnmarshalText(text []byte) error {
	format, file, ok := strings.Cut(string(text), "=")
	switch {
	case !ok || file == "" || !slices.Contains(fileFormats(), format):
		return fmt.Errorf("want FORMAT=FILE, not %q; FORMAT is one of %s", text, strings.Join(fileFormats(), ", "))
	case file == "-":
		return errors.New("- is no file; standard output is for -o")
	}
	r.format, r.file = format, file
	return nil
}

// filer keeps what the files of --report will hold, and writes them at the end.
type filer struct {
	to      []reportTo
	traces  []render.Trace // one for each manifest that was begun
	tallies []*helperTally // of its helpers
	events  []*eventFile
	since   time.Time
}

func newFiler(to []reportTo) *filer {
	f := &filer{to: to}
	for _, r := range to {
		if r.format == "jsonl" {
			f.events = append(f.events, newEventFile(r.file))
		}
	}
	return f
}

func (f *filer) wants(format string) bool {
	return slices.ContainsFunc(f.to, func(r reportTo) bool { return r.format == format })
}

// begin is called before anything of a manifest happens; m is nil when it was refused.
func (f *filer) begin(m *model.Manifest, since time.Time) {
	f.since = since
	t := render.Trace{}
	if m != nil && f.wants("html") {
		t.Graph.Edges = edgesOf(m, nil)
		t.Spans = make([]render.Span, len(m.Resources))
	}
	f.traces = append(f.traces, t)
}

// started and finished take the times of a resource, where somebody will want to
// know. What was skipped is finished without having been started.
func (f *filer) started(n int) {
	if s := f.span(n); s != nil {
		s.From = max(time.Since(f.since), 1)
	}
}

func (f *filer) finished(n int) {
	if s := f.span(n); s != nil && s.From > 0 {
		s.To = time.Since(f.since)
	}
}

func (f *filer) span(n int) *render.Span {
	if t := f.traces[len(f.traces)-1]; n < len(t.Spans) {
		return &t.Spans[n]
	}
	return nil
}

// line adds an event to the files that hold events.
func (f *filer) line(text []byte) {
	for _, e := range f.events {
		e.write(text)
	}
}

// write writes all files. One that cannot be written does not keep the others
// from being written.
func (f *filer) write(reports []model.Report) error {
	var all []error
	events := f.events
	for _, r := range f.to {
		var err error
		if r.format == "jsonl" {
			err = events[0].close()
			events = events[1:]
		} else {
			format, _ := render.FindFormat(r.format) // UnmarshalText has checked it
			o := render.Options{Traces: f.traces, Families: helperFamilies(f.tallies)}
			if format.Follows {
				o.Previous, _ = os.ReadFile(r.file) // what cannot be read says nothing of earlier runs
			}
			err = writeReport(r.file, format.Render(reports, o))
		}
		if err != nil {
			all = append(all, fmt.Errorf("write report %s: %w", r.file, unwritable(err)))
		}
	}
	return errors.Join(all...)
}

// writeReport puts a report in its place in one step.
func writeReport(file string, text []byte) error {
	s, err := newSheet(file)
	if err != nil {
		return err
	}
	_, err = s.Write(text)
	return s.close(err)
}

// sheet is what a report is written on.
type sheet struct {
	*os.File
	place string // where it is moved once it is whole; empty when it is there already
	lent  bool   // settle's own standard output or error
}

// newSheet opens a new file that will replace the one of that name. A link stays
// one. What is no regular file (a pipe) cannot be replaced, and what standard
// output or error go to must not be: it would lose what others write there. Both
// are written to.
func newSheet(path string) (*sheet, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		path = linked(path)
		temp, err := newBeside(path, byUmask)
		return &sheet{File: temp, place: path}, err
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		out, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &sheet{File: out}, err
	}
	if f := standard(info); f != nil {
		return &sheet{File: f, lent: true}, nil
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, err
	}
	temp, err := newBeside(path, info.Mode().Perm())
	return &sheet{File: temp, place: path}, err
}

// standard returns that of standard output and error which goes to a file, if any.
func standard(info fs.FileInfo) *os.File {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if to, err := f.Stat(); err == nil && os.SameFile(info, to) {
			return f
		}
	}
	return nil
}

// linked follows a link to what is not there yet.
func linked(path string) string {
	for range 40 { // as many as the kernel follows
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Dir(path) + string(filepath.Separator) + to
		}
		path = to
	}
	return path
}

// close puts a sheet in its place, or removes it when anything failed.
func (s *sheet) close(err error) error {
	switch {
	case s.lent:
		return err
	case s.place == "":
		return errors.Join(err, s.Close())
	}
	return moved(s.File, s.place, err)
}

// byUmask is the mode of a file that nobody decided on.
const byUmask fs.FileMode = 0

// replace writes a file in place of what was there, whole or not at all.
func replace(path string, text []byte, mode fs.FileMode) error {
	temp, err := newBeside(path, mode)
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	return moved(temp, path, err)
}

// newBeside opens a new file in the directory of another, under a name of its own.
func newBeside(path string, mode fs.FileMode) (*os.File, error) {
	name := filepath.Join(filepath.Dir(path), ".settle-"+rand.Text())
	if mode == byUmask {
		return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	temp, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	return temp, temp.Chmod(mode)
}

// moved closes a file and gives it its name, or removes it when anything failed.
func moved(temp *os.File, path string, err error) error {
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name()) // the error that counts is the one before
	}
	return err
}

// eventFile is a file of events, which may be more than fit into memory: they go
// to disk as they come, and get the file's name at the end.
type eventFile struct {
	sheet *sheet // nil when it could not be made
	buf   *bufio.Writer
	err   error
}

func newEventFile(path string) *eventFile {
	s, err := newSheet(path)
	if err != nil {
		return &eventFile{err: err}
	}
	return &eventFile{sheet: s, buf: bufio.NewWriter(s)}
}

// write adds a line. It is not split between two writes: others may write to the
// same place.
func (e *eventFile) write(line []byte) {
	if e.err == nil && len(line) > e.buf.Available() {
		e.err = e.buf.Flush()
	}
	if e.err == nil {
		_, e.err = e.buf.Write(line)
	}
}

func (e *eventFile) close() error {
	if e.sheet == nil {
		return e.err
	}
	if e.err == nil {
		e.err = e.buf.Flush()
	}
	return e.sheet.close(e.err)
}
