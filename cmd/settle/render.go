package main

import (
	"slices"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/publish"
	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/resources"
)

type renderCommand struct {
	manifestArg
	valueFlags
	Output string `short:"o" enum:"yaml,json" default:"yaml" placeholder:"FORMAT" help:"Output format: yaml or json."`
	Strict bool   `help:"Treat warnings of the manifest as problems (exit 65)."`
}

// Help is shown by settle render --help.
func (*renderCommand) Help() string {
	return `Prints one manifest with all expressions evaluated, includes merged, for_each expanded, and secrets shown as ***. settle can load the result again.

Examples:

    settle render --var env=test
    settle render --var-file production.yaml site.yaml
    settle render --fact os=darwin -o json site.yaml | jq '.resources[]'

Exits 0 when there is no problem, 65 when there are problems, 66 when a file cannot be read.`
}

func (c *renderCommand) run(a *app) []exit.Ending {
	l := a.loadAlone(c.Manifest, order{mode: "render", strict: c.Strict}, c.valueFlags)
	if l.refused != nil {
		return []exit.Ending{a.reportRefusal(l, c.Output)}
	}
	text, _, warnings := manifests.Render(l.src, resources.Types(resources.World{}))
	for _, w := range warnings { // loading has reported some of them already
		if !slices.Contains(l.report.Warnings, w) {
			l.report.Warnings = append(l.report.Warnings, w)
		}
	}
	for _, w := range l.report.Warnings {
		if !a.Quiet {
			a.err.PrintText(render.WarningText(w, render.Options{Color: a.err.Color, Excerpts: a.err.Terminal}))
		}
	}
	if c.Output == "json" {
		text = manifests.JSON(text)
	}
	a.print(publish.NewPipeline("auto", a.err, a.Quiet).EscapeJSON(text)) // what it changes stands in quotes in YAML, too
	return []exit.Ending{{Report: &l.report}}
}
