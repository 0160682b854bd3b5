package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/agent"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bus"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/config"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/machine"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/runner"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/source"
	"github.com/settle-cm/settle/providers/facts"
)

// configFlag belongs to the commands that run on a machine of the fleet.
type configFlag struct {
	Config string `default:"/etc/settle/fleet.yaml" placeholder:"FILE" env:"SETTLE_FLEET_CONFIG" help:"The configuration of this machine. Default: /etc/settle/fleet.yaml."`
}

type agentCommand struct {
	configFlag
	Once bool `help:"Do one round and exit as settle apply did."`
}

func (c *agentCommand) run(ctx context.Context, a *app) error {
	agent, err := newAgent(ctx, a, c.Config, !c.Once)
	if err != nil {
		return err
	}
	unlock, err := agent.State.Lock(false)
	if errors.Is(err, machine.ErrLocked) {
		if c.Once {
			return exitWith(exitLater, err)
		}
		a.log.Info("waiting for another agent to end", "state", agent.State.Dir)
		unlock, err = waitForLock(ctx, agent.State)
	}
	if err != nil {
		return exitWith(exitUnwritten, err)
	}
	defer unlock()
	if c.Once {
		return exitAfter(ctx, agent.Round(ctx))
	}
	agent.Quiet = true
	return loop(ctx, agent)
}

// waitForLock waits for the lock until the context ends.
func waitForLock(ctx context.Context, state *machine.State) (func(), error) {
	type result struct {
		unlock func()
		err    error
	}
	done := make(chan result, 1)
	go func() {
		unlock, err := state.Lock(true)
		done <- result{unlock, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case r := <-done:
		return r.unlock, r.err
	}
}

// loop does a round at once and then one in each interval, or soon after a
// rollout was written, until a signal comes.
func loop(ctx context.Context, a *agent.Agent) error {
	heard := make(chan struct{}, 1)
	desk := agent.NewDesk(a)
	desk.Began()
	if a.Conn != nil {
		defer a.Conn.Close()
		if err := a.Conn.Answer(a.Config.Machine, desk.Answer); err != nil {
			return exitWith(exitUnreadable, err)
		}
		if err := a.Conn.Wanted(func(name string) { wake(a, name, heard) }); err != nil {
			return exitWith(exitUnreadable, fmt.Errorf("listen for news: %w", err))
		}
	}
	do := func() int { return a.Round(ctx) }
	for {
		desk.Began()
		desk.Ended(do())
		do = func() int { return a.Round(ctx) }
		next := agent.NextRound(time.Now(), a.Config.Machine, a.Config.Interval)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Until(next)):
		case r := <-desk.Requests:
			if !sleep(ctx, agent.SpreadOf(r, a.Config.Machine)) {
				return nil
			}
			do = func() int { return a.Do(ctx, r) }
		case <-heard:
			// Each machine fetches at a time of its own, so that not all ask at once.
			if !sleep(ctx, agent.Splay(a.Config.Machine, a.Config.FetchSpread)) {
				return nil
			}
		}
	}
}

// wake notes that a round is due. Several notes are one.
func wake(a *agent.Agent, name string, heard chan<- struct{}) {
	if !slices.ContainsFunc(a.Config.Releases, func(r config.Release) bool { return r.Name == name }) {
		return
	}
	select {
	case heard <- struct{}{}:
	default:
	}
}

// sleep waits and returns false when the context ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// exitAfter returns the error that stands for the exit code of a round.
func exitAfter(ctx context.Context, code int) error {
	if ctx.Err() != nil {
		code = 128 + int(syscall.SIGTERM)
	}
	if code == 0 {
		return nil
	}
	return &exit{code: code}
}

