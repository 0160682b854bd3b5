package pkg

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/packages"
)

const lockPace = 200 * time.Millisecond // between two looks at the locks

// attempt is one Run of a resource.
type attempt struct {
	r        *resource
	m        Manager
	stage    model.Stage
	deadline time.Time // zero: no limit
	output   []string
	acted    bool // a program that changes packages was started
}

// Run repairs half-configured packages, reads the index if it has to, carries out
// the transaction, and checks the result in the package database.
func (r *resource) Run(ctx context.Context, stage model.Stage) (model.Effect, error) {
	if !r.machine.Root {
		return model.Effect{}, errNotRoot
	}
	m, err := r.manager()
	if err != nil {
		return model.Effect{}, err
	}
	select { // packages of one run take turns: a package manager does one thing at a time
	case r.machine.turn <- struct{}{}:
		defer func() { <-r.machine.turn }()
	case <-ctx.Done():
		return model.Effect{}, context.Cause(ctx)
	}
	a := &attempt{r: r, m: m, stage: stage}
	if r.timeout > 0 {
		a.deadline = r.machine.Now().Add(r.timeout)
	}
	before, err := a.begin(ctx)
	if err != nil {
		return model.Effect{Again: true}, err
	}
	exit, err := a.bring(ctx)
	return a.end(ctx, before, exit, err)
}

// begin waits for the locks and reads the database.
func (a *attempt) begin(ctx context.Context) (packages.Table, error) {
	if err := a.awaitLock(ctx); err != nil {
		return nil, err
	}
	return a.r.machine.database.read(ctx, a.m)
}

