// Package publish writes the report of a run: to standard output, to the files
// of --report, to the terminal and to the pipeline around settle. It decides
// nothing about a run, and knows no exit code.
package publish

import (
	"os"
	"strings"
	"sync"
	"time"

	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/cmd/internal/terminal"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
)

// Options say where and how to publish.
type Options struct {
	Out *terminal.Stream
	Err *terminal.Console

	Version string
	Mode    string // plan, apply or validate
	Output  string // the format of standard output: text, json or jsonl
	CI      string // auto, github, gitlab or none
	Files   []File

	Quiet    bool
	Verbose  bool
	Color    bool // of standard output
	Titled   bool // several manifests: write the name of each above its report
	Excerpts bool // standard output is a terminal: show the lines of problems
}

// Run is the run of one manifest. Manifest is nil when it was refused.
type Run struct {
	Manifest *model.Manifest
	Report   *model.Report
	Redact   func(string) string // hides the secrets of the manifest
}

// Publisher publishes the runs of one command, one manifest after the other.
type Publisher struct {
	Options
	files    *reportFiles
	progress *terminal.Progress
	pipeline *Pipeline
	printed  bool // a report in text form is on standard output
	reports  []*model.Report

	run       Run // the one between Begin and End
	since     time.Time
	resources []model.ResourceReport // of the run; those that were published are filled in
	times     []model.Times          // by resource
	published []bool                 // by resource

	mu  sync.Mutex // of seq: output comes from any goroutine
	seq int
}

// New returns a publisher and publishes the first event.
func New(o Options) *Publisher {
	p := &Publisher{Options: o}
	p.files, p.progress, p.pipeline = newReportFiles(o.Files), terminal.NewProgress(o.Err), NewPipeline(o.CI, o.Err, o.Quiet)
	p.writeEvent(render.Event{Type: render.EventVersion, Schema: render.EventsSchema, Version: o.Version})
	return p
}

// HideSecrets asks the pipeline to hide values in its log. It has to be called
// before anything that may hold them is written.
func (p *Publisher) HideSecrets(values []string) { p.pipeline.hideSecrets(values) }

// Wants reports whether one of the report files has a format.
func (p *Publisher) Wants(format string) bool { return p.files.want(format) }

// wantsEvents reports whether events are written anywhere.
func (p *Publisher) wantsEvents() bool { return p.Output == "jsonl" || p.files.want("jsonl") }

// writeEvent writes one line of jsonl.
func (p *Publisher) writeEvent(e render.Event) {
	if !p.wantsEvents() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seq++
	e.Seq, e.Time = p.seq, time.Now().UTC()
	line := render.Line(e)
	p.files.writeEvent(line)
	if line = p.pipeline.EscapeJSON(line); p.Output != "jsonl" {
		return
	}
	if e.Type == render.EventOutput {
		p.Out.Buffer(func(buffered []byte) []byte { return append(buffered, line...) })
	} else {
		p.print(line)
	}
}

// print writes a result to standard output, after everything that was written to
// standard error before: both may be the same terminal.
func (p *Publisher) print(result []byte) {
	p.Err.Flush()
	_, _ = p.Out.Write(result) // a Stream never fails
}

// Begin is called before anything of a manifest is run.
func (p *Publisher) Begin(r Run) {
	p.run, p.since = r, time.Now()
	p.resources, p.published, p.times = nil, nil, nil
	p.files.begin(r.Manifest, p.since)
	p.writeEvent(render.Event{
		Type: render.EventRunStarted, Run: r.Report.Run, Mode: p.Mode,
		Manifest: r.Report.Manifest, Name: r.Report.Name,
	})
}

// Watch returns the functions by which the engine reports progress of the run.
func (p *Publisher) Watch() engine.Watch {
	m := p.run.Manifest
	p.published, p.resources = make([]bool, len(m.Resources)), make([]model.ResourceReport, len(m.Resources))
	p.times = make([]model.Times, len(m.Resources))
	p.progress.Begin(len(m.Resources))
	p.pipeline.begin(m)
	w := engine.Watch{Started: p.started, Finished: p.finished}
	if p.wantsEvents() || !p.Quiet {
		w.Output = p.outputWriter(m)
	}
	return w
}

func (p *Publisher) started(n int) {
	id := p.run.Manifest.Resources[n].ID()
	p.files.started(n)
	p.times[n].FromMS = max(time.Since(p.since).Milliseconds(), 1)
	p.progress.Started(n, id)
	if p.wantsEvents() || p.Verbose {
		p.writeEvent(render.Event{Type: render.EventResourceStarted, ID: id})
		p.Err.Debug(render.Escape(id) + " begins")
	}
}

// outputWriter returns a function that publishes one line of a resource's output.
func (p *Publisher) outputWriter(m *model.Manifest) func(n int, line []byte) {
	prefixes := make([]string, len(m.Resources)) // each is made by one goroutine at a time
	return func(n int, line []byte) {
		p.progress.HadOutput(n)
		if p.wantsEvents() {
			text := strings.ToValidUTF8(string(line), "\uFFFD")
			p.writeEvent(render.Event{Type: render.EventOutput, ID: m.Resources[n].ID(), Line: &text})
		}
		if p.pipeline.printOutput(n, line) {
			return
		}
		if prefixes[n] == "" {
			prefixes[n] = p.Err.LinePrefix(m.Resources[n].ID())
		}
		p.Err.PrintOutput(prefixes[n], line)
	}
}

