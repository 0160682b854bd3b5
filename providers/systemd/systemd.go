// Package systemd reads and changes units of the systemd service manager by
// running systemctl and journalctl. It decides nothing: which unit has to change,
// and how, is for the resource type to say.
package systemd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
)

// Unit is the state of one unit, in systemd's own words.
type Unit struct {
	Name       string // the name that was asked for
	ID         string // the primary name: of an alias, the unit behind it
	Load       string // LoadState: loaded, not-found, masked, bad-setting, error
	Active     string // ActiveState: active, reloading, inactive, failed, activating, deactivating …
	Sub        string // SubState, such as running, exited or auto-restart
	File       string // UnitFileState, "" where there is no unit file
	Fragment   string // path of the unit file, "" without one
	Result     string // success, or how the unit failed
	ExitStatus int    // of the main process
	Restarts   int    // automatic restarts so far
	Invocation string // id of the current or last activation
	Transient  bool   // a oneshot without RemainAfterExit: never active once it is done
	Stale      bool   // NeedDaemonReload: a file of the unit changed since it was loaded
	CanReload  bool
	CanStart   bool // false for a unit that refuses a manual start
}

// properties lists what Show asks of each unit.
const properties = "Id,LoadState,ActiveState,SubState,UnitFileState,FragmentPath,Type,RemainAfterExit," +
	"NeedDaemonReload,CanReload,CanStart,RefuseManualStart,Result,ExecMainStatus,NRestarts,InvocationID"

// Manager runs systemctl. Run runs a command to its end. Command builds it from
// its words and extra environment variables.
type Manager struct {
	Run     func(context.Context, model.Command) (model.Exit, error)
	Command func(argv []string, extra ...string) model.Command
}

// replyLimit bounds the output of one systemctl show, in bytes.
const replyLimit = 16 << 20

// Show returns the state of every named unit, in the order of names, from one
// systemctl process. A unit that does not exist has the load state not-found.
func (m Manager) Show(ctx context.Context, timeout time.Duration, names ...string) ([]Unit, error) {
	c := m.Command(append([]string{"systemctl", "show", "-p", properties, "--"}, names...))
	c.Reply, c.Timeout = replyLimit, timeout
	exit, err := m.Run(ctx, c)
	switch {
	case err != nil:
		return nil, fmt.Errorf("systemctl show: %w", err)
	case exit.Code != 0 || exit.Signal != "":
		return nil, fmt.Errorf("systemctl show: %s: %s", exit, firstLine(exit.Output))
	}
	units := Parse(string(exit.Reply))
	if len(units) != len(names) {
		return nil, fmt.Errorf("systemctl show: %d units were asked for, %d were answered", len(names), len(units))
	}
	for i := range units {
		units[i].Name = names[i]
	}
	return units, nil
}

// Parse reads the output of systemctl show: blocks of KEY=VALUE lines, one block
// a unit, with an empty line between them.
func Parse(output string) []Unit {
	var units []Unit
	for block := range strings.SplitSeq(output, "\n\n") {
		values := map[string]string{}
		for line := range strings.Lines(block) {
			if key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
				values[key] = value
			}
		}
		if len(values) == 0 {
			continue
		}
		units = append(units, unit(values))
	}
	return units
}

func unit(v map[string]string) Unit {
	number := func(key string) int {
		n, _ := strconv.Atoi(v[key]) // a unit that is no service has no such property
		return n
	}
	return Unit{
		ID: v["Id"], Load: v["LoadState"], Active: v["ActiveState"], Sub: v["SubState"],
		File: v["UnitFileState"], Fragment: v["FragmentPath"], Result: v["Result"],
		ExitStatus: number("ExecMainStatus"), Restarts: number("NRestarts"), Invocation: v["InvocationID"],
		Transient: v["Type"] == "oneshot" && v["RemainAfterExit"] == "no",
		Stale:     v["NeedDaemonReload"] == "yes",
		CanReload: v["CanReload"] == "yes",
		CanStart:  v["CanStart"] != "no" && v["RefuseManualStart"] != "yes",
	}
}

// Do runs systemctl with a verb and a unit ("" for daemon-reload), and returns
// its output. A non-zero exit is an error that holds systemctl's first line.
// Offline, systemctl changes unit files without asking a running systemd.
func (m Manager) Do(ctx context.Context, timeout time.Duration, offline bool, verb, unit string) (string, error) {
	argv := []string{"systemctl", verb}
	if unit != "" {
		argv = append(argv, "--", unit)
	}
	var extra []string
	if offline {
		extra = append(extra, "SYSTEMD_OFFLINE=1")
	}
	c := m.Command(argv, extra...)
	c.Timeout = timeout
	exit, err := m.Run(ctx, c)
	switch {
	case err != nil:
		return exit.Output, err
	case exit.Signal != "":
		return exit.Output, errors.New("systemctl was " + exit.String())
	case exit.Code != 0:
		return exit.Output, errors.New(firstLine(exit.Output))
	}
	return exit.Output, nil
}

// IsEnabled returns systemctl's word for the unit file's state, and whether it
// counts as enabled. It works without a running systemd, and knows SysV scripts.
func (m Manager) IsEnabled(ctx context.Context, timeout time.Duration, unit string) (word string, enabled bool, err error) {
	c := m.Command([]string{"systemctl", "is-enabled", "--", unit})
	c.Reply, c.Timeout = replyLimit, timeout
	exit, err := m.Run(ctx, c)
	if err != nil {
		return "", false, fmt.Errorf("systemctl is-enabled: %w", err)
	}
	return strings.TrimSpace(string(exit.Reply)), exit.Code == 0, nil
}

// Log returns the last lines that a unit wrote since its last start, or what
// systemctl status says where the journal has nothing.
func (m Manager) Log(ctx context.Context, timeout time.Duration, unit Unit) string {
	_, _ = m.output(ctx, timeout, "journalctl", "--sync") // without it, the last lines may be missing
	argv := []string{"journalctl", "-q", "-o", "cat", "-n", "20", "-u", unit.ID}
	if unit.Invocation != "" {
		argv = append(argv, "_SYSTEMD_INVOCATION_ID="+unit.Invocation)
	}
	if text, err := m.output(ctx, timeout, argv...); err == nil && strings.TrimSpace(text) != "" {
		return text
	}
	text, _ := m.output(ctx, timeout, "systemctl", "status", "--no-pager", "--full", "--", unit.ID)
	return text
}

func (m Manager) output(ctx context.Context, timeout time.Duration, argv ...string) (string, error) {
	c := m.Command(argv)
	c.Timeout = timeout
	exit, err := m.Run(ctx, c)
	return exit.Output, err
}

// firstLine returns the first line of output without systemctl's own prefix.
func firstLine(output string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(output), "\n")
	for _, prefix := range []string{"Failed to ", "Job for "} {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			return strings.TrimSuffix(rest, ".")
		}
	}
	if line == "" {
		return "systemctl gave no reason"
	}
	return line
}
