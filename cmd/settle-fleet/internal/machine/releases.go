package machine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bundle"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
)

// InForce is a release that was taken up.
type InForce struct {
	Release *release.Release
	Signer  string
	Dir     string // the unpacked bundle; the same path for every version
}

// accepted is the file beside an unpacked bundle.
type accepted struct {
	Release release.Signed `json:"release"`
	Signer  string         `json:"signer"`
}

// InForce returns the release of a name that is in force, nil for none. It is
// not verified again: the signer may have left since.
func (s *State) InForce(name string) (*InForce, error) {
	current := filepath.Join(s.nameDir(name), "current")
	target, err := os.Readlink(current)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read state: %w", err)
	}
	var a accepted
	if err := s.read(filepath.Join("releases", name, filepath.Dir(target), "release.json"), &a); err != nil {
		return nil, err
	}
	r, err := release.Parse([]byte(a.Release.Text))
	if err != nil {
		return nil, fmt.Errorf("read state %s: %w", current, err)
	}
	return &InForce{r, a.Signer, current}, nil
}

// Candidate is a verified release that a machine is about to take up.
type Candidate struct {
	Machine string
	Release *release.Release
	Signed  release.Signed
	Signer  string
	Fetch   func(ctx context.Context, w io.Writer) error
	Check   func(dir string) error // of the unpacked bundle
}

// TakeUp fetches, checks and unpacks a release and puts it in force. Until its
// last step, the rename of one link, the release before stays in force.
func (s *State) TakeUp(ctx context.Context, c Candidate) error {
	name := c.Release.Name
	known, err := s.Known(name)
	if err != nil {
		return err
	}
	version := versionDir(c.Release)
	target := filepath.Join(s.nameDir(name), version)
	if _, err := os.Stat(target); err != nil {
		if err := s.unpack(ctx, c, target); err != nil {
			return err
		}
	} else if err := c.Check(filepath.Join(target, "tree")); err != nil {
		return err
	}
	known = known.Take(c.Release)
	known.Kept[c.Release.Version] = c.Release.Digest
	if err := s.SaveKnown(name, known); err != nil {
		return err
	}
	return s.putInForce(name, version)
}

// unpack makes the directory of a release. It appears whole or not at all.
func (s *State) unpack(ctx context.Context, c Candidate, target string) error {
	incoming := filepath.Join(s.nameDir(c.Release.Name), "incoming")
	tree := filepath.Join(incoming, "tree")
	if err := errors.Join(os.RemoveAll(incoming), os.MkdirAll(tree, 0o700)); err != nil {
		return fmt.Errorf("unpack release: %w", err)
	}
	defer os.RemoveAll(incoming)
	packed, err := os.Create(filepath.Join(incoming, "bundle.tar.gz"))
	if err != nil {
		return fmt.Errorf("fetch bundle: %w", err)
	}
	defer packed.Close()
	if err := fetch(ctx, c, packed); err != nil {
		return fmt.Errorf("fetch bundle of %s: %w", c.Release, err)
	}
	root, err := os.OpenRoot(tree)
	if err != nil {
		return fmt.Errorf("unpack release: %w", err)
	}
	defer root.Close()
	if err := bundle.Unpack(packed, root, c.Machine, bundle.DefaultLimits); err != nil {
		return err
	}
	if err := c.Check(tree); err != nil {
		return err
	}
	relative, err := filepath.Rel(s.Dir, filepath.Join(incoming, "release.json"))
	if err != nil {
		return err
	}
	if err := s.write(relative, accepted{c.Signed, c.Signer}); err != nil {
		return err
	}
	if err := errors.Join(os.Remove(packed.Name()), os.Rename(incoming, target)); err != nil {
		return fmt.Errorf("unpack release: %w", err)
	}
	return syncDir(filepath.Dir(target))
}

// fetch writes at most the signed size to packed and compares the digest. It
// leaves packed at its beginning.
func fetch(ctx context.Context, c Candidate, packed *os.File) error {
	hash := sha256.New()
	bounded := &boundedWriter{w: io.MultiWriter(packed, hash), left: min(c.Release.Size, bundle.DefaultLimits.Packed)}
	if err := c.Fetch(ctx, bounded); err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != c.Release.Hex() {
		return fmt.Errorf("its SHA-256 is %s, not the signed %s", got, c.Release.Hex())
	}
	_, err := packed.Seek(0, io.SeekStart)
	return err
}

type boundedWriter struct {
	w    io.Writer
	left int64
}

func (b *boundedWriter) Write(p []byte) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errors.New("it is larger than the signed size")
	}
	return b.w.Write(p)
}

// putInForce points the link current to a version.
func (s *State) putInForce(name, version string) error {
	dir := s.nameDir(name)
	before, _ := os.Readlink(filepath.Join(dir, "current")) // "" for the first one
	next := filepath.Join(dir, "next")
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("put release in force: %w", err)
	}
	err := os.Symlink(filepath.Join(version, "tree"), next)
	if err == nil {
		err = os.Rename(next, filepath.Join(dir, "current"))
	}
	if err == nil {
		err = syncDir(dir)
	}
	if err != nil {
		return fmt.Errorf("put release in force: %w", err)
	}
	return s.sweep(name, version, filepath.Dir(before))
}

// sweep removes the directories of all versions but the named ones. The one
// before stays, because a manifest may have written paths relative to it.
func (s *State) sweep(name string, keep ...string) error {
	known, err := s.Known(name)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(s.nameDir(name))
	if err != nil {
		return fmt.Errorf("sweep releases: %w", err)
	}
	kept := map[int64]string{}
	for version, digest := range known.Kept {
		for _, dir := range keep {
			if dir == dirOf(version, digest) {
				kept[version] = digest
			}
		}
	}
	known.Kept = kept
	if err := s.SaveKnown(name, known); err != nil { // first: a later step reads the kept release
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "v") && entry.IsDir() && !contains(keep, entry.Name()) {
			if err := os.RemoveAll(filepath.Join(s.nameDir(name), entry.Name())); err != nil {
				return fmt.Errorf("sweep releases: %w", err)
			}
		}
	}
	return nil
}

func contains(all []string, one string) bool {
	for _, other := range all {
		if other == one {
			return true
		}
	}
	return false
}

func versionDir(r *release.Release) string { return dirOf(r.Version, r.Digest) }

func dirOf(version int64, digest string) string {
	hex := strings.TrimPrefix(digest, "sha256:")
	return fmt.Sprintf("v%d-%.12s", version, hex)
}

// Kept returns the accepted release of a version whose directory is there.
func (s *State) Kept(name string, version int64) (*release.Release, *release.Signed, string, error) {
	known, err := s.Known(name)
	if err != nil {
		return nil, nil, "", err
	}
	digest, ok := known.Kept[version]
	if !ok {
		return nil, nil, "", nil
	}
	var a accepted
	if err := s.read(filepath.Join("releases", name, dirOf(version, digest), "release.json"), &a); err != nil {
		return nil, nil, "", err
	}
	r, err := release.Parse([]byte(a.Release.Text))
	return r, &a.Release, a.Signer, err
}
