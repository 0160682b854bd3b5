package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/providers/journal"
)

// stateFlags belong to the commands that look at what is remembered.
type stateFlags struct {
	StateDir string `placeholder:"DIR" help:"Where runs are remembered. Default: SETTLE_STATE_DIR, else /var/lib/settle for root, else $$XDG_STATE_HOME/settle."`
}

// lockFlags belong to the commands that change what is remembered.
type lockFlags struct {
	stateFlags
	LockTimeout span `placeholder:"TIME" help:"How long to wait for an apply of the same manifest. Default: not at all."`
}

type owedCommand struct {
	manifestArg
	valueFlags
	stateFlags
	Output string `short:"o" enum:"text,json" default:"text" placeholder:"FORMAT" help:"text or json."`
}

type forgetCommand struct {
	What     string `arg:"" optional:"" name:"ref" help:"The resource: type#name, or type#alias. With --all, the manifest."`
	Manifest string `arg:"" optional:"" help:"The manifest. Default: settle.yaml."`
	All      bool   `help:"Forget all of the manifest's debts and marks."`
	valueFlags
	lockFlags
}

// Validate makes sure that it is said what to forget. kong calls it.
func (c *forgetCommand) Validate() error {
	switch {
	case !c.All && c.What == "":
		return errors.New("name a resource to forget, or give --all")
	case c.All && c.Manifest != "":
		return errors.New("with --all there is no resource to name: give one manifest")
	}
	return nil
}

// opened is the state of one manifest, for a command that looks at it or changes it.
type opened struct {
	*loaded
	store journal.Store
	end   ending
	json  bool // the result is wanted as a document
}

// open says where the state of a manifest is. When it cannot, end.refused says
// why, and it has been told.
func (a *app) open(l *loaded, format, dir string) *opened {
	o := &opened{loaded: l, json: format == "json"}
	if l.refused != nil {
		o.end = a.reportRefusal(l, format)
		return o
	}
	o.end.report = &o.report
	if o.manifest.Identity == "" {
		a.refuseState(o, refuse(exitUsage, "%s: a manifest from standard input needs a name to be remembered: begin it with name:", o.report.Manifest))
		return o
	}
	var err error
	if o.store, err = a.store(dir, o.manifest.Identity); err != nil {
		a.refuseState(o, refusedState(err))
	}
	o.report.State.Dir = o.store.Dir
	return o
}

// refuseState ends a command with a refusal, in the format that was asked for.
func (a *app) refuseState(o *opened, r *refusal) []ending {
	o.refuse(r)
	o.end.refused = r
	o.end.finish()
	a.printProblems(o.loaded)
	if o.json {
		a.print(render.JSON([]model.Report{o.report}, render.Options{}))
	}
	return []ending{o.end}
}

func (c *owedCommand) run(a *app) []ending {
	l := a.loadAlone(c.Manifest, order{mode: "owed"}, c.valueFlags)
	whole := !a.identify(l)
	o := a.open(l, c.Output, c.StateDir)
	if o.end.refused != nil {
		return []ending{o.end}
	}
	snap, err := o.store.Read()
	if err != nil {
		return a.refuseState(o, refusedState(err))
	}
	if snap.Active != nil {
		a.err.Info("an apply is running: what is owed may change")
	}
	memory := snap.Memory()
	debts, marks := outstanding(&memory, o.manifest, whole)
	if o.json {
		a.print(render.Document(map[string][]render.OwedRefresh{"owed": debts}))
	} else {
		a.print(render.Owed(debts, marks))
	}
	return []ending{o.end}
}

