package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bus"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/rollout"
)

// exitHalted is the code of a rollout that halted.
const exitHalted = exitFailed

// inForceOf returns the version that a rollout has left in force.
func inForceOf(r *release.Rollout) int64 {
	if r.State == release.Done {
		return r.Version
	}
	return r.Before
}

// controller says who drives a rollout.
func controller() string {
	who := "someone"
	if me, err := user.Current(); err == nil {
		who = me.Username
	}
	host, _ := os.Hostname() // a machine without a name has an empty one
	return fmt.Sprintf("%s@%s since %s", who, host, time.Now().UTC().Format("15:04"))
}

// driver is a controller in the foreground. It holds nothing that the signed
// rollout and the statuses do not say.
type driver struct {
	a        *app
	conn     *bus.Conn
	sign     *signFlags
	rollout  *release.Rollout
	revision uint64
	opened   time.Time
	said     string
}

// pollEvery is how often a controller looks at the statuses.
const pollEvery = time.Second

// drive opens wave after wave until the rollout ends or ctx does.
func (d *driver) drive(ctx context.Context) error {
	for {
		machines, err := d.machines(ctx)
		if err != nil {
			return err
		}
		next, why := rollout.Advance(d.rollout, machines, d.opened, time.Now())
		if next != nil {
			if err := d.write(ctx, next); err != nil {
				return err
			}
		}
		if why != d.said {
			d.said = why
			d.a.log.Info(why, "release", d.name())
		}
		if next != nil && next.State != release.Running {
			return d.end(machines)
		}
		if next == nil {
			if err := d.lookForOther(ctx); err != nil {
				return err
			}
			if !sleep(ctx, pollEvery) {
				return exitWith(130, fmt.Errorf("%s: the controller was ended in wave %d; nothing more opens; go on with settle-fleet rollout resume %s", d.name(), d.rollout.Wave, d.rollout.Name))
			}
		}
	}
}

func (d *driver) name() string { return fmt.Sprintf("%s@%d", d.rollout.Name, d.rollout.Version) }

func (d *driver) write(ctx context.Context, next *release.Rollout) error {
	signed, err := d.sign.sign(ctx, release.RolloutNamespace, next.Encode())
	if err != nil {
		return err
	}
	revision, err := d.conn.PutRollout(ctx, next.Name, signed, d.revision)
	if errors.Is(err, bus.ErrRevision) {
		return d.other(ctx)
	}
	if err != nil {
		return exitWith(exitUnreadable, err)
	}
	d.rollout, d.revision, d.opened = next, revision, time.Now()
	return nil
}

// lookForOther ends this controller when another one, or an operator, has
// written the rollout.
func (d *driver) lookForOther(ctx context.Context) error {
	_, revision, err := readRollout(ctx, d.conn, d.rollout.Name)
	if err != nil || revision == d.revision || ctx.Err() != nil {
		return nil // the network may be down for a while: nothing opens meanwhile
	}
	return d.other(ctx)
}

func (d *driver) other(ctx context.Context) error {
	current, _, err := readRollout(ctx, d.conn, d.rollout.Name)
	if err != nil || current == nil {
		return exitWith(exitLater, fmt.Errorf("%s: %w", d.name(), bus.ErrRevision))
	}
	return exitWith(exitLater, fmt.Errorf("%s: the rollout has changed meanwhile: it is %s, by %s", d.name(), current.State, current.By))
}

func (d *driver) machines(ctx context.Context) ([]rollout.Machine, error) {
	ctx, stop := context.WithTimeout(ctx, operatorLimit)
	defer stop()
	all, _, err := readMachineStatuses(ctx, d.conn)
	return rolloutMachines(all, d.rollout.Name), err
}

// rolloutMachines returns the machines that follow a release name.
func rolloutMachines(all []machineStatus, name string) []rollout.Machine {
	var machines []rollout.Machine
	for _, m := range all {
		if r, ok := m.Releases[name]; ok {
			machines = append(machines, rollout.Machine{Name: m.Machine, Labels: m.Labels, Silent: m.Silent, Status: r, Seen: m.Seen, Told: m.Told})
		}
	}
	return machines
}

// end prints how the rollout ended.
func (d *driver) end(machines []rollout.Machine) error {
	t := rollout.Count(d.rollout, machines, d.opened, time.Now())
	if err := d.a.printf("%s: %s\n", d.name(), tallyText(d.rollout, t)); err != nil {
		return err
	}
	if d.rollout.State == release.Done {
		return nil
	}
	for _, group := range rollout.GroupFailures(failuresOf(d.rollout, machines)) {
		if err := d.a.printf("%s: %s\n", machineCount(group.Machines), group.Reason); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("%s: halted: %s; no other machine takes it", d.name(), d.rollout.Halted)
	if d.rollout.Revert {
		text += fmt.Sprintf(", and those that have it go back to %s@%d, which applies that manifest and undoes nothing else", d.rollout.Name, d.rollout.Before)
	}
	return exitWith(exitHalted, errors.New(text))
}

func machineCount(machines []string) string {
	if len(machines) == 1 {
		return machines[0]
	}
	return fmt.Sprintf("%d machines", len(machines))
}

func tallyText(r *release.Rollout, t rollout.Tally) string {
	text := fmt.Sprintf("%s, wave %d of %d", r.State, r.Wave, len(r.Waves))
	for _, answer := range []rollout.Answer{rollout.Done, rollout.Soaking, rollout.Failed, rollout.Waiting, rollout.Absent} {
		if n := len(t[answer]); n > 0 {
			text += fmt.Sprintf(", %d %s", n, answer)
		}
	}
	if absent := t[rollout.Absent]; len(absent) > 0 {
		text += " (" + strings.Join(absent[:min(len(absent), 5)], ", ") + ")"
	}
	return text
}

// failuresOf returns why each machine of a rollout failed.
func failuresOf(r *release.Rollout, machines []rollout.Machine) map[string][]string {
	failures := map[string][]string{}
	for _, m := range machines {
		s := &m.Status
		switch {
		case !r.IsOpen(m.Name, m.Labels):
		case s.Refused != nil && s.Refused.Version == r.Version:
			failures[m.Name] = []string{"refused: " + s.Refused.Why}
		case s.Version == r.Version && isFailed(s) && len(s.Failure) > 0:
			failures[m.Name] = s.Failure
		case s.Version == r.Version && isFailed(s):
			failures[m.Name] = []string{s.Why}
		}
	}
	return failures
}
