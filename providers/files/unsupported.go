//go:build !linux && !darwin

package files

import (
	"errors"
	"io"

	"github.com/settle-cm/settle/model/disk"
)

// errSystem is the answer on systems where manifests are only read.
var errSystem = errors.New("settle changes no files on this system")

// Look says what stands at an absolute path.
func Look(path string) (disk.State, error) {
	return disk.State{}, fail("look at", path, errSystem)
}

// Open opens the regular file at a path for reading.
func Open(path string) (io.ReadCloser, error) { return nil, fail("open", path, errSystem) }

// Obstacle returns why a change of the path would fail.
func Obstacle(path string) error { return fail("change", path, errSystem) }

// Put makes what n says and moves it to its place.
func Put(path string, _ disk.NewFile) (bool, []string, error) {
	return false, nil, fail("write", path, errSystem)
}

// Adjust gives what stands at a path an owner, a group and a mode.
func Adjust(path string, _, _, _ *uint32) error { return fail("change", path, errSystem) }

// Remove removes what stands at a path.
func Remove(path string, _ bool) (bool, error) { return false, fail("remove", path, errSystem) }

// Sweep removes what a killed run left beside a path.
func Sweep(path string) error { return fail("change", path, errSystem) }

// Backup copies what stands at a path.
func Backup(path, _ string) error { return fail("keep", path, errSystem) }
