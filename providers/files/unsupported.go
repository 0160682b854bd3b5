//go:build !linux && !darwin

package files

import (
	"errors"
	"io"

	"github.com/settle-cm/settle/model/disk"
)

// errSystem is the error on systems where settle only reads manifests.
var errSystem = errors.New("settle changes no files on this system")

// Look returns the state of an absolute path.
func Look(path string) (disk.State, error) {
	return disk.State{}, fail("look at", path, errSystem)
}

// Follow returns the path that a link leads to.
func Follow(path string) (string, error) { return "", fail("follow", path, errSystem) }

// Open opens the regular file at a path for reading.
func Open(path string) (io.ReadCloser, error) { return nil, fail("open", path, errSystem) }

// Contents returns the first paths below a directory.
func Contents(path string, _ int) ([]string, int, error) {
	return nil, 0, fail("list", path, errSystem)
}

// Obstacle returns why a change of the path would fail.
func Obstacle(path string) error { return fail("change", path, errSystem) }

// Put creates n and moves it to the path.
func Put(path string, _ disk.NewFile) (bool, []string, error) {
	return false, nil, fail("write", path, errSystem)
}

// Adjust sets the owner, group and mode of a path.
func Adjust(path string, _, _, _ *uint32) error { return fail("change", path, errSystem) }

// Remove removes a path.
func Remove(path string, _ bool) (bool, error) { return false, fail("remove", path, errSystem) }

// Sweep removes the entry that a killed run left beside a path.
func Sweep(path string) error { return fail("change", path, errSystem) }

// Backup copies the entry at a path.
func Backup(path, _ string) error { return fail("keep", path, errSystem) }
