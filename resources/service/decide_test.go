package service

import (
	"strings"
	"testing"

	"github.com/settle-cm/settle/model"
)

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

// unitIn returns a loaded unit in a state.
func unitIn(active, sub, file string) Unit {
	return Unit{Load: "loaded", Active: active, Sub: sub, File: file, CanStart: true, Result: "success"}
}

func TestDecideRunState(t *testing.T) {
	crashed := unitIn("failed", "failed", "disabled")
	crashed.Result = "exit-code"
	looping := unitIn("activating", "auto-restart", "static")
	looping.Restarts = 17
	oneshot := unitIn("inactive", "dead", "static")
	oneshot.Transient = true
	refusing := unitIn("inactive", "dead", "static")
	refusing.CanStart = false
	missing := Unit{Load: "not-found", Active: "inactive", Sub: "dead"}
	masked := Unit{Load: "masked", Active: "inactive", Sub: "dead", File: "masked"}
	for name, row := range map[string]struct {
		ensure string
		unit   Unit
		verb   string
		reason string
		fails  string
	}{
		"running: active":              {ensure: "running", unit: unitIn("active", "running", "")},
		"running: active (exited)":     {ensure: "running", unit: unitIn("active", "exited", "")},
		"running: reloading":           {ensure: "running", unit: unitIn("reloading", "reload", "")},
		"running: refreshing":          {ensure: "running", unit: unitIn("refreshing", "refresh", "")},
		"running: starting":            {ensure: "running", unit: unitIn("activating", "start", ""), verb: "start", reason: "is starting"},
		"running: restarted by itself": {ensure: "running", unit: looping, verb: "start", reason: "restarts again and again (NRestarts 17)"},
		"running: failed":              {ensure: "running", unit: crashed, verb: "start", reason: "failed (exit-code)"},
		"running: inactive":            {ensure: "running", unit: unitIn("inactive", "dead", ""), verb: "start", reason: "inactive"},
		"running: deactivating":        {ensure: "running", unit: unitIn("deactivating", "stop", ""), verb: "start", reason: "deactivating"},
		"running: maintenance":         {ensure: "running", unit: unitIn("maintenance", "", ""), verb: "start", reason: "maintenance"},
		"running: oneshot":             {ensure: "running", unit: oneshot, fails: "x.service is a oneshot without RemainAfterExit"},
		"running: refuses a start":     {ensure: "running", unit: refusing, fails: "x.service refuses a manual start"},
		"running: not found":           {ensure: "running", unit: missing, fails: "there is no unit x.service"},
		"running: masked":              {ensure: "running", unit: masked, fails: "x.service is masked: set masked: false"},
		"running: bad setting":         {ensure: "running", unit: Unit{Load: "bad-setting", Active: "inactive"}, fails: "cannot be loaded (bad-setting)"},
		"stopped: inactive":            {ensure: "stopped", unit: unitIn("inactive", "dead", "")},
		"stopped: failed":              {ensure: "stopped", unit: crashed},
		"stopped: not found":           {ensure: "stopped", unit: missing},
		"stopped: masked":              {ensure: "stopped", unit: masked},
		"stopped: active":              {ensure: "stopped", unit: unitIn("active", "running", ""), verb: "stop", reason: "is active (running)"},
		"stopped: restarted by itself": {ensure: "stopped", unit: looping, verb: "stop", reason: "is activating (auto-restart)"},
		"any: not found":               {ensure: "any", unit: missing},
		"any: active":                  {ensure: "any", unit: unitIn("active", "running", "")},
	} {
		t.Run(name, func(t *testing.T) {
			s := &service{unit: "x.service", ensure: row.ensure, refresh: "restart"}
			checkDecision(t, s, row.unit, false, row.verb, row.reason, row.fails)
		})
	}
}

func checkDecision(t *testing.T, s *service, u Unit, refreshed bool, verb, reason, fails string) {
	t.Helper()
	w, err := s.decide(u, refreshed)
	switch {
	case fails == "" && err != nil, fails != "" && (err == nil || !strings.Contains(err.Error(), fails)):
		t.Fatalf("error %v, want %q", err, fails)
	case err == nil && w.verb != verb:
		t.Errorf("verb %q, want %q", w.verb, verb)
	}
	if got := strings.Join(w.reasons, ", "); err == nil && got != reason {
		t.Errorf("reason %q, want %q", got, reason)
	}
}

