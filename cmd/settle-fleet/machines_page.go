package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bus"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/page"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/rollout"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/status"
)

// writePage prints the machines that are shown as an HTML page. all are the
// machines of the fleet: a rollout is counted over them, whatever the selector shows.
func (c *machinesCommand) writePage(ctx context.Context, w io.Writer, conn *bus.Conn, all, shown []machineStatus) error {
	now := time.Now()
	f := newPage(c.Fleet, c.Selector, shown, now)
	names := map[string]status.Release{}
	for _, m := range shown {
		for name, r := range m.Releases {
			names[name] = r
		}
	}
	for _, name := range sortedNames(names) {
		r, _, err := readRollout(ctx, conn, name)
		if err != nil {
			return err
		}
		if r != nil {
			t := rollout.Count(r, rolloutMachines(all, name), time.Time{}, now)
			f.Rollouts = append(f.Rollouts, fmt.Sprintf("%s@%d: %s, by %s", name, r.Version, tallyText(r, t), r.By))
		}
	}
	_, err := w.Write(page.HTML(f))
	return exitWith(exitUnwritten, err)
}

// newPage returns the page of some machines, without its rollouts. The rows of failing
// and silent machines come first: on a page of 10,000 they are what it is opened for.
func newPage(fleet, selector string, shown []machineStatus, now time.Time) *page.Fleet {
	f := &page.Fleet{Name: fleet, Selector: selector, At: now, Machines: len(shown)}
	counts := map[string]int{}
	var well []page.Row
	for i := range shown {
		m := &shown[i]
		seen := ""
		if m.Silent {
			seen = "silent"
			f.Silent = append(f.Silent, page.Silent{Machine: m.Machine, Since: m.Told})
		}
		if len(machineFailures(m)) > 0 {
			f.Failed++
		}
		for _, name := range sortedNames(m.Releases) {
			r := m.Releases[name]
			counts[r.Name(name)+" "+r.State]++
			row := page.Row{Machine: m.Machine, Release: r.Name(name), State: r.State, Bad: m.Silent || isFailed(&r), Notes: strings.Join(notesOf(m, &r, seen), "; ")}
			if r.Run != nil {
				row.Run = r.Run.ID
			}
			if row.Bad {
				f.Rows = append(f.Rows, row)
			} else {
				well = append(well, row)
			}
		}
	}
	f.Rows = append(f.Rows, well...)
	for _, key := range sortedKeys(counts) {
		release, state, _ := strings.Cut(key, " ")
		f.Counts = append(f.Counts, page.Count{Release: release, State: state, Machines: counts[key]})
	}
	for _, group := range groupFailures(shown) {
		f.Failures = append(f.Failures, page.Failure{Reason: group.Reason, Machines: group.Machines})
	}
	return f
}
