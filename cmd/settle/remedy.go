package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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
