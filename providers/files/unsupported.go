//go:build !linux && !darwin

package files

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/settle-cm/settle/model/disk"
)

// errSystem is the error on systems where settle only reads manifests.
var errSystem = errors.New("settle changes no files on this system")

// Look returns the state of an absolute path.
func Look(path string) (disk.State, error) {
	return disk.State{}, unsupported("look at", path)
}

// Follow returns the path that a link leads to.
func Follow(path string) (string, error) { return "", unsupported("follow", path) }

// Open opens the regular file at a path for reading.
func Open(path string) (io.ReadCloser, error) { return nil, unsupported("open", path) }

// Contents returns the first paths below a directory.
func Contents(path string, _ int) ([]string, int, error) {
	return nil, 0, unsupported("list", path)
}

// Obstacle returns why a change of the path would fail.
func Obstacle(path string) error { return unsupported("change", path) }

// Put creates n and moves it to the path.
func Put(path string, _ disk.NewFile) (bool, []string, error) {
	return false, nil, unsupported("write", path)
}

// Adjust sets the owner, group and mode of a path.
func Adjust(path string, _, _, _ *uint32) error { return unsupported("change", path) }

// Remove removes a path.
func Remove(path string, _ bool) (bool, error) { return false, unsupported("remove", path) }

// Sweep removes the entry that a killed run left beside a path.
func Sweep(path string) error { return unsupported("change", path) }

// Backup copies the entry at a path.
func Backup(path, _ string) error { return unsupported("keep", path) }

// Staging is a private directory beside a path.
type Staging struct{ Root *os.Root }

// Placement says how a staged tree takes its place.
type Placement struct {
	Purge    bool
	UID, GID *uint32
}

// NewStaging makes the staging directory of a path.
func NewStaging(path string, _ bool) (*Staging, error) {
	return nil, unsupported("unpack into", path)
}

// Place moves the tree to the path.
func (s *Staging) Place(context.Context, Placement) (bool, error) { return false, errSystem }

// Close removes the staging directory.
func (s *Staging) Close() error { return errSystem }

// unsupported returns the error of an operation that this system does not have.
func unsupported(verb, path string) error { return &Error{verb, path, errSystem} }
