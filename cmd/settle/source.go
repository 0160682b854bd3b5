package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/settle-cm/settle/manifests"
)

const (
	defaultManifest = "settle.yaml"
	// manifestLimit is far above any manifest that people write and far below
	// what would hurt: /dev/zero is told from a manifest by it.
	manifestLimit = 16 << 20
)

// Validate refuses names that do not say what they seem to. kong calls it.
func (m *manifestArgs) Validate() error {
	dashes := 0
	for _, path := range m.Manifests {
		switch path {
		case "":
			return errors.New("the name of a manifest is empty")
		case "-":
			dashes++
		}
	}
	if dashes > 1 {
		return errors.New("- is named twice: standard input can be read once")
	}
	return nil
}

// read is readSource that waits no longer once the context is over: a pipe may
// say nothing for hours.
func (a *app) read(ctx context.Context, path string) (src manifests.Source, exposed bool, err error) {
	type answer struct {
		src     manifests.Source
		exposed bool
		err     error
	}
	read := make(chan answer, 1)
	go func() {
		src, exposed, err := readSource(path, a.in)
		read <- answer{src, exposed, err}
	}()
	select {
	case r := <-read:
		return r.src, r.exposed, r.err
	case <-ctx.Done():
		return src, false, context.Cause(ctx)
	}
}

// readSource reads a manifest, or says in words why it cannot be read. exposed
// says that others may write it.
func readSource(path string, stdin io.Reader) (src manifests.Source, exposed bool, err error) {
	src.Path, src.Environ = path, os.Environ()
	if path == "-" {
		if src.Dir, err = os.Getwd(); err != nil {
			return src, false, fmt.Errorf("find the working directory: %w", err)
		}
		src.Bytes, err = readLimited(stdin)
		return src, false, err
	}
	if src.Identity, err = filepath.Abs(path); err != nil {
		return src, false, fmt.Errorf("find the working directory: %w", err)
	}
	src.Dir = filepath.Dir(src.Identity)
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && path == defaultManifest:
		return src, false, errors.New("no such file: name a manifest, or make one with settle init")
	case err != nil:
		return src, false, unwrapped(err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return src, false, unwrapped(err)
	case info.IsDir():
		return src, false, errors.New("is a directory: name a manifest in it")
	}
	src.Bytes, err = readLimited(f)
	return src, info.Mode().IsRegular() && info.Mode().Perm()&0o022 != 0, err
}

func readLimited(r io.Reader) ([]byte, error) {
	var text bytes.Buffer
	_, err := text.ReadFrom(io.LimitReader(r, manifestLimit+1))
	switch {
	case err != nil:
		return nil, unwrapped(err)
	case text.Len() > manifestLimit:
		return nil, fmt.Errorf("is larger than %d MiB", manifestLimit>>20)
	}
	return text.Bytes(), nil
}

// unwrapped takes the operation and the path off an error: the path is said by
// the caller, the way the user wrote it.
func unwrapped(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
