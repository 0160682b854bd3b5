// Package files reads and replaces the entries at paths. A new entry is created
// under a temporary name in the same directory, finished, synced and then moved
// to its place in one step. A reader, and a run after a crash, finds the old
// entry or the new one, never a part of it. No operation follows a link at the
// end of a path, or a link on the way that another user may have planted.
package files

import (
	"errors"
	"syscall"

	"github.com/settle-cm/settle/model"
)

// Error reports that a path could not be read or changed.
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
