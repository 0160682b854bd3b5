package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bundle"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/signature"
)

type verifyCommand struct {
	Release string `arg:"" help:"The release; its signatures are in the same file with .sig behind its name."`
	Bundle  string `arg:"" optional:"" help:"The bundle, to be compared with what was signed."`
	Signers string `default:"/etc/settle/allowed_signers" placeholder:"FILE" env:"SETTLE_FLEET_SIGNERS" help:"The allowed_signers file. Default: /etc/settle/allowed_signers."`
	Fleet   string `placeholder:"NAME" env:"SETTLE_FLEET" help:"The fleet that it has to be for. Default: any."`
}

func (c *verifyCommand) run(_ context.Context, a *app) error {
	text, err := os.ReadFile(c.Release)
	if err != nil {
		return exitWith(exitUnreadable, fmt.Errorf("read release: %w", err))
	}
	armours, err := os.ReadFile(c.Release + ".sig")
	if err != nil {
		return exitWith(exitUnreadable, fmt.Errorf("read signatures: %w", err))
	}
	signers, err := readSigners(c.Signers)
	if err != nil {
		return err
	}
	r, signer, err := verifyRelease(text, armours, signers, c.Fleet)
	if err != nil {
		return exitWith(exitInvalid, err)
	}
	if err := c.verifyBundle(r); err != nil {
		return err
	}
	return a.printf("%s of fleet %s, signed by %s, %s, until %s\n", r, r.Fleet, signer, r.Digest, r.Expires.UTC().Format(time.RFC3339))
}

func verifyRelease(text, armours []byte, signers *signature.Signers, fleet string) (*release.Release, string, error) {
	signatures, err := signature.Split(armours)
	if err != nil {
		return nil, "", err
	}
	signer, err := signers.Verify(text, signatures, release.Namespace, time.Now())
	if err != nil {
		return nil, "", fmt.Errorf("the release is not accepted: %w", err)
	}
	r, err := release.Parse(text)
	if err != nil {
		return nil, "", err
	}
	if fleet == "" {
		fleet = r.Fleet
	}
	known := &release.Known{}
	return r, signer, known.Accept(r, fleet, r.Name, time.Now(), false)
}

// verifyBundle compares the bundle with the release and unpacks it for a try.
func (c *verifyCommand) verifyBundle(r *release.Release) error {
	if c.Bundle == "" {
		return nil
	}
	file, err := os.Open(c.Bundle)
	if err != nil {
		return exitWith(exitUnreadable, fmt.Errorf("read bundle: %w", err))
	}
	defer file.Close()
	hash := sha256.New()
	n, err := file.WriteTo(hash)
	if err != nil {
		return exitWith(exitUnreadable, fmt.Errorf("read bundle: %w", err))
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != r.Hex() || n != r.Size {
		return exitWith(exitInvalid, fmt.Errorf("the bundle has SHA-256 %s and %d bytes, not the signed %s and %d", got, n, r.Hex(), r.Size))
	}
	dir, err := os.MkdirTemp("", "settle-fleet-*")
	if err != nil {
		return exitWith(exitUnwritten, fmt.Errorf("unpack bundle: %w", err))
	}
	defer os.RemoveAll(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return exitWith(exitUnwritten, fmt.Errorf("unpack bundle: %w", err))
	}
	defer root.Close()
	if _, err := file.Seek(0, 0); err != nil {
		return exitWith(exitUnreadable, errors.New("read bundle: it cannot be read twice"))
	}
	return exitWith(exitInvalid, bundle.Unpack(file, root, "", bundle.DefaultLimits))
}
