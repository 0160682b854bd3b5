// Package openrc reads and changes services of the OpenRC service manager by
// running rc-service and rc-update. It reads exit codes and files only: the text
// of these programs is for people and changes between versions.
package openrc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
)

// Unit is the state of one service, in the words that systemd has for it.
type Unit struct {
	Name       string // the name that was asked for
	ID         string // the same
	Load       string // loaded or not-found
	Active     string // active, inactive, activating, deactivating or failed
	Sub        string // OpenRC's own word: started, stopped, starting, stopping, inactive, crashed
	File       string // enabled or disabled, in the default runlevel
	Fragment   string // path of the service script
	Result     string // crashed, or ""
	ExitStatus int    // OpenRC does not know it
	Restarts   int    // OpenRC does not count them
	Invocation string // changes with every start: when OpenRC noted it
	Transient  bool   // never
	Stale      bool   // never: scripts are read at every call
	CanReload  bool
	CanStart   bool
}

// statuses maps exit codes of `rc-service NAME status` to states, as openrc-run
// documents them.
var statuses = map[int][2]string{
	0:  {"active", "started"},
	3:  {"inactive", "stopped"},
	4:  {"deactivating", "stopping"},
	8:  {"activating", "starting"},
	16: {"activating", "inactive"},
	32: {"failed", "crashed"},
}

// Manager runs rc-service and rc-update. Root is the directory that stands for
// "/" when files are read: "" outside of tests.
type Manager struct {
	Run     func(context.Context, model.Command) (model.Exit, error)
	Command func(argv []string, extra ...string) model.Command
	Root    string
}

// Show returns the state of every named service, in the order of names.
func (m Manager) Show(ctx context.Context, timeout time.Duration, names ...string) ([]Unit, error) {
	units := make([]Unit, len(names))
	for i, name := range names {
		u, err := m.show(ctx, timeout, name)
		if err != nil {
			return nil, err
		}
		units[i] = u
	}
	return units, nil
}

func (m Manager) show(ctx context.Context, timeout time.Duration, name string) (Unit, error) {
	u := Unit{Name: name, ID: name, Load: "not-found", Active: "inactive", Sub: "stopped", File: "disabled", CanStart: true}
	script := filepath.Join(m.Root, "/etc/init.d", name)
	text, err := os.ReadFile(script)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return u, nil
	case err != nil:
		return u, fmt.Errorf("read service script: %w", err)
	}
	u.Load, u.Fragment, u.CanReload = "loaded", script, declaresReload(text)
	if _, err := os.Lstat(filepath.Join(m.Root, "/etc/runlevels/default", name)); err == nil {
		u.File = "enabled"
	}
	exit, err := m.run(ctx, timeout, "rc-service", "-q", name, "status")
	if err != nil {
		return u, fmt.Errorf("rc-service %s status: %w", name, err)
	}
	state, ok := statuses[exit.Code]
	if !ok || exit.Signal != "" {
		return u, fmt.Errorf("rc-service %s status: unexpected %s", name, exit)
	}
	u.Active, u.Sub = state[0], state[1]
	if u.Active == "failed" {
		u.Result = u.Sub
	}
	if info, err := os.Lstat(filepath.Join(m.Root, "/run/openrc/started", name)); err == nil {
		u.Invocation = info.ModTime().String()
	}
	return u, nil
}

var reloadCommand = regexp.MustCompile(`(?m)^\s*(extra_started_commands=.*\breload\b|reload\s*\(\))`)

// declaresReload reports whether a service script has a reload command.
func declaresReload(script []byte) bool { return reloadCommand.Match(script) }

// Do runs one action (start, stop, restart, reload, enable, disable) on a
// service, and returns the output. There is nothing to reload in OpenRC itself,
// so daemon-reload does nothing.
func (m Manager) Do(ctx context.Context, timeout time.Duration, _ bool, verb, name string) (string, error) {
	switch verb {
	case "daemon-reload":
		return "", nil
	case "enable":
		return m.act(ctx, timeout, "rc-update", "-q", "add", name, "default")
	case "disable":
		return m.act(ctx, timeout, "rc-update", "-q", "del", name, "default")
	case "reset-failed": // of a crashed service, so that it can be started
		return m.act(ctx, timeout, "rc-service", name, "zap")
	case "start", "stop", "restart", "reload":
		return m.act(ctx, timeout, "rc-service", name, verb)
	}
	return "", fmt.Errorf("openrc has no %s", verb)
}

// IsEnabled reports whether the service is in the default runlevel.
func (m Manager) IsEnabled(_ context.Context, _ time.Duration, name string) (word string, enabled bool, err error) {
	_, err = os.Lstat(filepath.Join(m.Root, "/etc/runlevels/default", name))
	if err != nil {
		return "disabled", false, nil
	}
	return "enabled", true, nil
}

func (m Manager) act(ctx context.Context, timeout time.Duration, argv ...string) (string, error) {
	exit, err := m.run(ctx, timeout, argv...)
	switch {
	case err != nil:
		return exit.Output, err
	case exit.Code != 0 || exit.Signal != "":
		return exit.Output, fmt.Errorf("%s: %s", exit, lastLine(exit.Output))
	}
	return exit.Output, nil
}

func (m Manager) run(ctx context.Context, timeout time.Duration, argv ...string) (model.Exit, error) {
	c := m.Command(argv)
	c.Timeout = timeout
	return m.Run(ctx, c)
}

// lastLine returns the last line of output without OpenRC's " * " marker.
func lastLine(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	line := strings.TrimLeft(lines[len(lines)-1], " *")
	if line == "" {
		return "no reason was given"
	}
	return line
}
