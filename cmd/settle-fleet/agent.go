package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/agent"
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
	agent, err := newAgent(ctx, a, c.Config)
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

// loop does a round at once and then one in each interval, until a signal comes.
func loop(ctx context.Context, agent *agent.Agent) error {
	for {
		agent.Round(ctx)
		next := nextRound(agent)
		agent.Log.Info("waiting", "next", next.Format(time.RFC3339))
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Until(next)):
		}
	}
}

func nextRound(a *agent.Agent) time.Time {
	return agent.NextRound(time.Now(), a.Config.Machine, a.Config.Interval)
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
func newAgent(ctx context.Context, a *app, path string) (*agent.Agent, error) {
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
		settle.Path = a.grammar.Settle
	}
	built := &agent.Agent{
		Config: c, State: state, Identity: identity, Settle: settle, Sources: map[string]source.Source{},
		Labels: machineLabels(ctx, c), Version: version, Log: a.log, Now: time.Now,
	}
	for _, r := range c.Releases {
		if r.From != "nats" {
			built.Sources[r.From] = fileSource(r.From)
		}
	}
	return built, nil
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