// identify makes do with the name of a manifest that has problems, an included
// file that is missing for one: what it is owed is remembered all the same.
func (a *app) identify(l *loaded) bool {
	if l.refused == nil || l.refused.code != exitInvalid {
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

// outstanding lists what is remembered against resources: debts in the order
// in which they were made, marks by name. Only of a whole manifest it can be
// said what is not in it any more.
func outstanding(m *model.Memory, manifest *model.Manifest, whole bool) ([]render.OwedRefresh, []render.Unfinished) {
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

func (c *forgetCommand) run(a *app) []ending {
	path, ref := c.Manifest, c.What
	if c.All {
		path, ref = c.What, ""
	}
	o := a.open(a.loadAlone(path, order{mode: "forget"}, c.valueFlags), "text", c.StateDir)
	if o.end.refused != nil {
		return []ending{o.end}
	}
	fact, known, err := forgotten(ref, o.manifest)
	if err != nil {
		return a.refuseState(o, refuse(exitUsage, "%s: %w", o.report.Manifest, err))
	}
	return a.change(o, c.LockTimeout, func(j *journal.Journal) error {
		debts, marks, left := remembered(j.Memory(), fact)
		switch {
		case debts+marks+left > 0:
			if err := j.Append([]model.Record{fact}, true); err != nil {
				return err
			}
		case !known:
			return refuse(exitUsage, "%s: no resource %s, and nothing is remembered of it: settle list names resources, settle owed what is owed", o.report.Manifest, ref)
		}
		said := fmt.Sprintf("forgot %s and %s", counted(debts, "debt"), counted(marks, "mark"))
		if left > 0 {
			said += fmt.Sprintf(", and how %s was left", counted(left, "resource"))
		}
		a.say(said)
		return nil
	})
}

// forgotten is the fact that drops what is remembered of a resource, by any of
// its names; of one that the manifest does not know as well.
func forgotten(ref string, m *model.Manifest) (fact model.Record, known bool, err error) {
	fact.Kind = model.RecordForget
	if ref == "" {
		return fact, true, nil
	}
	if _, ok := model.ParseRef(ref); !ok {
		return fact, false, fmt.Errorf("%q is no reference: write type#name", ref)
	}
	fact.ID = ref
	for i := range m.Resources {
		if r := &m.Resources[i]; ref == r.ID() || ref == r.AliasID() {
			fact.ID, fact.Alias = r.ID(), r.AliasID()
			return fact, true, nil
		}
	}
	return fact, false, nil
}

// remembered counts what a fact is going to forget.
func remembered(m model.Memory, fact model.Record) (debts, marks, left int) {
	meant := func(id string) bool { return fact.ID == "" || id == fact.ID || id == fact.Alias }
	for _, debt := range m.Owed {
		debts += when(meant(debt.ID), 1)
	}
	for id := range m.Unfinished {
		marks += when(meant(id), 1)
	}
	for id := range m.LastStates {
		left += when(meant(id), 1)
	}
	return debts, marks, left
}

// elsewhere warns of state of the same manifest that another user has.
func elsewhere(s journal.Store, l *loaded) []model.Problem {
	var warnings []model.Problem
	for _, message := range s.OtherUsers(os.Getenv, os.Geteuid()) {
		warnings = append(warnings, model.Problem{Pos: model.Pos{File: l.report.Manifest}, Message: message})
	}
	return warnings
}

// say prints one line of a result, unless nobody wants to hear it.
func (a *app) say(line string) {
	if !a.Quiet {
		a.print([]byte(render.Escape(line) + "\n"))
	}
}

// change does something to the state of a manifest while it holds the lock.
func (a *app) change(o *opened, wait span, do func(*journal.Journal) error) []ending {
	ctx, stop := a.interruptible(context.Background(), 0)
	defer stop()
	j, err := o.store.Lock(ctx, time.Duration(wait), holder("", o.report.Started))
	if err != nil {
		if ctx.Err() != nil {
			o.end.cause = context.Cause(ctx)
		}
		if errors.As(err, new(*journal.Held)) {
			return a.refuseState(o, refuse(exitLater, "%w%s", err, waitFor(wait)))
		}
		return a.refuseState(o, refusedState(err))
	}
	err = do(j)
	err = cmp.Or(err, j.Close())
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return a.refuseState(o, refused)
	case err != nil:
		return a.refuseState(o, refusedState(err))
	}
	return []ending{o.end}
}
