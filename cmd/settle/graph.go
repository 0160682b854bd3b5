package main

import (
	"fmt"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/publish"
	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/resources"
)

type graphCommand struct {
	manifestArg
	selectFlags
	valueFlags
	stateFlags
	Run    string `placeholder:"RUN" help:"Colour each resource by its status in this run: last, or an id from settle history."`
	Output string `short:"o" enum:"dot,mermaid,json,svg,html" default:"dot" placeholder:"FORMAT" help:"Output format: dot, mermaid, json, svg or html. Default: dot."`
}

// Help is shown by settle graph --help.
func (*graphCommand) Help() string {
	return `An arrow points from a resource to a resource that waits for it. It is solid when a change refreshes the second one, and dashed when it only sets the order.

Examples:

    settle graph site.yaml | dot -Tsvg > site.svg
    settle graph -o mermaid site.yaml
    settle graph --run last site.yaml     coloured by the last run`
}

func (c *graphCommand) run(a *app) []exit.Ending {
	l := a.loadAlone(c.Manifest, order{mode: "graph"}, c.valueFlags)
	e := exit.Ending{Report: &l.report}
	var loops [][]int
	if l.refused != nil && l.refused.Code == exit.Invalid {
		if m, found := manifests.LoadGraph(l.src, resources.Types(resources.World{})); m != nil {
			e.Refused = l.refused
			e.Finish()
			a.printProblems(l) // and draw the cycle all the same
			l.refused, l.manifest, loops = nil, m, found
		}
	}
	if l.refused != nil {
		return []exit.Ending{a.reportRefusal(l, c.Output)}
	}
	all := publish.Edges(l.manifest, loops)
	selectResources([]*loaded{l}, c.selection())
	var statuses map[string]string
	if l.refused == nil && c.Run != "" {
		statuses = a.readStatuses(l, c.Run, c.StateDir)
	}
	if l.refused != nil {
		return []exit.Ending{a.reportRefusal(l, c.Output)}
	}
	a.print(render.Graphs[c.Output](part(all, l.manifest, statuses)))
	return []exit.Ending{e}
}

// readStatuses returns the status of each resource in a run. It refuses the manifest
// when the run cannot be read.
func (a *app) readStatuses(l *loaded, run, dir string) map[string]string {
	if l.manifest.Identity == "" {
		l.refuse(exit.Refuse(exit.Usage, "%s: a manifest from standard input needs a name to be remembered: begin it with name:", l.report.Manifest))
		return nil
	}
	store, err := a.store(dir, l.manifest.Identity)
	if err != nil {
		l.refuse(refuseForState(err))
		return nil
	}
	snap, err := store.Read()
	if err != nil {
		l.refuse(refuseForState(err))
		return nil
	}
	past, report, err := snap.Report(run)
	if err != nil {
		l.refuse(exit.Refuse(exit.Usage, "%s: %w", l.report.Manifest, err))
		return nil
	}
	statuses := map[string]string{}
	if report == nil { // a run that found all as declared leaves a line
		if past.Summary.Total != len(l.whole.Resources) {
			a.err.Info(fmt.Sprintf("run %s found all of %s as declared; which ones is not kept", past.Run, countNoun(past.Summary.Total, "resource")))
			return nil
		}
		for i := range l.manifest.Resources {
			statuses[l.manifest.Resources[i].ID()] = model.Stable.String()
		}
		return statuses
	}
	for i := range report.Resources {
		statuses[report.Resources[i].ID] = report.Resources[i].Status.String()
	}
	return statuses
}

// part returns the graph of the selected resources, with the edges between them.
func part(all []render.Edge, m *model.Manifest, statuses map[string]string) render.Graph {
	g := render.Graph{Nodes: []render.Node{}, Edges: []render.Edge{}}
	kept := map[string]bool{}
	for i := range m.Resources {
		id := m.Resources[i].ID()
		kept[id] = true
		g.Nodes = append(g.Nodes, render.Node{ID: id, Status: statuses[id]})
	}
	for _, e := range all {
		if kept[e.From] && kept[e.To] {
			g.Edges = append(g.Edges, e)
		}
	}
	return g
}
