package main

import (
	"context"
	"fmt"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bus"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/rollout"
)

type rolloutStatus struct {
	Name string `arg:"" help:"The release name."`
	fleetFlags
	Output string `short:"o" enum:"text,json" default:"text" placeholder:"FORMAT" help:"text or json."`
}

func (c *rolloutStatus) run(ctx context.Context, a *app) error {
	conn, err := c.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	r, _, err := needRollout(ctx, conn, c.Name)
	if err != nil {
		return err
	}
	d := &driver{a: a, conn: conn, rollout: r}
	machines, err := d.machines(ctx)
	if err != nil {
		return err
	}
	t := rollout.Count(r, machines, time.Time{}, time.Now())
	groups := rollout.GroupFailures(failuresOf(r, machines))
	if c.Output == "json" {
		return printJSON(a.out, map[string]any{"rollout": r, "machines": t, "failures": groups})
	}
	if err := a.printf("%s: %s, by %s\n", d.name(), tallyText(r, t), r.By); err != nil {
		return err
	}
	for _, group := range groups {
		if err := a.printf("%s: %s\n", machineCount(group.Machines), group.Reason); err != nil {
			return err
		}
	}
	return nil
}

// needRollout returns the rollout of a name, which has to be there.
func needRollout(ctx context.Context, conn *bus.Conn, name string) (*release.Rollout, uint64, error) {
	if err := release.CheckName("name", name); err != nil {
		return nil, 0, exitWith(exitUsage, err)
	}
	ctx, stop := context.WithTimeout(ctx, operatorLimit)
	defer stop()
	r, revision, err := readRollout(ctx, conn, name)
	if err == nil && r == nil {
		err = exitWith(exitUnreadable, fmt.Errorf("nothing was rolled out as %s yet", name))
	}
	return r, revision, err
}

// changeFlags belong to the commands that change a rollout.
type changeFlags struct {
	Name string `arg:"" help:"The release name."`
	fleetFlags
	signFlags
}

// change writes a rollout that is running or paused in another state.
func (c *changeFlags) change(ctx context.Context, a *app, change func(*release.Rollout)) (*driver, func(), error) {
	conn, err := c.connect()
	if err != nil {
		return nil, nil, err
	}
	r, revision, err := needRollout(ctx, conn, c.Name)
	if err == nil && r.State != release.Running && r.State != release.Paused {
		err = exitWith(exitUsage, fmt.Errorf("%s@%d is %s: there is no rollout to change", r.Name, r.Version, r.State))
	}
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	next := *r
	next.N, next.By = r.N+1, controller()
	change(&next)
	d := &driver{a: a, conn: conn, sign: &c.signFlags, rollout: r, revision: revision}
	if err := d.write(ctx, &next); err != nil {
		conn.Close()
		return nil, nil, err
	}
	return d, conn.Close, nil
}

type rolloutPause struct{ changeFlags }

func (c *rolloutPause) run(ctx context.Context, a *app) error {
	d, done, err := c.change(ctx, a, func(r *release.Rollout) { r.State = release.Paused })
	if err != nil {
		return err
	}
	defer done()
	return a.printf("%s is paused in wave %d\n", d.name(), d.rollout.Wave)
}

type rolloutAbort struct {
	changeFlags
	Revert bool `help:"Machines that have the release go back to the one before; the release has to allow it."`
}

func (c *rolloutAbort) run(ctx context.Context, a *app) error {
	d, done, err := c.change(ctx, a, func(r *release.Rollout) {
		r.State, r.Halted, r.Revert = release.Aborted, "aborted by "+controller(), c.Revert || r.Revert
	})
	if err != nil {
		return err
	}
	defer done()
	return a.printf("%s is aborted in wave %d: no other machine takes it\n", d.name(), d.rollout.Wave)
}

type rolloutResume struct{ changeFlags }

func (c *rolloutResume) run(ctx context.Context, a *app) error {
	d, done, err := c.change(ctx, a, func(r *release.Rollout) { r.State = release.Running })
	if err != nil {
		return err
	}
	defer done()
	return d.drive(ctx)
}
