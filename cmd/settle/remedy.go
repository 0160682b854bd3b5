package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/settle-cm/settle/model/spelling"
)

// unreadable says why a file cannot be read, and what to do. otherwise is that for
// a file that is not there.
func unreadable(err error, otherwise string) error {
	err = unwrapped(err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w%s", err, otherwise)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: run settle as a user who may read it", err)
	}
	return err
}

// unwritable says why a file cannot be written, and what to do.
func unwritable(err error) error {
	err = unwrapped(err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: make its directory first", err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: choose a place that you may write to", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: make room there", err)
	case errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("%w: name a file in it", err)
	}
	return err
}

// noManifest says what to do about a manifest that is not there.
func noManifest(path string) string {
	entries, _ := os.ReadDir(filepath.Dir(path)) // without one there is nothing to suggest
	var names []string
	for _, entry := range entries {
		if slices.Contains(manifestExtensions, filepath.Ext(entry.Name())) {
			names = append(names, entry.Name())
		}
	}
	base := filepath.Base(path)
	if meant := spelling.Suggest(base, names); meant != "" {
		dir, _ := filepath.Split(path)
		return fmt.Sprintf("; did you mean %q?", dir+meant)
	}
	return ": name a manifest that is there, or make one with settle init"
}
