package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
	"github.com/settle-cm/settle/providers/journal"
	"github.com/settle-cm/settle/providers/proc"
)

// memory is what a run knows of earlier ones, and where it leaves what later
// ones have to know: nowhere for a plan, and for a run without state.
type memory struct {
	engine.Journal
	model.Memory
	locked *journal.Journal // nil when nothing is written
	place  string           // in the journal, as it was found
	keep   int
}

// remember opens the state of a manifest: for reading only, or for an apply,
// locked. The error is a *refusal.
func (a *app) remember(ctx context.Context, j *job, l *loaded) (*memory, error) {
	none := &memory{Journal: engine.NoJournal{}, Memory: model.Replay(nil)}
	switch {
	case j.NoState:
		a.err.Info("without state: nothing is remembered and nothing is locked (--no-state)")
		return none, nil
	case l.manifest.Identity == "":
		a.err.Info("without state: a manifest from standard input needs a name to be remembered")
		return none, nil
	}
	store, err := a.store(j.StateDir, l.manifest.Identity)
	if err != nil {
		return nil, refusedState(err)
	}
	l.report.State.Dir = store.Dir
	if j.mode == "plan" {
		snap, err := store.Read()
		if err != nil {
			return nil, refusedState(err)
		}
		l.report.State.Found = snap.Found
		none.Memory, none.place = snap.Memory(), snap.Position()
		l.report.Warnings = append(l.report.Warnings, elsewhere(store, l)...)
		return none, a.missing(j, l, none)
	}
	locked, err := store.Lock(ctx, time.Duration(j.LockTimeout), labeled(holder(l.report.Run, l.report.Started), j.labels))
	var held *journal.Held
	switch {
	case errors.As(err, &held): // by whom is said; of several manifests also which
		stillOwed(store, l)
		return nil, refuse(exitLater, "%s: %w%s", l.report.Manifest, err, waitFor(j.LockTimeout))
	case ctx.Err() != nil && err != nil: // it was not waited any longer
		return nil, &refusal{exitLater, err}
	case err != nil:
		return nil, refusedState(err)
	}
	if err := paused(store, l); err != nil { // under the lock: nobody pauses behind our back
		_ = locked.Close() // nothing was written
		stillOwed(store, l)
		return nil, err
	}
	l.report.State.Found = locked.Found
	m := &memory{Journal: locked, Memory: locked.Memory(), locked: locked, keep: j.keep, place: locked.Position()}
	if err := a.missing(j, l, m); err != nil {
		_ = m.abandon() // nothing was written
		return nil, err
	}
	return m, nil
}

// waitFor says how to wait for a lock, to who did not.
func waitFor(timeout span) string {
	if timeout > 0 {
		return ""
	}
	return "; --lock-timeout TIME waits for it"
}

// store says where the state of an identity is.
func (a *app) store(dir, identity string) (journal.Store, error) {
	dir, err := journal.Dir(dir, os.Getenv, os.Geteuid())
	return journal.Store{Dir: dir, Identity: identity, Alive: proc.Alive}, err
}

// labeled returns a holder whose run has labels.
func labeled(h journal.Holder, labels map[string]string) journal.Holder {
	h.Labels = labels
	return h
}

// holder is this process, as others see it when they find the state locked.
func holder(run string, since time.Time) journal.Holder {
	h := journal.Holder{Process: proc.Identify(os.Getpid()), Run: run, Since: since}
	if me, err := user.Current(); err == nil {
		h.User = me.Username
	}
	return h
}

func paused(store journal.Store, l *loaded) error {
	pause, err := store.Paused(time.Now())
	switch {
	case err != nil:
		return refusedState(err)
	case pause != nil:
		return &refusal{exitLater, fmt.Errorf("%s: %w", l.report.Manifest, pause)}
	}
	return nil
}

// stillOwed tells the report of an apply that has to wait what is owed all the
// same: who watches the debts must not take them for paid.
func stillOwed(store journal.Store, l *loaded) {
	if snap, err := store.Read(); err == nil {
		memory := snap.Memory()
		l.report.State.Found, l.report.Summary.Owed = snap.Found, len(memory.Owed)
	}
}

