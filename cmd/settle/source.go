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

// manifestExtensions are the extensions of manifest files.
var manifestExtensions = []string{".yaml", ".yml"}

// reader reads the files of one manifest.
type reader struct {
	from    string            // the manifest, as the user named it
	left    int               // bytes of manifestLimit that are left
	read    map[string][]byte // the included files, by absolute path
	exposed []string          // files that others may write
}

// readSource reads a manifest. The reader that it returns reads its includes.
func readSource(path string, stdin io.Reader) (manifests.Source, *reader, error) {
	r := &reader{from: path, left: manifestLimit, read: map[string][]byte{}}
	src, err := r.main(path, stdin)
	r.left -= len(src.Bytes)
	src.Include = r.include
	return src, r, err
}

// read is readSource with a context: a pipe may block for hours.
func (a *app) read(ctx context.Context, path string) (src manifests.Source, files *reader, err error) {
	err = runUntilDone(ctx, func() (func(), error) {
		source, reader, err := readSource(path, a.in)
		return func() { src, files = source, reader }, err
	})
	return src, files, err
}

// runUntilDone calls do, which may block for ever, and returns when the context ends.
// It calls keep only when do returned in time.
func runUntilDone(ctx context.Context, do func() (keep func(), err error)) error {
	type answer struct {
		keep func()
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		keep, err := do()
		done <- answer{keep, err}
	}()
	select {
	case d := <-done:
		d.keep()
		return d.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *reader) main(path string, stdin io.Reader) (src manifests.Source, err error) {
	src.Path, src.Environ = path, os.Environ()
	if path == "-" {
		if src.Dir, err = os.Getwd(); err != nil {
			return src, fmt.Errorf("find the working directory: %w", err)
		}
		src.Bytes, err = readLimited(stdin, r.left)
		return src, err
	}
	if src.Identity, err = filepath.Abs(path); err != nil {
		return src, fmt.Errorf("find the working directory: %w", err)
	}
	src.Dir = filepath.Dir(src.Identity)
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && path == defaultManifest:
		return src, errors.New("no such file: name a manifest, or make one with settle init")
	case err != nil:
		return src, explainReadError(err, suggestManifest(path))
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return src, withoutPath(err)
	case info.IsDir():
		return src, errors.New("is a directory: name a manifest in it")
	}
	if info.Mode().IsRegular() {
		r.noteExposed(path, info)
	}
	src.Bytes, err = readLimited(f, r.left)
	return src, err
}

// noteExposed records a file that others may write.
func (r *reader) noteExposed(path string, info fs.FileInfo) {
	if info.Mode().Perm()&0o022 != 0 {
		r.exposed = append(r.exposed, path)
	}
}

// include reads an included file, once. It must be a regular file: reading another kind
// could block or never end.
func (r *reader) include(path string) ([]byte, error) {
	if data, ok := r.read[path]; ok {
		return data, nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, withoutPath(err)
	case info.IsDir():
		return nil, errors.New("is a directory: name the files in it")
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer func() { _ = f.Close() }() // only read
	data, err := readLimited(f, r.left)
	if err != nil {
		return nil, err
	}
	r.noteExposed(r.displayPath(path), info)
	r.left -= len(data)
	r.read[path] = data
	return data, nil
}

// displayPath returns the path of an included file as problems show it: relative when
// the manifest was named by a relative path.
func (r *reader) displayPath(path string) string {
	if filepath.IsAbs(r.from) {
		return path
	}
	if here, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(here, path); err == nil {
			return short
		}
	}
	return path
}

// readLimited reads to the end, and fails when there are more than limit bytes.
func readLimited(r io.Reader, limit int) ([]byte, error) {
	var text bytes.Buffer
	_, err := text.ReadFrom(io.LimitReader(r, int64(limit)+1))
	switch {
	case err != nil:
		return nil, withoutPath(err)
	case text.Len() > limit && limit < manifestLimit:
		return nil, fmt.Errorf("it makes the manifest larger than %d MiB: split it into several manifests", manifestLimit>>20)
	case text.Len() > limit:
		return nil, fmt.Errorf("is larger than %d MiB: is it the right file?", manifestLimit>>20)
	}
	return text.Bytes(), nil
}

// withoutPath returns an error without operation and path: the caller names the path
// as the user wrote it.
func withoutPath(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