func TestDecideEnable(t *testing.T) {
	for name, row := range map[string]struct {
		enable  *bool
		file    string
		stale   bool
		action  string // enable, disable, reenable, maybe
		warning bool
		fails   string
	}{
		"true: enabled":               {enable: yes(), file: "enabled"},
		"true: alias of an enabled":   {enable: yes(), file: "alias"},
		"true: enabled, file changed": {enable: yes(), file: "enabled", stale: true, action: "reenable"},
		"true: disabled":              {enable: yes(), file: "disabled", action: "enable"},
		"true: until reboot only":     {enable: yes(), file: "enabled-runtime", action: "enable"},
		"true: linked":                {enable: yes(), file: "linked", action: "enable"},
		"true: linked until reboot":   {enable: yes(), file: "linked-runtime", action: "enable"},
		"true: static":                {enable: yes(), file: "static", warning: true},
		"true: indirect":              {enable: yes(), file: "indirect", action: "maybe"},
		"true: transient":             {enable: yes(), file: "transient", fails: `its unit file is "transient"`},
		"true: bad":                   {enable: yes(), file: "bad", fails: `its unit file is "bad"`},
		"true: masked":                {enable: yes(), file: "masked", fails: "is masked: set masked: false"},
		"true: masked until reboot":   {enable: yes(), file: "masked-runtime", fails: "is masked: set masked: false"},
		"false: enabled":              {enable: no(), file: "enabled", action: "disable"},
		"false: until reboot only":    {enable: no(), file: "enabled-runtime", action: "disable"},
		"false: static":               {enable: no(), file: "static"},
		"false: indirect":             {enable: no(), file: "indirect"},
		"false: masked":               {enable: no(), file: "masked"},
		"false: no unit file":         {enable: no(), file: ""},
		"absent: disabled":            {file: "disabled"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &service{unit: "x.service", ensure: "any", enable: row.enable}
			u := unitIn("inactive", "dead", row.file)
			u.Stale = row.stale
			w, err := s.decide(u, false)
			if row.fails != "" {
				if err == nil || !strings.Contains(err.Error(), row.fails) {
					t.Fatalf("error %v, want %q", err, row.fails)
				}
				return
			}
			got := ""
			switch {
			case w.uncertain:
				got = "maybe"
			case w.enable:
				got = "enable"
			case w.disable:
				got = "disable"
			case w.reenable:
				got = "reenable"
			}
			if err != nil || got != row.action || (len(w.warnings) > 0) != row.warning {
				t.Errorf("action %q, warnings %q, error %v; want %q, warning %v", got, w.warnings, err, row.action, row.warning)
			}
		})
	}
}

func TestDecideMask(t *testing.T) {
	installed := unitIn("active", "running", "disabled")
	local := installed
	local.Fragment = "/etc/systemd/system/x.service"
	masked := Unit{Load: "masked", Active: "inactive", File: "masked"} // systemd says CanStart=no
	for name, row := range map[string]struct {
		masked       *bool
		ensure       string
		unit         Unit
		mask, unmask bool
		verb, fails  string
	}{
		"masked stays masked":             {masked: yes(), ensure: "stopped", unit: masked},
		"mask stops and masks":            {masked: yes(), ensure: "stopped", unit: installed, mask: true, verb: "stop"},
		"mask of an administrator's file": {masked: yes(), ensure: "stopped", unit: local, fails: "which mask would have to replace"},
		"unmask and start":                {masked: no(), ensure: "running", unit: masked, unmask: true, verb: "start"},
		"not masked":                      {masked: no(), ensure: "running", unit: installed},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := (&service{unit: "x.service", ensure: row.ensure, masked: row.masked}).decide(row.unit, false)
			if row.fails != "" {
				if err == nil || !strings.Contains(err.Error(), row.fails) {
					t.Fatalf("error %v, want %q", err, row.fails)
				}
				return
			}
			if err != nil || w.mask != row.mask || w.unmask != row.unmask || w.verb != row.verb {
				t.Errorf("mask %v, unmask %v, verb %q, error %v; want %v, %v, %q", w.mask, w.unmask, w.verb, err, row.mask, row.unmask, row.verb)
			}
		})
	}
}

func TestRefreshReachesAUnitThatRuns(t *testing.T) {
	running := unitIn("active", "running", "enabled")
	reloadable := running
	reloadable.CanReload = true
	stopped := unitIn("inactive", "dead", "enabled")
	for name, row := range map[string]struct {
		ensure, refresh string
		unit            Unit
		verb, fails     string
	}{
		"restart":                       {"running", "restart", reloadable, "restart", ""},
		"reload":                        {"running", "reload", reloadable, "reload", ""},
		"reload where it cannot":        {"running", "reload", running, "", "x.service cannot reload: set refresh: reload_or_restart"},
		"reload_or_restart reloads":     {"running", "reload_or_restart", reloadable, "reload", ""},
		"reload_or_restart restarts":    {"running", "reload_or_restart", running, "restart", ""},
		"a stopped unit is started":     {"running", "reload", stopped, "start", ""},
		"ensure stopped does nothing":   {"stopped", "", stopped, "", ""},
		"ensure any leaves it stopped":  {"any", "restart", stopped, "", ""},
		"ensure any restarts a running": {"any", "restart", running, "restart", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := (&service{unit: "x.service", ensure: row.ensure, refresh: row.refresh}).decide(row.unit, true)
			switch {
			case row.fails != "" && (err == nil || err.Error() != row.fails), row.fails == "" && err != nil:
				t.Errorf("error %v, want %q", err, row.fails)
			case err == nil && w.verb != row.verb:
				t.Errorf("verb %q, want %q", w.verb, row.verb)
			}
		})
	}
}

func TestEnablingDoesNotReplaceTheRestart(t *testing.T) {
	s := &service{unit: "x.service", ensure: "running", refresh: "restart", enable: yes()}
	w, err := s.decide(unitIn("active", "running", "disabled"), true)
	if err != nil || !w.enable || w.verb != "restart" {
		t.Errorf("enable %v, verb %q, error %v; want both enable and restart", w.enable, w.verb, err)
	}
}

func TestReasonNamesTheRefreshFirst(t *testing.T) {
	w := work{verb: "restart", reasons: []string{"not enabled"}}
	if got := w.reason(model.Ask{RefreshedBy: []string{"file#/etc/x"}}, true); got != "refreshed by file#/etc/x" {
		t.Errorf("reason %q", got)
	}
}
