// Package files looks at what stands at a path and puts something else there,
// whole or not at all. What is new is made under a temporary name in the same
// directory, finished, synced and only then moved to its place, so that neither
// a reader nor a crash ever meets half of it. No operation follows a link at
// the end of a path, nor one on the way that somebody else may have laid.
package files

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"syscall"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
)

// Disk returns the functions of this package as a resource type receives them.
func Disk() disk.Functions {
	return disk.Functions{
		Look: Look, Open: Open, Obstacle: Obstacle, Put: Put,
		Adjust: Adjust, Remove: Remove, Sweep: Sweep, Backup: Backup,
	}
}

// Error is why a path could not be looked at or changed.
type Error struct {
	Verb string
	Path string
	Err  error
}

// Error returns verb, path and cause.
func (e *Error) Error() string { return e.Verb + " " + e.Path + ": " + e.Err.Error() }

// Unwrap returns the cause, and model.ErrNotPermitted where more rights would help.
func (e *Error) Unwrap() []error {
	if errors.Is(e.Err, syscall.EACCES) || errors.Is(e.Err, syscall.EPERM) {
		return []error{e.Err, model.ErrNotPermitted}
	}
	return []error{e.Err}
}

func fail(verb, path string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{verb, path, err}
}

// temporary is the name under which what is new is made. It is always the same,
// so that what a killed run left is found by the next one; hidden, and with an
// end that no reader of a directory of parts (*.conf, sudoers.d, cron.d) takes.
func temporary(name string) string {
	const suffix, longest = ".settle-new", 255
	if len(name)+len(suffix)+1 > longest {
		name = fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
	}
	return "." + name + suffix
}
