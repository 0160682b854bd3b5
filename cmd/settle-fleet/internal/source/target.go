package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/machine"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
)

// Target is a directory that releases are published into. The directory of each
// name holds its newest release, the signatures, and the bundles.
type Target string

// Last returns the newest published release of a name, or nil without a release.
func (t Target) Last(ctx context.Context, name string) (*release.Release, error) {
	if _, err := os.Stat(string(t)); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	news, err := Directory(string(t)).Look(ctx, name)
	if err != nil || news.Release == nil {
		return nil, err
	}
	return release.Parse([]byte(news.Release.Text))
}

// PutRelease puts a release in the place of the last one. The bundle may be nil
// when it is there. At every instant the release has a signature that fits:
// the signatures of the last release stay behind the new ones.
func (t Target) PutRelease(ctx context.Context, r *release.Release, signed *release.Signed, packed []byte) error {
	dir := filepath.Join(string(t), r.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("publish %s: %w", r, err)
	}
	armours := signed.Signatures
	last, err := Directory(string(t)).Look(ctx, r.Name)
	if err != nil {
		return fmt.Errorf("publish %s: %w", r, err)
	}
	if last.Release != nil {
		armours = append(armours[:len(armours):len(armours)], last.Release.Signatures...)
		armours = armours[:min(len(armours), 2*len(signed.Signatures))]
	}
	files := []struct {
		name    string
		content []byte
	}{
		{BundleFile(r), packed},
		{SignatureFile, []byte(strings.Join(armours, ""))},
		{ReleaseFile, []byte(signed.Text)},
	}
	for _, file := range files {
		if file.content == nil {
			continue
		}
		if err := machine.WriteFile(filepath.Join(dir, file.name), file.content, 0o644); err != nil {
			return fmt.Errorf("publish %s: %w", r, err)
		}
	}
	return nil
}
