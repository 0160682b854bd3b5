package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
	"github.com/settle-cm/settle/providers/journal"
)

// memory is the state of earlier runs, and where this run writes its own. A plan, and
// a run without state, write nowhere.
type memory struct {
	engine.Journal
	model.Memory
	locked *journal.Journal // nil when nothing is written
	place  string           // the position in the journal at the start of the run
	keep   int
}

// openState opens the state of a manifest: read-only for a plan, locked for an apply.
// The error is an *exit.Refusal.
func (a *app) openState(ctx context.Context, j *job, l *loaded) (*memory, error) {
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
		return nil, refuseForState(err)
	}
	l.report.State.Dir = store.Dir
	if j.mode == "plan" {
		snap, err := store.Read()
		if err != nil {
			return nil, refuseForState(err)
		}
		l.report.State.Found = snap.Found
		none.Memory, none.place = snap.Memory(), snap.Position()
		if snap.Active != nil {
			a.err.Info(l.report.Manifest + ": an apply is running: it may change what is left to do")
		}
		l.report.Warnings = append(l.report.Warnings, elsewhere(store, l)...)
		return none, a.handleMissingState(j, l, none)
	}
	locked, err := store.Lock(ctx, time.Duration(j.LockTimeout), addLabels(describeProcess(l.report.Run, l.report.Started), j.labels))
	var held *journal.Held
	switch {
	case errors.As(err, &held): // by whom is said; of several manifests also which
		reportOwed(store, l)
		return nil, exit.Refuse(exit.Later, "%s: %w%s", l.report.Manifest, err, suggestLockTimeout(j.LockTimeout))
	case ctx.Err() != nil && err != nil: // it was not waited any longer
		return nil, &exit.Refusal{Code: exit.Later, Err: err}
	case err != nil:
		return nil, refuseForState(err)
	}
	if err := checkPaused(store, l); err != nil { // under the lock, so that no pause can begin in between
		_ = locked.Close() // nothing was written
		reportOwed(store, l)
		return nil, err
	}
	l.report.State.Found = locked.Found
	m := &memory{Journal: locked, Memory: locked.Memory(), locked: locked, keep: j.keep, place: locked.Position()}
	if err := a.handleMissingState(j, l, m); err != nil {
		_ = m.abandon() // nothing was written
		return nil, err
	}
	return m, nil
}

// addLabels returns a holder whose run has labels.
func addLabels(h journal.Holder, labels map[string]string) journal.Holder {
	h.Labels = labels
	return h
}

func checkPaused(store journal.Store, l *loaded) error {
	pause, err := store.Paused(time.Now())
	switch {
	case err != nil:
		return refuseForState(err)
	case pause != nil:
		return &exit.Refusal{Code: exit.Later, Err: fmt.Errorf("%s: %w", l.report.Manifest, pause)}
	}
	return nil
}

// reportOwed reads the owed refreshes into the report of an apply that has to wait.
// A monitor of that number must not see zero.
func reportOwed(store journal.Store, l *loaded) {
	if snap, err := store.Read(); err == nil {
		memory := snap.Memory()
		l.report.State.Found, l.report.Summary.Owed = snap.Found, len(memory.Owed)
	}
}

// handleMissingState applies on_missing_state when there is no state, and warns of
// owed refreshes whose resource is gone.
func (a *app) handleMissingState(j *job, l *loaded, m *memory) error {
	if m.locked != nil {
		if err := m.Append(m.DropLastStates(l.whole), false); err != nil {
			return refuseForState(err)
		}
	}
	for _, debt := range m.OrphanedRefreshes(l.whole) {
		l.report.Warnings = append(l.report.Warnings, model.Problem{
			Pos: model.Pos{File: l.report.Manifest}, ID: debt.ID, Message: "a refresh is owed to it, and it is gone",
			Suggestion: "settle forget " + debt.ID,
		})
	}
	if l.report.State.Found || !hasSubscribers(l.whole) {
		return nil
	}
	if os.Getenv("CI") != "" {
		a.err.Info("no state of earlier runs in " + l.report.State.Dir + ": refreshes that they left owed are not known")
	}
	switch cmp.Or(j.OnMissingState, l.manifest.OnMissingState) {
	case "fail":
		return exit.Refuse(exit.Unwritten, "%s: no state of earlier runs in %s (on_missing_state: fail): bring it back, or apply once with --on-missing-state refresh", l.report.Manifest, l.report.State.Dir)
	case "refresh":
		owed := model.OweAll(l.whole, l.report.Run)
		m.Memory = model.Replay(owed)
		if err := m.Append(owed, false); err != nil {
			return refuseForState(err)
		}
	}
	return nil
}

func hasSubscribers(m *model.Manifest) bool {
	for i := range m.Resources {
		if r := &m.Resources[i]; r.Subscribes() && r.Off == "" {
			return true
		}
	}
	return false
}

// recordProgress extends a watch so that the lock names the resources that run. A
// process that waits for the lock reports them.
func (m *memory) recordProgress(manifest *model.Manifest, w engine.Watch) engine.Watch {
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

// position returns the position in the journal at the start of the run.
func (m *memory) position() string { return m.place }

// abandon releases the lock of a run that does not take place.
func (m *memory) abandon() error {
	if m.locked == nil {
		return nil
	}
	return m.locked.Close()
}

// recordLateError adds an error to the history of a run that has ended already: a
// report could not be written. If another run holds the lock by now, only the exit
// code tells.
func (a *app) recordLateError(ctx context.Context, j *job, l *loaded, e exit.Ending) {
	if j.NoState || l.manifest.Identity == "" {
		return
	}
	store, err := a.store(j.StateDir, l.manifest.Identity)
	if err != nil {
		return
	}
	if locked, err := store.Lock(ctx, 0, addLabels(describeProcess(l.report.Run, l.report.Started), j.labels)); err == nil {
		m := &memory{locked: locked, keep: j.keep}
		m.close(&e)
	}
}

// remembers reports whether this run writes state for later runs.
func (m *memory) remembers() bool { return m.locked != nil }

// owed returns the number of owed refreshes now.
func (m *memory) owed() int {
	if m.locked == nil {
		return len(m.Owed)
	}
	now := m.locked.Memory()
	return len(now.Owed)
}

// close saves the report of an apply and releases the lock. A report that cannot be
// saved changes how the run ended, in the history and in the exit code.
func (m *memory) close(e *exit.Ending) {
	if m.locked == nil {
		return
	}
	if err := m.locked.SaveReport(e.Report); err != nil {
		e.Unwritten = errors.Join(e.Unwritten, err)
		e.Finish()
	}
	if err := errors.Join(m.locked.Finish(e.Report, m.keep), m.locked.Close()); err != nil {
		e.Unwritten = errors.Join(e.Unwritten, err)
		e.Finish()
	}
}
