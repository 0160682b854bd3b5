package main

import (
	"context"
	"fmt"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
)

type openCommand struct {
	Release string `arg:"" name:"name@version" help:"The release that is to be in force on every machine."`
	fleetFlags
	signFlags
}

func (c *openCommand) run(ctx context.Context, a *app) error {
	name, version, err := parseRelease(c.Release)
	if err != nil {
		return exitWith(exitUsage, err)
	}
	conn, err := c.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, stop := context.WithTimeout(ctx, operatorLimit)
	defer stop()
	published, err := conn.Release(ctx, name, version)
	if err == nil && published == nil {
		err = fmt.Errorf("%s was not published in fleet %s", c.Release, c.Fleet)
	}
	if err != nil {
		return exitWith(exitUnreadable, err)
	}
	last, revision, err := readRollout(ctx, conn, name)
	if err != nil {
		return err
	}
	next := release.OpenAll(c.Fleet, name, version, 0, 1)
	if last != nil {
		if last.State == release.Running || last.State == release.Paused {
			return exitWith(exitLater, fmt.Errorf("%s@%d is being rolled out by %s: abort that first", name, last.Version, last.By))
		}
		next.N, next.Before = last.N+1, inForceOf(last)
	}
	signed, err := c.sign(ctx, release.RolloutNamespace, next.Encode())
	if err != nil {
		return err
	}
	if _, err := conn.PutRollout(ctx, name, signed, revision); err != nil {
		return exitWith(exitLater, err)
	}
	return a.printf("%s@%d is open to every machine of fleet %s\n", name, version, c.Fleet)
}
