package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bundle"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/machine"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/packing"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/source"
	"github.com/settle-cm/settle/model"
)

type packFlags struct {
	AllowRelative bool `help:"Accept paths that are relative to the manifest, and commands without cwd."`
}

type packCommand struct {
	Dir    string `arg:"" help:"The directory, with settle.yaml at its top."`
	Output string `short:"o" placeholder:"FILE" help:"Where to write the bundle. Default: nowhere, only the digest is printed."`
	packFlags
}

func (c *packCommand) run(ctx context.Context, a *app) error {
	packed, info, err := pack(ctx, a, c.Dir, c.packFlags)
	if err != nil {
		return err
	}
	if c.Output != "" {
		if err := machine.WriteFile(c.Output, packed, 0o644); err != nil {
			return exitWith(exitUnwritten, fmt.Errorf("write bundle: %w", err))
		}
	}
	return a.printf("sha256:%s\n", info.Digest)
}

func pack(ctx context.Context, a *app, dir string, flags packFlags) ([]byte, bundle.Info, error) {
	if err := packing.Check(ctx, a.settle(), dir, flags.AllowRelative); err != nil {
		return nil, bundle.Info{}, exitWith(exitInvalid, err)
	}
	var packed bytes.Buffer
	info, err := bundle.Pack(dir, &packed, bundle.DefaultLimits)
	return packed.Bytes(), info, exitWith(exitInvalid, err)
}

type publishCommand struct {
	Dir         string `arg:"" optional:"" help:"The directory, with settle.yaml at its top."`
	Name        string `required:"" help:"The name of the release."`
	To          string `placeholder:"DIR" help:"Publish into this directory, for a web server or a shared file system, instead of to NATS."`
	Version     int64  `placeholder:"N" help:"The version, a number that only grows. Default: one more than the last."`
	Expires     string `default:"90d" placeholder:"TIME" help:"How long machines may take it up. Default: 90d."`
	MayRevertTo int64  `placeholder:"N" help:"Machines may go back to this version when a rollout is reverted."`
	NeedsSettle string `placeholder:"VERSION" help:"The oldest settle that can apply it, such as >=0.3."`
	Notes       string `placeholder:"TEXT" help:"What it is, such as a commit."`
	Renew       bool   `help:"Publish the bundle of the last release again, with a new version and expiry."`
	fleetFlags
	signFlags
	packFlags
}

// target is where releases are published.
type target interface {
	Last(ctx context.Context, name string) (*release.Release, error)
	PutRelease(ctx context.Context, r *release.Release, signed *release.Signed, packed []byte) error
}

func (c *publishCommand) target() (target, func(), error) {
	if c.To != "" {
		return source.Target(c.To), func() {}, nil
	}
	if c.Context == "" {
		return nil, nil, exitWith(exitUsage, errors.New("publish: give --to DIR, or --context for NATS"))
	}
	conn, err := c.connect()
	if err != nil {
		return nil, nil, err
	}
	return conn, conn.Close, nil
}

// Validate refuses flags that contradict each other. kong calls it.
func (c *publishCommand) Validate() error {
	if c.Renew == (c.Dir != "") {
		return errors.New("give a directory, or --renew without one")
	}
	if _, err := release.MinimumSettle(c.NeedsSettle); err != nil {
		return err
	}
	return errors.Join(c.fleetFlags.Validate(), release.CheckName("--name", c.Name))
}

func (c *publishCommand) run(ctx context.Context, a *app) error {
	target, done, err := c.target()
	if err != nil {
		return err
	}
	defer done()
	last, err := target.Last(ctx, c.Name)
	if err != nil {
		return exitWith(exitUnreadable, err)
	}
	r, packed, err := c.release(ctx, a, last)
	if err != nil {
		return err
	}
	signed, err := c.sign(ctx, release.Namespace, r.Encode())
	if err != nil {
		return err
	}
	if err := target.PutRelease(ctx, r, signed, packed); err != nil {
		return exitWith(exitUnwritten, err)
	}
	return a.printf("published %s of fleet %s, %s, until %s\n", r, r.Fleet, r.Digest, r.Expires.Format("2006-01-02"))
}

// release returns the new release and its bundle; no bundle with --renew.
func (c *publishCommand) release(ctx context.Context, a *app, last *release.Release) (*release.Release, []byte, error) {
	lifetime, err := model.ParseDuration(c.Expires)
	if err != nil || lifetime <= 0 {
		return nil, nil, exitWith(exitUsage, fmt.Errorf("--expires %q is not a time such as 90d", c.Expires))
	}
	now := time.Now().UTC().Truncate(time.Second)
	r := &release.Release{
		Schema: release.Schema, Fleet: c.Fleet, Name: c.Name, Version: c.Version, MayRevertTo: c.MayRevertTo,
		Created: now, Expires: now.Add(lifetime), Notes: c.Notes, Settle: c.NeedsSettle,
	}
	var lastVersion int64
	if last != nil {
		lastVersion = last.Version
	}
	switch {
	case r.Version == 0:
		r.Version = lastVersion + 1
	case r.Version <= lastVersion:
		return nil, nil, exitWith(exitUsage, fmt.Errorf("--version %d: the last release is %s; versions only grow", r.Version, last))
	}
	if r.MayRevertTo < 0 || r.MayRevertTo >= r.Version {
		return nil, nil, exitWith(exitUsage, fmt.Errorf("--may-revert-to %d is not older than %d", r.MayRevertTo, r.Version))
	}
	if c.Renew {
		if last == nil {
			return nil, nil, exitWith(exitUnreadable, fmt.Errorf("--renew: nothing was published as %s yet", c.Name))
		}
		r.Digest, r.Size = last.Digest, last.Size
		return r, nil, nil
	}
	packed, info, err := pack(ctx, a, c.Dir, c.packFlags)
	r.Digest, r.Size = "sha256:"+info.Digest, info.Size
	return r, packed, err
}
