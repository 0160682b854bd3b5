package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/settle-cm/settle/model/spelling"
)

// ExplainError returns a read error with the next step. otherwise is that step for
// a missing file.
func ExplainError(err error, otherwise string) error {
	err = WithoutPath(err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w%s", err, otherwise)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: run settle as a user who may read it", err)
	}
	return err
}

// suggestManifest returns the next step for a manifest that does not exist.
func suggestManifest(path string) string {
	entries, _ := os.ReadDir(filepath.Dir(path)) // without one there is nothing to suggest
	var names []string
	for _, entry := range entries {
		if slices.Contains(Extensions, filepath.Ext(entry.Name())) {
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

// WithoutPath returns an error without operation and path: the caller names the path
// as the user wrote it.
func WithoutPath(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
