package provision

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
)

// maxFile is the largest size in bytes of a file with a key, a token or an inventory.
const maxFile = 16 << 20

// read returns the content of a file that the manifest names.
func (s *server) read(path string) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return "", fmt.Errorf("%w: %w", err, model.ErrNotPermitted)
	}
	if err != nil {
		return "", err
	}
	return readAll(f, path)
}

// readIfThere returns the content of one of the server's files, or "" and false
// if it is missing. It does not follow a link at the end of the path.
func (s *server) readIfThere(path string) (string, bool, error) {
	state, err := s.w.Disk.Look(path)
	if err != nil || state.Kind == disk.Missing {
		return "", false, err
	}
	f, err := s.w.Disk.Open(path)
	if err != nil {
		return "", false, err
	}
	text, err := readAll(f, path)
	return text, err == nil, err
}

// readAll reads a file up to maxFile and closes it.
func readAll(f io.ReadCloser, path string) (string, error) {
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", path, err)
	case len(data) > maxFile:
		return "", fmt.Errorf("read %s: it is larger than %d MiB", path, maxFile>>20)
	}
	return string(data), nil
}
