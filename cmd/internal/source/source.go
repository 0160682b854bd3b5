// Package source reads the files that a command line names: manifests with the files
// that they include, values and facts. A file may be a pipe that never ends, so reading
// stops with a context and at a size.
package source

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

// DefaultManifest is the manifest of a command line that names none.
const DefaultManifest = "settle.yaml"

// maxSize is the largest size in bytes of a manifest with its includes, and of a file
// of values. It is far above every manifest that people write. A device such as
// /dev/zero, which never ends, reaches it at once.
const maxSize = 16 << 20

// Extensions are the extensions of manifest files.
var Extensions = []string{".yaml", ".yml"}

// Files are the files of one manifest: they are read as the loader asks for them.
type Files struct {
	Exposed []string // files that other users may write

	from string            // the manifest, as the user named it
	left int               // bytes of maxSize that are left
	read map[string][]byte // the included files, by absolute path
}

// ReadManifest reads a manifest, "-" from standard input. The source that it returns
// reads included files through Files, which also lists the exposed ones afterwards.
func ReadManifest(ctx context.Context, path string, stdin io.Reader) (src manifests.Source, files *Files, err error) {
	err = runUntilDone(ctx, func() (func(), error) {
		r := &Files{from: path, left: maxSize, read: map[string][]byte{}}
		source, err := r.main(path, stdin)
		r.left -= len(source.Bytes)
		source.Include, source.Peek = r.include, peekFile
		return func() { src, files = source, r }, err
	})
	return src, files, err
}

// ReadFile reads a file of values or facts, "-" from standard input. exposed reports
// that other users may write the file.
func ReadFile(ctx context.Context, path string, stdin io.Reader) (text []byte, exposed bool, err error) {
	err = runUntilDone(ctx, func() (func(), error) {
		bytes, others, err := readFile(path, stdin)
		return func() { text, exposed = bytes, others }, err
	})
	return text, exposed, err
}

func readFile(path string, stdin io.Reader) (text []byte, exposed bool, err error) {
	if path == "-" {
		text, err = readLimited(stdin, maxSize)
		return text, false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, WithoutPath(err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, false, WithoutPath(err)
	}
	text, err = readLimited(f, maxSize)
	return text, info.Mode().IsRegular() && isExposed(info), err
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

func (r *Files) main(path string, stdin io.Reader) (src manifests.Source, err error) {
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
	case errors.Is(err, fs.ErrNotExist) && path == DefaultManifest:
		return src, errors.New("no such file: name a manifest, or make one with settle init")
	case err != nil:
		return src, ExplainError(err, suggestManifest(path))
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return src, WithoutPath(err)
	case info.IsDir():
		return src, errors.New("is a directory: name a manifest in it")
	}
	if info.Mode().IsRegular() {
		r.noteExposed(path, info)
	}
	src.Bytes, err = readLimited(f, r.left)
	return src, err
}

// Includes reports whether the manifest has read a file, by its absolute path.
func (r *Files) Includes(path string) bool {
	_, ok := r.read[path]
	return ok
}

// noteExposed records a file that other users may write.
func (r *Files) noteExposed(path string, info fs.FileInfo) {
	if isExposed(info) {
		r.Exposed = append(r.Exposed, path)
	}
}

func isExposed(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }

// include reads an included file, once. It must be a regular file: reading another kind
// could block or never end.
func (r *Files) include(path string) ([]byte, error) {
	if data, ok := r.read[path]; ok {
		return data, nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, WithoutPath(err)
	case info.IsDir():
		return nil, errors.New("is a directory: name the files in it")
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, WithoutPath(err)
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

// peekFile returns the first MiB of a regular file, nil for anything else.
func peekFile(path string) []byte {
	const limit = 1 << 20
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()                // only read
	data, _ := io.ReadAll(io.LimitReader(f, limit)) // the part that could be read is enough
	return data
}

// displayPath returns the path of an included file as problems show it: relative when
// the manifest was named by a relative path.
func (r *Files) displayPath(path string) string {
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
		return nil, WithoutPath(err)
	case text.Len() > limit && limit < maxSize:
		return nil, fmt.Errorf("it makes the manifest larger than %d MiB: split it into several manifests", maxSize>>20)
	case text.Len() > limit:
		return nil, fmt.Errorf("is larger than %d MiB: is it the right file?", maxSize>>20)
	}
	return text.Bytes(), nil
}