// newAgent wires an agent from its configuration.
func newAgent(ctx context.Context, a *app, path string, keep bool) (*agent.Agent, error) {
	c, err := loadConfig(path)
	if err != nil {
		return nil, err
	}
	state, identity, err := machine.Open(c.State)
	if err != nil {
		return nil, exitWith(exitUnwritten, err)
	}
	settle := &runner.Settle{Path: c.Settle, StateDir: c.SettleState, Out: a.out, Err: a.err}
	if c.Settle == "settle" {
		settle.Path = a.settleProgram
	}
	built := &agent.Agent{
		Config: c, State: state, Identity: identity, Settle: settle, Sources: map[string]source.Source{},
		Labels: machineLabels(ctx, c), Version: version, Log: a.log, Now: time.Now,
	}
	if c.NATS != "" {
		if err := connectAgent(built, keep); err != nil {
			return nil, exitWith(exitInvalid, err)
		}
	}
	for _, r := range c.Releases {
		if r.From != "nats" {
			built.Sources[r.From] = fileSource(r.From)
		}
	}
	return built, nil
}

// connectAgent gives an agent its connection. Without one it still applies what
// is in force; keep lets it connect later.
func connectAgent(a *agent.Agent, keep bool) error {
	context, err := bus.LoadContext(a.Config.NATS)
	if err != nil {
		return err
	}
	if context.InboxPrefix == "" {
		context.InboxPrefix = bus.MachineInbox(a.Config.Machine)
	}
	conn, err := bus.Connect(context, a.Config.Fleet, bus.Options{
		Name: a.Config.Machine, Keep: keep,
		Warn: func(err error) { a.Log.Warn("NATS", "err", err) },
	})
	if err != nil {
		a.Log.Warn("no connection", "err", err)
		return nil
	}
	a.Sources["nats"] = conn
	a.Teller = &agent.Bus{Conn: conn}
	a.Conn = conn
	return nil
}

func loadConfig(path string) (*config.Config, error) {
	c, err := config.Load(path)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return nil, exitWith(exitUnreadable, err)
	}
	return c, exitWith(exitInvalid, err)
}

func fileSource(from string) source.Source {
	if strings.HasPrefix(from, "https://") {
		return source.Web(from, source.NewClient())
	}
	return source.Directory(from)
}

// machineLabels returns the labels of the configuration and the facts of this
// machine, as host.NAME, that a selector can name.
func machineLabels(ctx context.Context, c *config.Config) map[string]string {
	labels := maps.Clone(c.Labels)
	host, err := facts.Host(ctx)
	if err != nil {
		return labels
	}
	for name, value := range host {
		if text := fmt.Sprint(value); release.IsLabel("host."+name, text) {
			labels["host."+name] = text
		}
	}
	return labels
}

type adoptCommand struct{ configFlag }

// run notes every other instance that told under this machine's name, so that
// this one continues in its place.
func (c *adoptCommand) run(ctx context.Context, a *app) error {
	built, err := newAgent(ctx, a, c.Config, false)
	if err != nil {
		return err
	}
	if built.Conn == nil {
		return exitWith(exitUnreadable, errors.New("adopt: there is no connection to NATS"))
	}
	defer built.Conn.Close()
	unlock, err := built.State.Lock(false)
	if err != nil {
		return exitWith(exitLater, err)
	}
	defer unlock()
	others, err := agent.OtherInstances(ctx, built)
	if err != nil {
		return exitWith(exitUnreadable, err)
	}
	if len(others) == 0 {
		return a.printf("no other machine has told as %s\n", built.Config.Machine)
	}
	built.Identity.Adopted = append(built.Identity.Adopted, others...)
	if err := built.State.SaveIdentity(built.Identity); err != nil {
		return exitWith(exitUnwritten, err)
	}
	return a.printf("this machine takes the place of %s as %s\n", strings.Join(others, ", "), built.Config.Machine)
}

type statusCommand struct {
	configFlag
	Output string `short:"o" enum:"text,json" default:"text" placeholder:"FORMAT" help:"text or json."`
}

func (c *statusCommand) run(_ context.Context, a *app) error {
	cfg, err := loadConfig(c.Config)
	if err != nil {
		return err
	}
	s, err := agent.LastStatus(&machine.State{Dir: cfg.State})
	if errors.Is(err, os.ErrNotExist) {
		return exitWith(exitUnreadable, fmt.Errorf("no round was done yet in %s: run settle-fleet agent --once", cfg.State))
	}
	if err != nil {
		return exitWith(exitUnwritten, err)
	}
	if c.Output == "json" {
		return printJSON(a.out, s)
	}
	return writeStatus(a.out, s, cfg)
}
