// Package signing has ssh-keygen sign texts. settle-fleet never reads a private key.
package signing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// Sign returns the armoured signature that ssh-keygen makes over a text with the
// key in a file. The file may hold a public key whose private key an ssh-agent has.
func Sign(ctx context.Context, key, namespace string, text []byte) (string, error) {
	cmd := exec.CommandContext(ctx, "ssh-keygen", "-Y", "sign", "-f", key, "-n", namespace)
	var out, complaints bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), &out, &complaints
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("sign: ssh-keygen is not installed: install openssh-client")
	case err != nil:
		return "", fmt.Errorf("sign with %s: %s", key, strings.TrimSpace(complaints.String()))
	}
	return out.String(), nil
}
