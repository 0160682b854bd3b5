package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
)

const (
	showTimeout = 30 * time.Second // for a query of the service manager
	steadyPace  = 50 * time.Millisecond
)

// Check asks the service manager for the unit's state and compares it with the
// declaration.
func (s *service) Check(ctx context.Context, ask model.Ask) (model.Decision, error) {
	if ask.SkipGuards {
		return model.Decision{Unread: []string{"service"}}, nil
	}
	m, offline, err := s.manager()
	if err != nil {
		return model.Decision{}, err
	}
	if offline && s.ensure != "any" {
		return model.Decision{}, errors.New(`no service manager runs here (systemd is installed, and not PID 1): set ensure: any, or when: host.virtualization != "docker"`)
	}
	u, err := s.look(ctx, m, offline, ask.Untouched)
	if err != nil {
		return model.Decision{}, err
	}
	refreshed := s.refreshes(ask)
	w, err := s.decide(u, refreshed)
	if err != nil {
		return model.Decision{}, err
	}
	d := model.Decision{
		Act: w.due(), Reason: w.reason(ask, refreshed), MayChange: w.uncertain && !w.certain(),
		Diff: strings.Join(w.diff, "\n"), Warnings: w.warnings,
	}
	if !d.Act {
		d.Reason = s.stableReason(u)
	}
	if !refreshed || s.ensure != "running" {
		d.Read = []string{"service"} // else it acts in any state
	}
	if d.Act && !s.machine.Root {
		d.Obstacles = append(d.Obstacles, errNotRoot.Error())
	}
	return d, nil
}

var errNotRoot = fmt.Errorf("changing services needs root: %w", model.ErrNotPermitted)

// certain reports whether the work includes a step that surely changes something.
func (w *work) certain() bool {
	return w.unmask || w.mask || w.disable || w.reenable || w.verb != ""
}

func (s *service) refreshes(ask model.Ask) bool {
	return ask.Refresh == model.Yes && s.onRefresh == model.RefreshRuns
}

// stableReason describes a unit that is as declared.
func (s *service) stableReason(u Unit) string {
	state := stateOf(u)
	if u.File != "" {
		state += ", " + u.File
	}
	return state
}

// look returns the state of the unit. Untouched says that no resource of this run
// has acted yet, so the state may come from the query shared by all services.
func (s *service) look(ctx context.Context, m Manager, offline, untouched bool) (Unit, error) {
	if offline {
		word, _, err := m.IsEnabled(ctx, showTimeout, s.unit)
		u := Unit{Name: s.unit, ID: s.unit, Load: "loaded", Active: "inactive", File: word}
		if word == "" || word == "not-found" {
			u.Load, u.File = "not-found", ""
		}
		return u, err
	}
	if untouched {
		if u, ok := s.machine.snapshot.unit(ctx, m, s.unit); ok {
			return s.resolveGenerated(ctx, m, u)
		}
	}
	return s.lookNow(ctx, m)
}

func (s *service) lookNow(ctx context.Context, m Manager) (Unit, error) {
	units, err := m.Show(ctx, showTimeout, s.unit)
	if err != nil {
		return Unit{}, err
	}
	return s.resolveGenerated(ctx, m, units[0])
}

// resolveGenerated finds out whether a generated unit (a SysV script) is enabled,
// which its unit file state does not say.
func (s *service) resolveGenerated(ctx context.Context, m Manager, u Unit) (Unit, error) {
	if u.File != "generated" || s.enable == nil {
		return u, nil
	}
	_, enabled, err := m.IsEnabled(ctx, showTimeout, s.unit)
	u.File = map[bool]string{true: "enabled", false: "disabled"}[enabled]
	return u, err
}

// Run does everything that is due, looks again, and watches a started unit.
func (s *service) Run(ctx context.Context, stage model.Stage) (model.Effect, error) {
	if !s.machine.Root {
		return model.Effect{}, errNotRoot
	}
	m, offline, err := s.manager()
	if err != nil {
		return model.Effect{}, err
	}
	before, err := s.look(ctx, m, offline, false)
	if err != nil {
		return model.Effect{}, err
	}
	r := run{service: s, m: m, offline: offline, deadline: deadline(s.timeout), output: stage.Output}
	if !offline {
		if _, err := r.do(ctx, "daemon-reload", ""); err != nil {
			return model.Effect{}, err
		}
	}
	unit, err := s.look(ctx, m, offline, false)
	if err != nil {
		return model.Effect{Began: true}, err
	}
	unit.Stale = before.Stale // daemon-reload has just cleared it
	w, err := s.decide(unit, stage.Refreshed && s.onRefresh == model.RefreshRuns)
	if err != nil {
		return model.Effect{}, err
	}
	failure := r.perform(ctx, &w, unit)
	after, err := s.look(ctx, m, offline, false)
	effect := model.Effect{Began: r.linked || err != nil || differs(before, after), Output: r.text()}
	if failure == nil && err == nil {
		failure = s.verify(after)
	}
	if failure != nil {
		return r.failed(ctx, effect, after, w.verb, failure)
	}
	effect.Unchanged = !effect.Began
	return effect, err
}

// differs reports whether the manager sees a unit in another state than before.
func differs(a, b Unit) bool {
	return a.Active != b.Active || a.Sub != b.Sub || a.File != b.File || a.Load != b.Load || a.Invocation != b.Invocation || a.Restarts != b.Restarts
}

// verify checks that the unit is in the declared state.
func (s *service) verify(u Unit) error {
	w, err := s.decide(Unit{
		Name: u.Name, ID: u.ID, Load: u.Load, Active: u.Active, Sub: u.Sub, File: u.File, Fragment: u.Fragment,
		Result: u.Result, Restarts: u.Restarts, Transient: u.Transient, CanReload: u.CanReload, CanStart: u.CanStart,
	}, false)
	switch {
	case err != nil:
		return err
	case w.uncertain && !w.certain(), !w.due():
		return nil
	}
	return errors.New("after the change: " + strings.Join(w.reasons, ", "))
}

func deadline(timeout time.Duration) time.Time {
	if timeout == 0 {
		return time.Time{}
	}
	return time.Now().Add(timeout)
}
