package main

import (
	"context"
	"fmt"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bus"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/rollout"
)

type rolloutCommand struct {
	Start  rolloutStart  `cmd:"" default:"withargs" help:"Roll out a release in waves, in the foreground, until it is done or halts."`
	Status rolloutStatus `cmd:"" help:"Say how a rollout stands."`
	Pause  rolloutPause  `cmd:"" help:"Open no further wave until resume."`
	Resume rolloutResume `cmd:"" help:"Go on with a rollout that was paused, or whose controller ended."`
	Abort  rolloutAbort  `cmd:"" help:"End a rollout: no other machine takes the release."`
}

type rolloutStart struct {
	Release string `arg:"" name:"name@version" help:"The published release."`
	fleetFlags
	signFlags
	To          string   `placeholder:"SELECTOR" help:"Only these machines: NAME, NAME*, LABEL=VALUE, joined by commas. Default: all."`
	First       []string `placeholder:"NAME" help:"Machines that come first, as a wave of their own that halts at its first failure."`
	Waves       []string `default:"1,10%,50%,100%" placeholder:"N|P%" help:"How many machines each wave opens to. Default: 1,10%,50%,100%."`
	MaxFailures string   `default:"0" placeholder:"N|P%" help:"How many machines may fail, or which share of those that answered. Default: 0."`
	MinAnswers  int      `default:"1" help:"How many machines have to answer before failures halt it. Default: 1."`
	Wait        string   `default:"15m" placeholder:"TIME" help:"How long a wave may take. Default: 15m."`
	Soak        string   `default:"0s" placeholder:"TIME" help:"How long a machine has to stay good. Default: 0s."`
	Revert      bool     `help:"When it halts, machines go back to the release before. The release has to allow it (publish --may-revert-to)."`
}

func (c *rolloutStart) run(ctx context.Context, a *app) error {
	name, version, err := parseRelease(c.Release)
	if err != nil {
		return exitWith(exitUsage, err)
	}
	conn, err := c.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	last, revision, err := readRollout(ctx, conn, name)
	if err != nil {
		return err
	}
	next, err := c.next(name, version, last)
	if err != nil {
		return err
	}
	if err := c.checkRelease(ctx, conn, next); err != nil {
		return err
	}
	d := &driver{a: a, conn: conn, sign: &c.signFlags, rollout: next, revision: revision}
	return d.drive(ctx)
}

// next returns the rollout before its first wave.
func (c *rolloutStart) next(name string, version int64, last *release.Rollout) (*release.Rollout, error) {
	next := &release.Rollout{
		Schema: release.RolloutSchema, Fleet: c.Fleet, N: 1, Name: name, Version: version, Selector: c.To, First: c.First,
		Open: "0000000000000000", Salt: c.Release, Waves: c.Waves, MaxFailures: c.MaxFailures, MinAnswers: c.MinAnswers,
		Wait: c.Wait, Soak: c.Soak, State: release.Running, By: controller(), Revert: c.Revert,
	}
	if len(c.First) > 0 {
		next.Waves = append([]string{rollout.FirstWave}, c.Waves...)
	}
	if last != nil {
		if last.State == release.Running || last.State == release.Paused {
			return nil, exitWith(exitLater, fmt.Errorf("%s@%d is being rolled out by %s: resume or abort that first", name, last.Version, last.By))
		}
		next.N, next.Before = last.N+1, inForceOf(last)
	}
	for _, selector := range append([]string{c.To}, c.First...) {
		if _, err := release.ParseSelector(selector); err != nil {
			return nil, exitWith(exitUsage, err)
		}
	}
	return next, exitWith(exitUsage, rollout.Check(next))
}

// checkRelease makes sure that the release is there, and that it may be reverted
// when that is asked for.
func (c *rolloutStart) checkRelease(ctx context.Context, conn *bus.Conn, next *release.Rollout) error {
	ctx, stop := context.WithTimeout(ctx, operatorLimit)
	defer stop()
	signed, err := conn.Release(ctx, next.Name, next.Version)
	if err == nil && signed == nil {
		err = fmt.Errorf("%s was not published in fleet %s", c.Release, c.Fleet)
	}
	if err != nil {
		return exitWith(exitUnreadable, err)
	}
	r, err := release.Parse([]byte(signed.Text))
	if err != nil {
		return exitWith(exitInvalid, err)
	}
	if c.Revert && (next.Before == 0 || r.MayRevertTo != next.Before) {
		return exitWith(exitUsage, fmt.Errorf("--revert: %s does not allow to go back to version %d: publish it with --may-revert-to %d", r, next.Before, next.Before))
	}
	return nil
}
