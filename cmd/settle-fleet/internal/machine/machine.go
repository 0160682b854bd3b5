// Package machine keeps what one machine's agent remembers: its identity, the
// releases that it has taken up, and what it has told. Every change is a file
// that is written beside its place, synced and renamed, so that a kill at any
// instant leaves the old state or the new one.
package machine

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/spool"
)

// State is the agent's state directory.
type State struct{ Dir string }

// Identity tells two machines apart that have the same name. It is made
// together with the state directory.
type Identity struct {
	Instance string   `json:"instance"`
	Adopted  []string `json:"adopted,omitempty"` // instances that this machine replaces
}

// Open makes the state directory when it is missing and returns the identity.
func Open(dir string) (*State, *Identity, error) {
	s := &State{Dir: dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make state directory: %w", err)
	}
	id := &Identity{}
	err := s.read("machine.json", id)
	if errors.Is(err, fs.ErrNotExist) {
		random := make([]byte, 8)
		_, _ = rand.Read(random) // never fails
		id.Instance = hex.EncodeToString(random)
		err = s.SaveIdentity(id)
	}
	if err != nil {
		return nil, nil, err
	}
	return s, id, nil
}

// Replaces reports whether this machine was told to take another instance's place.
func (id *Identity) Replaces(instance string) bool { return slices.Contains(id.Adopted, instance) }

// SaveIdentity keeps the identity.
func (s *State) SaveIdentity(id *Identity) error { return s.write("machine.json", id) }

// ErrLocked is returned when another agent works with the same state directory.
var ErrLocked = errors.New("another agent works with this state directory")

// Lock keeps other agents out until the returned function is called. With wait
// it waits for the lock, else it returns ErrLocked.
func (s *State) Lock(wait bool) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(s.Dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock state directory: %w", err)
	}
	err = lockFile(file, wait)
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: %w", s.Dir, err)
	}
	return func() { _ = file.Close() }, nil // closing it ends the lock
}

// Known returns the stored record of a release name.
func (s *State) Known(name string) (release.Known, error) {
	known := release.Known{Kept: map[int64]string{}}
	err := s.read(filepath.Join("releases", name, "known.json"), &known)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return known, err
}

// SaveKnown stores the record of a release name.
func (s *State) SaveKnown(name string, known release.Known) error {
	if err := os.MkdirAll(s.nameDir(name), 0o700); err != nil {
		return fmt.Errorf("save state: %w", err)
	}
	return s.write(filepath.Join("releases", name, "known.json"), known)
}

// Told returns the last report that was sent for a release name.
func (s *State) Told(name string) (told spool.Told, err error) {
	err = s.read(filepath.Join("releases", name, "told.json"), &told)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return told, err
}

// SaveTold stores the last report that was sent for a release name.
func (s *State) SaveTold(name string, told spool.Told) error {
	return s.write(filepath.Join("releases", name, "told.json"), told)
}

// ReadJSON reads a file of the state directory into a value.
func (s *State) ReadJSON(name string, into any) error { return s.read(name, into) }

// WriteJSON replaces a file of the state directory.
func (s *State) WriteJSON(name string, value any) error { return s.write(name, value) }

func (s *State) nameDir(name string) string { return filepath.Join(s.Dir, "releases", name) }

func (s *State) read(name string, into any) error {
	path := filepath.Join(s.Dir, name)
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("read state %s: %w", path, err)
	}
	return nil
}

func (s *State) write(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("save state: %w", err)
	}
	path := filepath.Join(s.Dir, name)
	if err := WriteFile(path, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("save state %s: %w", path, err)
	}
	return nil
}

// WriteFile replaces a file: it writes beside it, syncs and renames.
func WriteFile(path string, content []byte, mode os.FileMode) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // fails once it is renamed
	_, err = file.Write(content)
	if err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
