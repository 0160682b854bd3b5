// Package service is the resource type for services of the machine's service
// manager: whether a unit runs, starts at boot, is masked, and how a refresh
// reaches it. The managers themselves (systemd, OpenRC) are handed in as functions.
package service

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/settle-cm/settle/model"
)

// Unit is the state of one unit as its manager reports it, in systemd's words.
// Another manager maps its states to them.
type Unit struct {
	Name       string // the name that was asked for
	ID         string // the primary name: of an alias, the unit behind it
	Load       string // LoadState
	Active     string // ActiveState
	Sub        string // SubState
	File       string // UnitFileState
	Fragment   string // path of the unit file, "" without one
	Result     string
	ExitStatus int
	Restarts   int
	Invocation string
	Transient  bool // a oneshot without RemainAfterExit
	Stale      bool // a file of the unit changed since it was loaded
	CanReload  bool
	CanStart   bool
}

// Manager is a service manager as functions. Timeouts of 0 mean no limit.
type Manager struct {
	Name      string
	Show      func(ctx context.Context, timeout time.Duration, names ...string) ([]Unit, error)
	Do        func(ctx context.Context, timeout time.Duration, offline bool, verb, unit string) (output string, err error)
	IsEnabled func(ctx context.Context, timeout time.Duration, unit string) (word string, enabled bool, err error)
	Log       func(ctx context.Context, timeout time.Duration, unit Unit) string
}

// Options are what the type needs from the program around it.
type Options struct {
	Systemd, OpenRC Manager
	// Detect names the manager that runs here: "systemd", "openrc", "offline" when
	// systemd is installed and not running, or "" without a manager.
	Detect func() string
	Root   bool // settle runs as root
}

// Type returns the service type.
func Type(opts Options) model.Type {
	m := &machine{Options: opts, detect: sync.OnceValue(opts.detect)}
	return model.Type{
		Name:       "service",
		Meaning:    "a service of the machine: whether it runs, starts at boot or is masked",
		Properties: properties,
		Decode:     m.decode,
	}
}

func (o Options) detect() string {
	if o.Detect == nil {
		return ""
	}
	return o.Detect()
}

// machine is what all services of a run share.
type machine struct {
	Options
	detect   func() string
	declared sync.Map // canonical unit name → *service, to find two declarations of one unit
	snapshot snapshot
}

// service is one service as declared.
type service struct {
	machine   *machine
	ref       model.Ref
	pos       model.Pos
	unit      string // with its suffix, for systemd
	ensure    string // running, stopped or any
	enable    *bool
	masked    *bool
	refresh   string // restart, reload or reload_or_restart
	onRefresh model.OnRefresh
	steady    time.Duration
	provider  string
	timeout   time.Duration
}

// About describes the resource without asking the service manager.
func (s *service) About() model.About {
	return model.About{Command: "systemctl status " + s.unit}
}

// manager returns the service manager that handles the resource. Offline means
// that only unit files can be changed.
func (s *service) manager() (m Manager, offline bool, err error) {
	name := s.machine.detect()
	switch {
	case s.provider == "openrc" || s.provider == "" && name == "openrc":
		return s.machine.OpenRC, false, nil
	case s.provider == "" && name == "":
		return m, false, errNoManager
	case name != "systemd":
		return s.machine.Systemd, true, nil
	}
	return s.machine.Systemd, false, nil
}

// canonical returns the name of a unit with its suffix: nginx is nginx.service.
func canonical(unit string) string {
	for _, suffix := range suffixes {
		if strings.HasSuffix(unit, suffix) {
			return unit
		}
	}
	return unit + ".service"
}

// suffixes are the kinds of systemd units.
var suffixes = []string{
	".service", ".socket", ".timer", ".mount", ".automount", ".swap", ".target", ".path", ".slice", ".scope", ".device",
}
