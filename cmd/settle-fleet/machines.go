package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bus"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/status"
)

// machine is a machine's status and when the broker got it.
type machineStatus struct {
	status.Status
	Told   time.Time `json:"told"` // the broker's time
	Silent bool      `json:"silent"`
}

type machinesCommand struct {
	Selector string `arg:"" optional:"" help:"Which machines: NAME, NAME*, LABEL=VALUE, joined by commas, ! for not. Default: all."`
	fleetFlags
	Drift  bool   `help:"Only machines where a run had to change something without a new version."`
	Failed bool   `help:"Only machines where a release failed, is blocked or was refused."`
	Silent bool   `help:"Only machines that were not heard for two intervals."`
	On     string `placeholder:"NAME@VERSION" help:"Only machines with this release in force."`
	Output string `short:"o" enum:"text,json,metrics,html" default:"text" placeholder:"FORMAT" help:"text, json, metrics or html (one page that loads nothing)."`
}

func (c *machinesCommand) run(ctx context.Context, a *app) error {
	selector, err := release.ParseSelector(c.Selector)
	if err != nil {
		return exitWith(exitUsage, err)
	}
	if c.On != "" {
		if _, _, err := parseRelease(c.On); err != nil {
			return exitWith(exitUsage, fmt.Errorf("--on: %w", err))
		}
	}
	conn, err := c.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, stop := context.WithTimeout(ctx, operatorLimit)
	defer stop()
	all, forged, err := readMachineStatuses(ctx, conn)
	if err != nil {
		return err
	}
	for _, name := range forged {
		a.log.Warn("a status that is not the machine's own was dropped", "machine", name)
	}
	shown := slices.DeleteFunc(slices.Clone(all), func(m machineStatus) bool { return !selector.Matches(m.Machine, m.Labels) || !c.keeps(&m) })
	switch c.Output {
	case "json":
		return printJSON(a.out, map[string]any{"machines": append([]machineStatus{}, shown...), "failures": groupFailures(shown)})
	case "metrics":
		return writeMetrics(a.out, c.Fleet, shown)
	case "html":
		return c.writePage(ctx, a.out, conn, all, shown)
	}
	return writeMachines(a.out, shown, time.Now())
}

// keeps reports whether the flags ask for a machine.
func (c *machinesCommand) keeps(m *machineStatus) bool {
	if c.Silent && !m.Silent {
		return false
	}
	if !c.Drift && !c.Failed && c.On == "" {
		return true
	}
	for name, r := range m.Releases {
		if (!c.Drift || r.Drift != nil) && (!c.Failed || isFailed(&r)) && (c.On == "" || r.Name(name) == c.On) {
			return true
		}
	}
	return false
}

// readMachineStatuses returns the status of every machine, sorted by name. A
// status that was forged, or speaks for another machine, is only named.
func readMachineStatuses(ctx context.Context, conn *bus.Conn) (all []machineStatus, forged []string, err error) {
	messages, err := conn.Statuses(ctx)
	if err != nil {
		return nil, nil, exitWith(exitUnreadable, err)
	}
	prefix := conn.StatusSubject("")
	now := time.Now()
	for _, message := range messages {
		name := strings.TrimPrefix(message.Subject, prefix)
		m := machineStatus{Told: message.Time}
		if message.Forged() || json.Unmarshal(message.Data, &m.Status) != nil || m.Machine != name || m.Schema != status.Schema {
			forged = append(forged, name)
			continue
		}
		m.Silent = status.Silent(m.Interval, m.Told, now)
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b machineStatus) int { return cmp.Compare(a.Machine, b.Machine) })
	return all, forged, nil
}

func writeMachines(w io.Writer, machines []machineStatus, now time.Time) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	silent := 0
	for _, m := range machines {
		seen := ""
		if m.Silent {
			silent++
			seen = "silent since " + m.Told.UTC().Format("2006-01-02 15:04:05")
		}
		for _, name := range sortedNames(m.Releases) {
			r := m.Releases[name]
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", m.Machine, r.Name(name), r.State, strings.Join(notesOf(&m, &r, seen), "; "))
		}
	}
	fmt.Fprintf(table, "%d machines, %d silent\n", len(machines), silent)
	if err := table.Flush(); err != nil {
		return exitWith(exitUnwritten, err)
	}
	for _, group := range groupFailures(machines) {
		if _, err := fmt.Fprintf(w, "%s: %s\n", machineCount(group.Machines), group.Reason); err != nil {
			return exitWith(exitUnwritten, err)
		}
	}
	return nil
}

// notesOf returns the notes on a release of one machine, for the operator.
func notesOf(m *machineStatus, r *status.Release, seen string) []string {
	var notes []string
	if seen != "" {
		notes = append(notes, seen)
	}
	if m.Other != "" {
		notes = append(notes, "two machines tell under this name")
	}
	if m.Unsent > 0 {
		notes = append(notes, fmt.Sprintf("%d reports wait", m.Unsent))
	}
	own := *r
	own.Signer = ""
	return append(notes, explain(&own)...)
}

// sortedNames returns the release names in an order that no map changes.
func sortedNames(releases map[string]status.Release) []string {
	return slices.Sorted(maps.Keys(releases))
}

func sortedKeys(counts map[string]int) []string { return slices.Sorted(maps.Keys(counts)) }

// writeMetrics prints counts for a monitoring system. No label is a machine's
// name: their number would grow with the fleet.
func writeMetrics(w io.Writer, fleet string, machines []machineStatus) error {
	silent, drift := 0, 0
	states := map[string]int{}
	for _, m := range machines {
		if m.Silent {
			silent++
		}
		for name, r := range m.Releases {
			states[fmt.Sprintf("release=%q,version=\"%d\",state=%q", name, r.Version, r.State)]++
			if r.Drift != nil {
				drift++
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# TYPE settle_fleet_machines gauge\nsettle_fleet_machines{fleet=%q} %d\n", fleet, len(machines))
	fmt.Fprintf(&b, "# TYPE settle_fleet_silent_machines gauge\nsettle_fleet_silent_machines{fleet=%q} %d\n", fleet, silent)
	fmt.Fprintf(&b, "# TYPE settle_fleet_drifted_releases gauge\nsettle_fleet_drifted_releases{fleet=%q} %d\n", fleet, drift)
	fmt.Fprint(&b, "# TYPE settle_fleet_releases gauge\n")
	for _, key := range sortedKeys(states) {
		fmt.Fprintf(&b, "settle_fleet_releases{fleet=%q,%s} %d\n", fleet, key, states[key])
	}
	_, err := io.WriteString(w, b.String())
	return exitWith(exitUnwritten, err)
}
