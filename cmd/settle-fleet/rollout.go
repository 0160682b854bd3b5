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

// exitHalted is the code of a rollout that halted.
const exitHalted = exitFailed

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
