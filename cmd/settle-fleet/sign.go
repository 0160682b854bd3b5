package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/signature"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/signing"
)

// signFlags belong to the commands that sign a text.
type signFlags struct {
	Sign    []string `required:"" sep:"none" placeholder:"KEY" help:"The SSH key to sign with, as for ssh-keygen -Y sign. Repeatable, for a change of keys."`
	Signers string   `placeholder:"FILE" env:"SETTLE_FLEET_SIGNERS" help:"An allowed_signers file: nothing is published that machines with it would refuse."`
}

// sign signs a text with every key, and checks that machines will accept it.
func (f *signFlags) sign(ctx context.Context, namespace string, text []byte) (*release.Signed, error) {
	signed := &release.Signed{Text: string(text)}
	for _, key := range f.Sign {
		armour, err := signing.Sign(ctx, key, namespace, text)
		if err != nil {
			return nil, exitWith(exitUnreadable, err)
		}
		signed.Signatures = append(signed.Signatures, armour)
	}
	if f.Signers == "" {
		return signed, nil
	}
	signers, err := readSigners(f.Signers)
	if err == nil {
		_, err = signers.Verify(text, signed.Signatures, namespace, time.Now())
	}
	return signed, exitWith(exitInvalid, err)
}

func readSigners(path string) (*signature.Signers, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, exitWith(exitUnreadable, fmt.Errorf("read allowed signers: %w", err))
	}
	signers, err := signature.ParseSigners(text)
	if err != nil {
		return nil, exitWith(exitInvalid, fmt.Errorf("read allowed signers %s: %w", path, err))
	}
	return signers, nil
}
