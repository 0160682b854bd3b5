package main

import (
	"fmt"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
)

type owedCommand struct {
	manifestArg
	valueFlags
	stateFlags
	Output string `short:"o" enum:"text,json" default:"text" placeholder:"FORMAT" help:"Output format: text or json."`
}

// Help is shown by settle owed --help.
func (*owedCommand) Help() string {
	return `A subscriber is owed a refresh when a resource that it subscribes to changed, or may have changed, and the subscriber has not run successfully since. The next apply delivers the refresh.

Examples:

    settle owed
    settle owed -o json site.yaml | jq -r '.owed[].id'`
}

func (c *owedCommand) run(a *app) []exit.Ending {
	l := a.loadAlone(c.Manifest, order{mode: "owed"}, c.valueFlags)
	whole := !a.identify(l)
	o := a.open(l, c.Output, c.StateDir)
	if o.end.Refused != nil {
		return []exit.Ending{o.end}
	}
	snap, err := o.store.Read()
	if err != nil {
		return a.refuseState(o, refuseForState(err))
	}
	if snap.Active != nil {
		a.err.Info("an apply is running: what is owed may change")
	}
	memory := snap.Memory()
	debts, marks := listOwed(&memory, o.manifest, whole)
	if o.json {
		a.print(render.Document(map[string][]render.OwedRefresh{"owed": debts}))
	} else {
		a.print(render.Owed(debts, marks))
	}
	return []exit.Ending{o.end}
}

// identify accepts a manifest with problems, such as a missing include, by its name
// alone: its owed refreshes can still be listed.
func (a *app) identify(l *loaded) bool {
	if l.refused == nil || l.refused.Code != exit.Invalid {
		return false
	}
	m, _ := manifests.Identify(l.src)
	if m == nil {
		return false
	}
	a.err.Warn(fmt.Sprintf("%s: what it holds now is not known", l.refused.Error()))
	l.manifest, l.whole, l.refused, l.report.Error = m, m, nil, ""
	return true
}

// listOwed lists owed refreshes in the order in which they were recorded, and
// unfinished `creates` by name. Only a whole manifest can tell which resources
// are gone.
func listOwed(m *model.Memory, manifest *model.Manifest, whole bool) ([]render.OwedRefresh, []render.Unfinished) {
	names := map[string]string{} // any name of a resource -> its id
	for i := range manifest.Resources {
		r := &manifest.Resources[i]
		names[r.AliasID()] = r.ID()
	}
	for i := range manifest.Resources {
		names[manifest.Resources[i].ID()] = manifest.Resources[i].ID()
	}
	debts := []render.OwedRefresh{}
	for _, d := range m.Owed {
		id, there := names[d.ID]
		debt := render.OwedRefresh{ID: d.ID, By: d.By, SinceRun: d.Since, Orphan: whole && !there}
		if there && id != d.ID {
			debt.Now = id
		}
		debts = append(debts, debt)
	}
	var marks []render.Unfinished
	for _, fact := range m.Records() {
		if fact.Kind == model.RecordUnfinished {
			marks = append(marks, render.Unfinished{ID: fact.ID, Run: fact.Run})
		}
	}
	return debts, marks
}
