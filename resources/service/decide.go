package service

import (
	"errors"
	"fmt"
	"strings"

	"github.com/settle-cm/settle/model"
)

var errNoManager = errors.New("no service manager is installed here that settle knows (systemd, openrc)")

// work lists the steps that are due for one unit. Their order is
// fixed: unmask, enable or disable, run state, mask.
type work struct {
	unmask, mask    bool
	enable, disable bool
	reenable        bool   // enable again: the [Install] section may have changed
	uncertain       bool   // enabling may turn out to change nothing
	verb            string // start, stop, restart, reload or wait; "" for none
	reset           bool   // reset the failed state before the start
	reasons         []string
	diff            []string
	warnings        []string
}

// due reports whether there is anything to do.
func (w *work) due() bool {
	return w.unmask || w.mask || w.enable || w.disable || w.reenable || w.verb != ""
}

func (w *work) add(reason, before, after string) {
	w.reasons = append(w.reasons, reason)
	if before != after {
		w.diff = append(w.diff, "- "+before, "+ "+after)
	}
}

// decide compares a unit with its declaration. With refreshed set a unit that
// runs is restarted or reloaded as well. The error says why the declared state
// cannot be reached.
func (s *service) decide(u Unit, refreshed bool) (work, error) {
	var w work
	if err := s.decideMask(u, &w); err != nil {
		return w, err
	}
	if err := s.decideEnable(u, &w); err != nil {
		return w, err
	}
	if err := s.decideRun(u, refreshed, &w); err != nil {
		return w, err
	}
	return w, nil
}

func isMasked(u Unit) bool { return u.Load == "masked" || strings.HasPrefix(u.File, "masked") }

// administratorDir holds the unit files of the machine's administrator. A mask is
// a link there, so it cannot hide a unit file in the same directory.
const administratorDir = "/etc/systemd/system/"

func (s *service) decideMask(u Unit, w *work) error {
	switch masked := isMasked(u); {
	case s.masked == nil && masked && (s.ensure == "running" || s.enable != nil && *s.enable):
		return fmt.Errorf("%s is masked: set masked: false", s.unit)
	case s.masked == nil || *s.masked == masked:
	case *s.masked && strings.HasPrefix(u.Fragment, administratorDir):
		return fmt.Errorf("its file is %s, which mask would have to replace: remove it (file, ensure: absent) or disable it", u.Fragment)
	case *s.masked:
		w.mask = true
		w.add("not masked", "not masked", "masked")
	default:
		w.unmask = true
		w.add("masked", "masked", "not masked")
	}
	return nil
}

func (s *service) decideEnable(u Unit, w *work) error {
	switch {
	case s.enable == nil:
		return nil
	case !*s.enable:
		switch u.File {
		case "enabled", "enabled-runtime":
			w.disable = true
			w.add("enabled", u.File, "disabled")
		}
		return nil
	case u.Load == "not-found":
		return s.missing()
	}
	switch u.File {
	case "enabled", "alias":
		if u.Stale {
			w.reenable = true
			w.add("its unit file changed since systemd loaded it", "", "")
		}
	case "static":
		w.warnings = append(w.warnings, s.unit+" has no [Install] section and cannot be enabled: units that want it start it")
	case "indirect":
		w.enable, w.uncertain = true, true
		w.add("indirect: only systemctl enable can tell whether a link is missing", "", "")
	case "masked", "masked-runtime": // decideMask has accepted it: it is unmasked first
		w.enable = true
		w.add("not enabled", "masked", "enabled")
	case "transient", "bad", "":
		return fmt.Errorf("%s cannot be enabled: its unit file is %q", s.unit, u.File)
	default: // disabled, enabled-runtime, linked, linked-runtime, generated
		w.enable = true
		w.add("not enabled", u.File, "enabled")
	}
	return nil
}

func (s *service) missing() error { return fmt.Errorf("there is no unit %s", s.unit) }

func (s *service) decideRun(u Unit, refreshed bool, w *work) error {
	switch s.ensure {
	case "stopped":
		return s.decideStop(u, w)
	case "any":
		if refreshed && isRunning(u) {
			return s.decideRefresh(u, w)
		}
		return nil
	}
	switch {
	case u.Load == "not-found":
		return s.missing()
	case u.Load == "bad-setting" || u.Load == "error":
		return fmt.Errorf("%s cannot be loaded (%s): see systemctl status %s", s.unit, u.Load, s.unit)
	case isRunning(u) && refreshed:
		return s.decideRefresh(u, w)
	case isRunning(u):
		return nil
	case u.Transient && u.Active != "activating":
		return fmt.Errorf("%s is a oneshot without RemainAfterExit, so it never stays running: set ensure: any, or start it by an exec or a timer", s.unit)
	case !u.CanStart && !isMasked(u): // a mask is removed before the start
		return fmt.Errorf("%s refuses a manual start: start the unit that wants it, or set ensure: any", s.unit)
	}
	w.verb = "start"
	w.reset = u.Active == "failed"
	w.add(notRunning(u), stateOf(u), "running")
	return nil
}

// isRunning reports whether a unit counts as running.
func isRunning(u Unit) bool {
	switch u.Active {
	case "active", "reloading", "refreshing":
		return true
	}
	return false
}

// notRunning says why a unit does not count as running.
func notRunning(u Unit) string {
	switch {
	case u.Sub == "auto-restart" && u.Restarts == 0:
		return "failed, and systemd is about to restart it"
	case u.Sub == "auto-restart":
		return fmt.Sprintf("restarts again and again (NRestarts %d)", u.Restarts)
	case u.Active == "activating":
		return "is starting"
	case u.Active == "failed" && u.Result != "" && u.Result != "success":
		return "failed (" + u.Result + ")"
	}
	return u.Active
}

func stateOf(u Unit) string {
	if u.Sub == "" || u.Sub == u.Active {
		return u.Active
	}
	return u.Active + " (" + u.Sub + ")"
}

func (s *service) decideStop(u Unit, w *work) error {
	switch u.Active {
	case "inactive", "failed":
		return nil
	}
	w.verb = "stop"
	w.add("is "+stateOf(u), stateOf(u), "stopped")
	return nil
}

// decideRefresh chooses how a refresh reaches a unit that runs.
func (s *service) decideRefresh(u Unit, w *work) error {
	switch {
	case s.refresh == "reload" && !u.CanReload:
		return fmt.Errorf("%s cannot reload: set refresh: reload_or_restart", s.unit)
	case s.refresh == "reload", s.refresh == "reload_or_restart" && u.CanReload:
		w.verb = "reload"
	default:
		w.verb = "restart"
	}
	return nil
}

// mergeReason puts a refresh in front of the reasons found by looking.
func (w *work) reason(ask model.Ask, refreshed bool) string {
	if refreshed && (w.verb == "restart" || w.verb == "reload" || w.verb == "start") {
		return model.RefreshReason(ask)
	}
	return strings.Join(w.reasons, ", ")
}