func (p *Publisher) finished(n int, result *model.Result) {
	r := p.reportResource(n, result)
	p.files.finished(n)
	if p.times[n].FromMS > 0 { // a skipped resource was not started
		p.times[n].ToMS = max(time.Since(p.since).Milliseconds(), p.times[n].FromMS)
	}
	p.progress.Finished(n)
	p.pipeline.finished(n, r)
	p.published[n] = true
	p.writeEvent(render.Event{Type: render.EventResourceFinished, Resource: r})
	p.printProgress(r)
}

// reportResource turns a result into its part of the report.
func (p *Publisher) reportResource(n int, result *model.Result) *model.ResourceReport {
	p.resources[n] = model.NewResourceReport(&p.run.Manifest.Resources[n], result, p.run.Redact)
	return &p.resources[n]
}

// ReportResources returns the resources of the report after a walk, including
// those that it did not come to because it was stopped.
func (p *Publisher) ReportResources(results []model.Result) []model.ResourceReport {
	for n := range results {
		if !p.published[n] {
			p.reportResource(n, &results[n])
		}
	}
	return p.resources
}

// Times returns when each resource was started and had finished.
func (p *Publisher) Times() []model.Times { return p.times }

// showsTableLater reports whether a person sees the status line now and the table
// of the report on the same terminal later: each resource is to be shown once.
func (p *Publisher) showsTableLater() bool {
	return p.Err.StatusLine != nil && p.Output == "text" && p.Excerpts && !p.Verbose
}

// printProgress writes a log line for a resource that has finished.
func (p *Publisher) printProgress(r *model.ResourceReport) {
	if !p.Err.Progress || p.Mode != "apply" || p.showsTableLater() {
		return
	}
	line := render.Escape(r.ID) + " " + strings.ReplaceAll(r.Status.String(), "_", " ")
	if r.Reason != "" {
		line += ": " + render.Escape(r.Reason)
	}
	switch r.Status {
	case model.Failed:
		p.Err.Error(line)
	case model.Changed:
		p.Err.Info(line)
	default:
		p.Err.Debug(line)
	}
}

// Interrupted is called right before a signal interrupts the run, by any goroutine.
// It returns a function that tells a person which resources the run waits for; it has
// to be called. grace is the time that commands get to end.
func (p *Publisher) Interrupted(by os.Signal, grace time.Duration) func() {
	again := "send the signal again"
	if by == os.Interrupt {
		again = "press Ctrl-C again"
	}
	return p.progress.AnnounceInterrupt(again, grace)
}

// End publishes the report of the run, which is complete.
func (p *Publisher) End() {
	p.progress.End()
	r := p.run.Report
	for i := range r.Resources { // a walk that was stopped did not come to all of them
		if i >= len(p.published) || !p.published[i] {
			p.writeEvent(render.Event{Type: render.EventResourceFinished, Resource: &r.Resources[i]})
		}
	}
	p.writeEvent(render.Event{Type: render.EventRunFinished, Report: r})
	PrintProblems(p.Err, r, p.Quiet)
	p.reports = append(p.reports, r)
	if p.Output == "text" {
		p.printText(*r)
	}
}

func (p *Publisher) printText(r model.Report) {
	body := render.Text([]model.Report{r}, render.Options{Verbose: p.Verbose, Quiet: p.Quiet, Color: p.Color, Titled: p.Titled, Excerpts: p.Excerpts, ASCII: terminal.IsASCII(os.Getenv)})
	if len(body) == 0 {
		return
	}
	if p.printed {
		body = append([]byte{'\n'}, body...)
	}
	p.printed = true
	p.print(p.pipeline.EscapeText(body))
}

// PrintProblems writes to standard error why a manifest was not run. The problems
// that validate finds are its result, and on standard output already.
func PrintProblems(c *terminal.Console, r *model.Report, quiet bool) {
	if r.Mode != "validate" && len(r.Problems) > 0 {
		o := render.Options{Color: c.Color, Excerpts: c.Terminal}
		for _, problem := range r.Problems {
			c.PrintText(render.ProblemText(problem, o))
		}
		for _, warning := range r.Warnings {
			if !quiet {
				c.PrintText(render.WarningText(warning, o))
			}
		}
	}
	if r.Error != "" && (r.Mode != "validate" || len(r.Problems) == 0) {
		c.PrintError(r.Error)
	}
}

// WriteFiles writes the report files when all manifests have been run. families
// are further metrics. An error names every file that could not be written.
func (p *Publisher) WriteFiles(families []render.Family) error {
	return p.files.write(p.allReports(), families)
}

// Close publishes what needs all reports. It comes after WriteFiles, since the
// reports hold its error.
func (p *Publisher) Close() {
	all := p.allReports()
	if p.Output == "json" {
		p.print(p.pipeline.EscapeJSON(render.JSON(all, render.Options{})))
	}
	p.pipeline.end(all, p.Output == "text", p.print)
}

func (p *Publisher) allReports() []model.Report {
	all := make([]model.Report, len(p.reports))
	for i, r := range p.reports {
		all[i] = *r
	}
	return all
}
