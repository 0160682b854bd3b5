package main

import (
	"errors"
	"fmt"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/providers/journal"
)

type forgetCommand struct {
	What     string `arg:"" optional:"" name:"ref" help:"The resource, as type#name or type#alias. With --all: the manifest."`
	Manifest string `arg:"" optional:"" help:"The manifest. Default: settle.yaml."`
	All      bool   `help:"Drop the state of all resources of the manifest."`
	valueFlags
	lockFlags
}

// Help is shown by settle forget --help.
func (*forgetCommand) Help() string {
	return `Drops three things: refreshes that are owed to the resource; the record that a failed or killed attempt left its creates paths unfinished, so that settle takes existing paths as complete; and the state in which settle left a file.

Examples:

    settle forget exec#reload             in settle.yaml
    settle forget exec#reload site.yaml
    settle forget --all site.yaml`
}

// Validate requires a resource or --all. kong calls it.
func (c *forgetCommand) Validate() error {
	switch {
	case !c.All && c.What == "":
		return errors.New("name a resource to forget, or give --all")
	case c.All && c.Manifest != "":
		return errors.New("with --all there is no resource to name: give one manifest")
	}
	return nil
}

func (c *forgetCommand) run(a *app) []exit.Ending {
	path, ref := c.Manifest, c.What
	if c.All {
		path, ref = c.What, ""
	}
	o := a.open(a.loadAlone(path, order{mode: "forget"}, c.valueFlags), "text", c.StateDir)
	if o.end.Refused != nil {
		return []exit.Ending{o.end}
	}
	fact, known, err := makeForgetRecord(ref, o.manifest)
	if err != nil {
		return a.refuseState(o, exit.Refuse(exit.Usage, "%s: %w", o.report.Manifest, err))
	}
	return a.change(o, c.LockTimeout, func(j *journal.Journal) error {
		debts, marks, left := countForgotten(j.Memory(), fact)
		switch {
		case debts+marks+left > 0:
			if err := j.Append([]model.Record{fact}, true); err != nil {
				return err
			}
		case !known:
			return exit.Refuse(exit.Usage, "%s: no resource %s, and nothing is remembered of it: settle list names resources, settle owed what is owed", o.report.Manifest, ref)
		}
		said := fmt.Sprintf("forgot %s and %s", countNoun(debts, "debt"), countNoun(marks, "mark"))
		if left > 0 {
			said += fmt.Sprintf(", and how %s was left", countNoun(left, "resource"))
		}
		a.say(said)
		return nil
	})
}

// makeForgetRecord returns the record that drops the state of a resource. ref is any
// of its names. known is false when the manifest does not have the resource, whose
// state may still exist.
func makeForgetRecord(ref string, m *model.Manifest) (fact model.Record, known bool, err error) {
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

// countForgotten counts the entries that a record is going to drop.
func countForgotten(m model.Memory, fact model.Record) (debts, marks, left int) {
	meant := func(id string) bool { return fact.ID == "" || id == fact.ID || id == fact.Alias }
	for _, debt := range m.Owed {
		if meant(debt.ID) {
			debts++
		}
	}
	return debts, countIDs(m.Unfinished, meant), countIDs(m.LastStates, meant)
}

// countIDs counts the keys that a record concerns.
func countIDs[V any](byID map[string]V, meant func(id string) bool) (n int) {
	for id := range byID {
		if meant(id) {
			n++
		}
	}
	return n
}
