package main

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/cmd/internal/terminal"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
)

// presenter tells of the manifests of one command, in the format that was asked
// for: the results on standard output, what happens meanwhile on standard error.
type presenter struct {
	*app
	reportFlags
	mode    string
	many    bool
	shown   bool // something is on standard output already
	reports []model.Report
	files   *filer
	live    *terminal.Progress
	pipe    *pipeline
	since   time.Time

	mu   sync.Mutex // of seq: output comes from any goroutine
	seq  int
	sent []bool // resources of which it was told that they are finished

	resources []model.ResourceReport // of the manifest that is walked; those that are sent are filled in
}

func (a *app) newPresenter(mode string, flags reportFlags, many bool) *presenter {
	p := &presenter{app: a, reportFlags: flags, mode: mode, many: many}
	p.files, p.live, p.pipe = newFiler(flags.Report), terminal.NewProgress(a.err), a.newPipeline(flags.CI)
	p.event(render.Event{Type: render.EventVersion, Schema: render.EventsSchema, Version: version})
	return p
}

// events says whether anybody reads what happens as it happens.
func (p *presenter) events() bool { return p.Output == "jsonl" || p.files.wants("jsonl") }

// event writes one line of jsonl.
func (p *presenter) event(e render.Event) {
	if !p.events() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seq++
	e.Seq, e.Time = p.seq, time.Now().UTC()
	line := render.Line(e)
	p.files.line(line)
	if line = p.pipe.inertJSON(line); p.Output != "jsonl" {
		return
	}
	if e.Type == render.EventOutput {
		p.out.Buffer(func(buffered []byte) []byte { return append(buffered, line...) })
	} else {
		p.print(line)
	}
}

// begin is called before anything of a manifest happens.
func (p *presenter) begin(l *loaded) {
	p.since = time.Now()
	p.sent = nil
	p.files.begin(l.manifest, p.since)
	p.event(render.Event{
		Type: render.EventRunStarted, Run: l.report.Run, Mode: p.mode,
		Manifest: l.report.Manifest, Name: l.report.Name,
	})
}

// watch tells of a walk while it goes on.
func (p *presenter) watch(l *loaded) engine.Watch {
	m := l.manifest
	p.sent, p.resources = make([]bool, len(m.Resources)), make([]model.ResourceReport, len(m.Resources))
	var w engine.Watch
	if p.events() || p.Verbose {
		w.Started = func(n int) {
			id := m.Resources[n].ID()
			p.event(render.Event{Type: render.EventResourceStarted, ID: id})
			p.err.Debug(render.Escape(id) + " begins")
		}
	}
	if p.events() || !p.Quiet {
		fronts := make([]string, len(m.Resources)) // made when needed: each by one goroutine at a time
		w.Output = func(n int, line []byte) {
			if p.events() {
				text := strings.ToValidUTF8(string(line), "\uFFFD")
				p.event(render.Event{Type: render.EventOutput, ID: m.Resources[n].ID(), Line: &text})
			}
			if p.pipe.output(n, line) {
				return
			}
			if fronts[n] == "" {
				fronts[n] = p.err.LinePrefix(m.Resources[n].ID())
			}
			p.err.PrintOutput(fronts[n], line)
		}
	}
	return p.aside(l, w)
}

// resource turns a result into its part of the report.
func (p *presenter) resource(l *loaded, n int, result *model.Result) *model.ResourceReport {
	p.resources[n] = model.NewResourceReport(&l.manifest.Resources[n], result, l.mask.Redact)
	return &p.resources[n]
}

// rest completes the resources of the report when a walk has ended: one that was
// stopped did not come to all of them.
func (p *presenter) rest(l *loaded, results []model.Result) []model.ResourceReport {
	for n := range results {
		if !p.sent[n] {
			p.resource(l, n, &results[n])
		}
	}
	return p.resources
}

