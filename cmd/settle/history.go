package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/cmd/internal/terminal"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/providers/journal"
)

// Validate knows the formats from their table. kong calls it.
func (c *showCommand) Validate() error {
	if _, ok := render.FindFormat(c.Output); !ok {
		return fmt.Errorf("--output must be one of %s but got %q", strings.Join(render.FormatNames(nil), ", "), c.Output)
	}
	return nil
}

type historyCommand struct {
	manifestArg
	valueFlags
	stateFlags
	Since  string `placeholder:"RUN" help:"List only the runs after this one."`
	Output string `short:"o" enum:"text,json,html" default:"text" placeholder:"FORMAT" help:"Output format: text, json or html."`
}

// Help is shown by settle history --help.
func (*historyCommand) Help() string {
	return `The newest run comes first. settle keeps the last 50 runs that changed something, failed or were stopped, and the last 50 runs without changes (see settle apply --keep).

Examples:

    settle history
    settle history --since 20260102T030405Z-k3pd7q   runs after this one
    settle history -o html site.yaml > runs.html     trends and the report of each run
    settle history -o json site.yaml | jq -r '.runs[0].run'`
}

func (c *historyCommand) run(a *app) []exit.Ending {
	o := a.open(a.loadAlone(c.Manifest, order{mode: "history", named: true}, c.valueFlags), c.Output, c.StateDir)
	if o.end.Refused != nil {
		return []exit.Ending{o.end}
	}
	snap, err := o.store.Read()
	if err != nil {
		return a.refuseState(o, refuseForState(err))
	}
	runs, err := snap.RunsAfter(c.Since)
	if err != nil {
		return a.refuseState(o, exit.Refuse(exit.Usage, "%s: %w", o.report.Manifest, err))
	}
	slices.Reverse(runs) // the last one is what people look for
	switch {
	case c.Output == "html":
		past, err := pastRuns(snap, runs)
		if err != nil {
			return a.refuseState(o, refuseForState(err))
		}
		a.print(render.HistoryPage(cmp.Or(o.report.Name, o.report.Manifest), o.report.Manifest, past))
	case o.json:
		a.print(render.Document(map[string][]model.RunRecord{"runs": append([]model.RunRecord{}, runs...)}))
	default:
		a.print(render.History(runs))
	}
	return []exit.Ending{o.end}
}

// pastRuns returns runs with their reports, as far as these are kept.
func pastRuns(snap *journal.Snapshot, runs []model.RunRecord) ([]render.PastRun, error) {
	past := make([]render.PastRun, len(runs))
	for i, r := range runs {
		past[i].RunRecord = r
		if r.ExitCode == nil || r.Converged() {
			continue // neither leaves a report
		}
		_, report, err := snap.Report(r.Run)
		if err != nil {
			return nil, err
		}
		past[i].Report = report
	}
	return past, nil
}

type showCommand struct {
	Run      string `arg:"" help:"The run: an id from settle history, or last."`
	Manifest string `arg:"" optional:"" help:"The manifest. Default: settle.yaml."`
	valueFlags
	stateFlags
	Output string `short:"o" default:"text" placeholder:"FORMAT" help:"Output format: text, json, jsonl, html, junit, markdown or metrics."`
}

// Help is shown by settle show --help.
func (*showCommand) Help() string {
	return `Examples:

    settle show last                                the last run of settle.yaml
    settle show 20260102T030405Z-k3pd7q site.yaml   an id from settle history
    settle show last -o markdown site.yaml          the same report in another format`
}

func (c *showCommand) run(a *app) []exit.Ending {
	o := a.open(a.loadAlone(c.Manifest, order{mode: "show", named: true}, c.valueFlags), c.Output, c.StateDir)
	if o.end.Refused != nil {
		return []exit.Ending{o.end}
	}
	snap, err := o.store.Read()
	if err != nil {
		return a.refuseState(o, refuseForState(err))
	}
	past, report, err := snap.Report(c.Run)
	var missing *journal.UnknownRun
	switch {
	case errors.As(err, &missing):
		return a.refuseState(o, exit.Refuse(exit.Usage, "%s: %w", o.report.Manifest, err))
	case err != nil:
		return a.refuseState(o, refuseForState(err))
	case report == nil:
		report = reportFromRecord(&past, &o.report)
	}
	if c.Output == "text" {
		a.print(render.RunHeader(&past))
		if past.ExitCode == nil {
			return []exit.Ending{o.end}
		}
	}
	format, _ := render.FindFormat(c.Output) // Validate has checked it
	a.print(format.Render([]model.Report{*report}, render.Options{Verbose: a.Verbose, Color: a.color, ASCII: terminal.IsASCII(os.Getenv)}))
	return []exit.Ending{o.end}
}

// reportFromRecord returns a report with the summary of a run, when its whole report is
// not stored.
func reportFromRecord(past *model.RunRecord, of *model.Report) *model.Report {
	r := *of
	r.Mode, r.Run, r.Started, r.DurationMS, r.Summary = past.Mode, past.Run, past.Started, past.DurationMS, past.Summary
	r.Labels = past.Labels
	r.State.Found = true
	switch {
	case past.ExitCode != nil:
		r.ExitCode = *past.ExitCode
	case past.Running:
		r.Error = "the run goes on"
	default:
		r.Error, r.ExitCode = "the run was killed and left no report", exit.Failed
	}
	return &r
}
