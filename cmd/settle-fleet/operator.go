package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bus"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
)

// fleetFlags belong to the commands of an operator.
type fleetFlags struct {
	Fleet   string `required:"" env:"SETTLE_FLEET" help:"The fleet."`
	Context string `placeholder:"FILE" env:"SETTLE_FLEET_CONTEXT" help:"The NATS context to connect with: a file, or a name that the nats command knows."`
}

// Validate refuses what cannot be a fleet. kong calls it.
func (f *fleetFlags) Validate() error { return release.CheckName("--fleet", f.Fleet) }

// operatorLimit bounds a command of an operator that waits for nothing but answers.
const operatorLimit = 30 * time.Second

func (f *fleetFlags) connect() (*bus.Conn, error) {
	if f.Context == "" {
		return nil, exitWith(exitUsage, errors.New("--context: name the NATS context to connect with, or set SETTLE_FLEET_CONTEXT"))
	}
	c, err := bus.LoadContext(f.Context)
	if err != nil {
		return nil, exitWith(exitUnreadable, err)
	}
	conn, err := bus.Connect(c, f.Fleet, bus.Options{Name: "settle-fleet"})
	return conn, exitWith(exitUnreadable, err)
}

type initCommand struct {
	fleetFlags
	Replicas int `default:"1" help:"How many servers of a cluster keep a copy."`
}

func (c *initCommand) run(ctx context.Context, a *app) error {
	conn, err := c.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, stop := context.WithTimeout(ctx, operatorLimit)
	defer stop()
	if err := conn.Init(ctx, c.Replicas); err != nil {
		return exitWith(exitUnwritten, err)
	}
	return a.printf(`fleet %s is ready
in the server's configuration, "jetstream { sync_interval: always }" keeps every acknowledged report through a power loss
`, c.Fleet)
}

// parseRelease reads NAME@VERSION.
func parseRelease(text string) (name string, version int64, err error) {
	if n, _ := fmt.Sscanf(afterAt(text), "%d", &version); n == 1 && version > 0 {
		name = text[:len(text)-len(afterAt(text))-1]
	}
	if release.CheckName("name", name) != nil || fmt.Sprintf("%s@%d", name, version) != text {
		return "", 0, fmt.Errorf("%q is not NAME@VERSION such as web@17", text)
	}
	return name, version, nil
}

func afterAt(text string) string {
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] == '@' {
			return text[i+1:]
		}
	}
	return ""
}

// readRollout returns the rollout of a name and its revision, nil for none. Its
// signature is the machines' to check.
func readRollout(ctx context.Context, conn *bus.Conn, name string) (*release.Rollout, uint64, error) {
	signed, revision, err := conn.Rollout(ctx, name)
	if err != nil {
		return nil, 0, exitWith(exitUnreadable, err)
	}
	if signed == nil {
		return nil, 0, nil
	}
	r, err := release.ParseRollout([]byte(signed.Text))
	return r, revision, exitWith(exitInvalid, err)
}