// aside tells of a walk those who do not read the result: who watches, the
// pipeline, and the files that are written at the end.
func (p *presenter) aside(l *loaded, w engine.Watch) engine.Watch {
	m, started, output := l.manifest, w.Started, w.Output
	p.live.Begin(len(m.Resources))
	p.pipe.begin(m)
	w.Started = func(n int) {
		p.files.started(n)
		p.live.Started(n, m.Resources[n].ID())
		if started != nil {
			started(n)
		}
	}
	if output != nil {
		w.Output = func(n int, line []byte) {
			p.live.HadOutput(n)
			output(n, line)
		}
	}
	w.Finished = func(n int, result *model.Result) {
		r := p.resource(l, n, result)
		p.files.finished(n)
		p.live.Finished(n)
		p.pipe.finished(n, r)
		p.sent[n] = true
		p.event(render.Event{Type: render.EventResourceFinished, Resource: r})
		p.progress(r)
	}
	return w
}

// progress tells whoever watches that a resource did something.
func (p *presenter) progress(o *model.ResourceReport) {
	if !p.err.Progress || p.mode != "apply" {
		return
	}
	line := render.Escape(o.ID) + " " + strings.ReplaceAll(o.Status.String(), "_", " ")
	if o.Reason != "" {
		line += ": " + render.Escape(o.Reason)
	}
	switch o.Status {
	case model.Failed:
		p.err.Error(line)
	case model.Changed:
		p.err.Info(line)
	default:
		p.err.Debug(line)
	}
}

// end is called when all is known of a manifest.
func (p *presenter) end(l *loaded, e ending) {
	p.live.End()
	l.report.DurationMS = time.Since(p.since).Milliseconds()
	l.report.ExitCode = exitCode(e)
	for i := range l.report.Resources { // a walk that was stopped did not come to all
		if i >= len(p.sent) || !p.sent[i] {
			p.event(render.Event{Type: render.EventResourceFinished, Resource: &l.report.Resources[i]})
		}
	}
	p.event(render.Event{Type: render.EventRunFinished, Report: &l.report})
	p.complainOf(l)
	p.reports = append(p.reports, l.report)
	if p.files.wants("metrics") {
		p.files.tallies = append(p.files.tallies, l.told())
	}
	if p.Output == "text" {
		p.text(l.report)
	}
}

func (p *presenter) text(r model.Report) {
	body := render.Text([]model.Report{r}, render.Options{Verbose: p.Verbose, Quiet: p.Quiet, Color: p.color, Titled: p.many, Excerpts: p.watched})
	if len(body) == 0 {
		return
	}
	if p.shown {
		body = append([]byte{'\n'}, body...)
	}
	p.shown = true
	p.print(p.pipe.inert(body))
}

// complainOf says on standard error why a manifest was not run. The problems
// that validate finds are its result, and on standard output already.
func (a *app) complainOf(l *loaded) {
	if l.report.Mode != "validate" && len(l.report.Problems) > 0 {
		o := render.Options{Color: a.err.Color, Excerpts: a.err.Terminal}
		for _, p := range l.report.Problems {
			a.err.PrintText(render.ProblemText(p, o))
		}
		for _, w := range l.report.Warnings {
			if !a.Quiet {
				a.err.PrintText(render.WarningText(w, o))
			}
		}
	}
	if l.report.Error != "" && (l.report.Mode != "validate" || len(l.report.Problems) == 0) {
		a.err.PrintError(l.report.Error)
	}
}

// close is called when all manifests have been, with how each ended. It returns
// the ending that it makes itself when a report cannot be written.
func (p *presenter) close(endings []ending) []ending {
	unwritten := p.files.write(p.reports)
	if unwritten != nil {
		p.err.PrintError(unwritten.Error())
		for i := range p.reports {
			e := endings[i]
			e.unwritten = errors.Join(e.unwritten, unwritten)
			p.reports[i].ExitCode = exitCode(e)
			if p.reports[i].Error == "" {
				p.reports[i].Error = strings.ReplaceAll(unwritten.Error(), "\n", "; ")
			}
		}
	}
	if p.Output == "json" {
		p.print(p.pipe.inertJSON(render.JSON(p.reports, render.Options{})))
	}
	p.pipe.end(p.reports, p.Output == "text")
	if unwritten != nil {
		endings = append(endings, ending{unwritten: unwritten})
	}
	return endings
}
