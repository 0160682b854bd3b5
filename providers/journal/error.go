package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
)

// Error returns the message.
type Error struct {
	Message string
	Err     error // the cause, nil without one
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

const adviceStateDir = "; name another directory with --state-dir"

// explain returns the error for an operation on a file or directory of the state.
func (s Store) explain(do, path string, err error) error {
	why := causeText(err)
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &Error{fmt.Sprintf("cannot %s: %s (%s)", do, why, path), err}
	case errors.Is(err, syscall.EROFS):
		why = "it is on a read-only file system"
	case errors.Is(err, syscall.ELOOP):
		why = "it is a symbolic link, or its path has too many of them"
	case errors.Is(err, fs.ErrPermission):
		why += describeOwner(path)
	}
	return &Error{fmt.Sprintf("cannot %s: %s: %s%s", do, path, why, adviceStateDir), err}
}

// causeText returns the words of the system alone: our message names the path.
func causeText(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

func newDamageError(path string, line int, why error) error {
	return &Error{fmt.Sprintf("state is damaged: %s:%d: %v; nothing was run. Restore the file, or move it away "+
		"and apply with --on-missing-state refresh: then every subscriber is refreshed once, since what was owed is lost", path, line, why), why}
}

// newHeaderError explains an unknown first line of a journal.
func newHeaderError(path, first string) error {
	if text, ok := strings.CutPrefix(first, magic); ok {
		if n, err := strconv.Atoi(text); err == nil && n > version {
			return newVersionError(path, fmt.Sprintf("it is of version %d, this settle knows version %d", n, version))
		}
	}
	return newDamageError(path, 1, fmt.Errorf("it is not the first line of a journal of settle"))
}

func newVersionError(path, what string) error {
	return &Error{Message: fmt.Sprintf("state was written by a newer settle: %s: %s; use that settle, or name another directory with --state-dir", path, what)}
}