// refusedState gives an error of the state its exit code.
func refusedState(err error) *refusal {
	var held *journal.Held
	if errors.As(err, &held) {
		return &refusal{exitLater, err}
	}
	return &refusal{exitUnwritten, err}
}

// missing does what was asked for the case that nothing is remembered, and
// tells of refreshes that nobody is left to get.
func (a *app) missing(j *job, l *loaded, m *memory) error {
	if m.locked != nil {
		if err := m.Append(m.DropLastStates(l.whole), false); err != nil {
			return refusedState(err)
		}
	}
	for _, debt := range m.OrphanedRefreshes(l.whole) {
		l.report.Warnings = append(l.report.Warnings, model.Problem{
			Pos: model.Pos{File: l.report.Manifest}, ID: debt.ID, Message: "a refresh is owed to it, and it is gone",
			Suggestion: "settle forget " + debt.ID,
		})
	}
	if l.report.State.Found || !subscribes(l.whole) {
		return nil
	}
	if os.Getenv("CI") != "" {
		a.err.Info("no state of earlier runs in " + l.report.State.Dir + ": refreshes that they left owed are not known")
	}
	switch cmp.Or(j.OnMissingState, l.manifest.OnMissingState) {
	case "fail":
		return refuse(exitUnwritten, "%s: no state of earlier runs in %s (on_missing_state: fail): bring it back, or apply once with --on-missing-state refresh", l.report.Manifest, l.report.State.Dir)
	case "refresh":
		owed := model.OweAll(l.whole, l.report.Run)
		m.Memory = model.Replay(owed)
		if err := m.Append(owed, false); err != nil {
			return refusedState(err)
		}
	}
	return nil
}

func subscribes(m *model.Manifest) bool {
	for i := range m.Resources {
		if r := &m.Resources[i]; r.Subscribes() && r.Off == "" {
			return true
		}
	}
	return false
}

// watched tells whoever finds the state locked what runs.
func (m *memory) watched(manifest *model.Manifest, w engine.Watch) engine.Watch {
	if m.locked == nil {
		return w
	}
	started, finished := w.Started, w.Finished
	w.Started = func(n int) {
		m.locked.Started(manifest.Resources[n].ID())
		if started != nil {
			started(n)
		}
	}
	w.Finished = func(n int, result *model.Result) {
		m.locked.Finished(result.ID)
		if finished != nil {
			finished(n, result)
		}
	}
	return w
}

// position names the place in the journal from which the run started.
func (m *memory) position() string { return m.place }

// abandon ends the lock of a run that does not take place.
func (m *memory) abandon() error {
	if m.locked == nil {
		return nil
	}
	return m.locked.Close()
}

// amend lets the history know of how a run ended what came out behind its end:
// that a report could not be written. When the next one runs already, its exit
// code has to be enough.
func (a *app) amend(ctx context.Context, j *job, l *loaded, e ending) {
	if j.NoState || l.manifest.Identity == "" {
		return
	}
	store, err := a.store(j.StateDir, l.manifest.Identity)
	if err != nil {
		return
	}
	if locked, err := store.Lock(ctx, 0, labeled(holder(l.report.Run, l.report.Started), j.labels)); err == nil {
		m := &memory{locked: locked, keep: j.keep}
		m.close(&e)
	}
}

// remembers says whether later runs will know what this one does.
func (m *memory) remembers() bool { return m.locked != nil }

// owed counts the refreshes that are owed now.
func (m *memory) owed() int {
	if m.locked == nil {
		return len(m.Owed)
	}
	now := m.locked.Memory()
	return len(now.Owed)
}

// close keeps the report of an apply and ends the lock. A report that cannot be
// kept is a part of how the run ended, for the history as for the exit code.
func (m *memory) close(e *ending) {
	if m.locked == nil {
		return
	}
	if err := m.locked.SaveReport(e.report); err != nil {
		e.unwritten = errors.Join(e.unwritten, err)
		e.finish()
	}
	if err := errors.Join(m.locked.Finish(e.report, m.keep), m.locked.Close()); err != nil {
		e.unwritten = errors.Join(e.unwritten, err)
		e.finish()
	}
}
