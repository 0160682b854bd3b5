package main

import (
	"context"
	"errors"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/model/engine"
)

type applyCommand struct {
	manifestArgs
	reportFlags
	runFlags
	selectFlags
	valueFlags
	Plan  string `placeholder:"FILE" help:"Apply this saved plan, or stop when it is out of date (exit 69). The manifest and the selection come from the plan."`
	Label labels `sep:"none" placeholder:"KEY=VALUE" help:"Store a label with the run, such as a commit. Reports and the history show it. Repeatable."`
	Keep  int    `default:"50" placeholder:"N" help:"How many runs of each kind to keep in the history. Default: 50."`
}

// Validate refuses flags that exclude each other. kong calls it.
func (c *applyCommand) Validate() error {
	if err := errors.Join(c.manifestArgs.Validate(), c.runFlags.Validate(), c.selectFlags.Validate(), c.checkFiles(append(defaultToSettleYAML(c.Manifests), append(c.files(), c.Plan)...))); err != nil {
		return err
	}
	if err := c.Label.check(); err != nil {
		return err
	}
	switch {
	case c.Keep < 1:
		return errors.New("--keep must be at least 1")
	case c.Plan != "" && len(c.Manifests) > 1:
		return errSeveral
	case c.Plan != "" && c.NoState:
		return errors.New("--plan and --no-state exclude each other: a saved plan rests on the state")
	}
	return nil
}

func (c *applyCommand) run(a *app) []exit.Ending {
	j := &job{reportFlags: c.reportFlags, runFlags: c.runFlags, selectFlags: c.selectFlags, valueFlags: c.valueFlags, mode: "apply", act: engine.Apply, keep: c.Keep, plan: c.Plan, labels: c.Label.byKey()}
	paths := c.Manifests
	if c.Plan != "" {
		saved, refused := readSavedPlan(c.Plan)
		if refused != nil {
			l := &loaded{report: newReport(j.mode, c.Plan)}
			l.refuse(refused)
			return a.runManifests(context.Background(), j, []*loaded{l})
		}
		j.saved, j.act = saved, engine.Hold(saved.DecisionsByID(), j.sum(false))
		if len(paths) == 0 {
			paths = []string{saved.Manifest}
		}
		if j.selection().SelectsAll() {
			j.Only, j.Tags, j.SkipTags = saved.Selection.Only, saved.Selection.Tags, saved.Selection.SkipTags
		}
	}
	if c.Strict {
		j.act = failOnWarnings(j.act)
	}
	return a.walk(j, paths)
}

// Help is shown by settle apply --help.
func (*applyCommand) Help() string {
	return `Examples:

    settle apply                          settle.yaml in this directory
    settle apply site.yaml app.yaml       one after the other
    settle apply --parallel 4 site.yaml   up to four resources at once
    settle apply --only exec#reload       this one and everything it depends on
    settle apply --var env=test           set ${var.env}
    settle apply --plan plan.json         apply a saved plan
    settle apply -o json site.yaml        a report for programs
    generate | settle apply -             a manifest from standard input

Exits 0 when the machine is as declared, 1 when a resource failed, and with --detailed-exitcode 2 when something changed.`
}