// awaitLock waits until no other package manager runs.
func (a *attempt) awaitLock(ctx context.Context) error {
	end := a.r.machine.Now().Add(a.r.lockTimeout)
	for {
		holder, err := a.m.LockHolder()
		if err != nil || holder == "" {
			return err
		}
		if !a.r.machine.Now().Before(end) {
			return fmt.Errorf("another package manager runs: %s, waited %s", holder, a.r.lockTimeout)
		}
		timer := time.NewTimer(lockPace)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// bring brings the packages into their declared state.
func (a *attempt) bring(ctx context.Context) (model.Exit, error) {
	v, err := a.repair(ctx)
	if err != nil {
		return model.Exit{}, err
	}
	if v, err = a.refreshIndex(ctx, v); err != nil || len(v.needs) == 0 {
		return model.Exit{}, err
	}
	t, err := a.r.prepare(ctx, a.m, v)
	if err != nil {
		return model.Exit{}, err
	}
	if a.r.hold != nil && !*a.r.hold {
		if err := a.markHold(ctx, false, v.needs); err != nil {
			return model.Exit{}, err
		}
	}
	var exit model.Exit
	if len(t.request.Install)+len(t.request.Remove) > 0 {
		if exit, err = a.apply(ctx, t.request); err != nil {
			return exit, err
		}
	}
	if a.r.hold != nil && *a.r.hold { // a change of a held package clears its mark
		err = a.markHold(ctx, true, v.needs)
	}
	return exit, err
}

// repair finishes an earlier, interrupted run of a package manager.
func (a *attempt) repair(ctx context.Context) (view, error) {
	v, err := a.r.look(ctx, a.m)
	if err != nil || !a.m.Interrupted() && !a.hasForeignBroken(v.table) {
		return v, err
	}
	request, err := a.limited(packages.Request{LockTimeout: a.r.lockTimeout})
	if err != nil {
		return v, err
	}
	exit, err := a.m.Repair(ctx, request, a.stage)
	a.note(exit)
	if err != nil {
		return v, fmt.Errorf("repair the interrupted package manager: %w", err)
	}
	return a.r.look(ctx, a.m)
}

// hasForeignBroken reports whether a package is half-way that the resource does
// not remove anyway.
func (a *attempt) hasForeignBroken(table packages.Table) bool {
	if !a.r.removes() {
		return hasBroken(table)
	}
	others := maps.Clone(table)
	maps.DeleteFunc(others, func(name string, _ []packages.Package) bool { return a.r.names(name) })
	return hasBroken(others)
}

func hasBroken(table packages.Table) bool {
	for _, entries := range table {
		for _, p := range entries {
			if p.State == packages.Broken {
				return true
			}
		}
	}
	return false
}

// refreshIndex reads the index anew where a package is unknown to it, or where it
// is older than declared. A source that fails is an error only when something
// that is wanted is still unknown.
func (a *attempt) refreshIndex(ctx context.Context, v view) (view, error) {
	if v.unknown == "" && !v.stale {
		return v, nil
	}
	request, err := a.limited(packages.Request{LockTimeout: a.r.lockTimeout})
	if err != nil {
		return v, err
	}
	exit, updateErr := a.m.Update(ctx, request, a.stage)
	a.note(exit)
	if ctx.Err() != nil {
		return v, updateErr
	}
	a.r.machine.updated = true
	v, err = a.r.look(ctx, a.m)
	if err != nil && updateErr != nil {
		return v, fmt.Errorf("%w; reading the index failed: %w", err, updateErr)
	}
	return v, err
}

// apply carries the transaction out, and waits again when another package manager
// took the lock in between.
func (a *attempt) apply(ctx context.Context, request packages.Request) (model.Exit, error) {
	for {
		limited, err := a.limited(request)
		if err != nil {
			return model.Exit{}, err
		}
		exit, err := a.m.Apply(ctx, limited, a.stage)
		a.note(exit)
		if err == nil || ctx.Err() != nil || !a.m.IsLocked(err) {
			return exit, err
		}
		if err := a.awaitLock(ctx); err != nil {
			return exit, err
		}
	}
}

func (a *attempt) markHold(ctx context.Context, hold bool, needs []need) error {
	var names []string
	for _, n := range needs {
		if n.hold != nil {
			names = append(names, n.name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	exit, err := a.m.Hold(ctx, hold, names, a.stage)
	a.note(exit)
	return err
}

// limited returns the request with the time that is left of the timeout.
func (a *attempt) limited(request packages.Request) (packages.Request, error) {
	if a.deadline.IsZero() {
		return request, nil
	}
	request.Timeout = a.deadline.Sub(a.r.machine.Now())
	if request.Timeout <= 0 {
		return request, errors.New("took longer than " + a.r.timeout.String())
	}
	return request, nil
}

func (a *attempt) note(exit model.Exit) {
	a.acted = a.acted || exit.Began
	if text := strings.TrimSpace(exit.Output); text != "" {
		a.output = append(a.output, text)
	}
}

// keptFile matches dpkg's message about a configuration file that it kept.
var keptFile = regexp.MustCompile(`(?m)^Configuration file '([^']+)'`)

// end compares the database with the one before, and verifies the result.
func (a *attempt) end(ctx context.Context, before packages.Table, exit model.Exit, failure error) (model.Effect, error) {
	effect := model.Effect{Output: strings.Join(a.output, "\n"), Truncated: exit.Truncated, Warnings: exit.Warnings}
	if exit.Began && exit.Signal == "" && failure == nil {
		effect.Exit = &exit.Code
	}
	after, err := a.m.Table(context.WithoutCancel(ctx))
	effect.Began = err != nil && a.acted || !equal(before, after)
	effect.Again = !effect.Began && ctx.Err() == nil
	if !a.r.newConfig {
		for _, m := range keptFile.FindAllStringSubmatch(effect.Output, -1) {
			effect.Warnings = append(effect.Warnings, fmt.Sprintf("kept %s; the package's is %s.dpkg-dist", m[1], m[1]))
		}
	}
	switch {
	case failure != nil && (hasBroken(after) || a.m.Interrupted()):
		return effect, fmt.Errorf("%w; a package is left half-way: the next run repairs it", failure)
	case failure != nil:
		return effect, failure
	case err != nil:
		return effect, err
	}
	effect.Unchanged = !effect.Began
	if err := a.verify(after); err != nil {
		return effect, err
	}
	effect.Output, effect.Truncated = "", false // as an exec shows output: after a failure
	return effect, nil
}

// verify checks that the database holds the declared state.
func (a *attempt) verify(table packages.Table) error {
	asPresent := *a.r
	if asPresent.ensure == "latest" {
		asPresent.ensure = "present" // the version was that of the index
	}
	needs, err := asPresent.needs(a.m, table, nil)
	switch {
	case err != nil:
		return err
	case len(needs) > 0:
		return errors.New("the package manager succeeded, but " + reasons(needs))
	}
	return nil
}

func equal(a, b packages.Table) bool {
	return maps.EqualFunc(a, b, func(x, y []packages.Package) bool { return slices.Equal(x, y) })
}
