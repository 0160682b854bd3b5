package publish

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// writeReport replaces a report file by a new one in one step.
func writeReport(path string, text []byte) error {
	s, err := newOutputFile(path)
	if err != nil {
		return err
	}
	_, err = s.Write(text)
	return s.close(err)
}

// outputFile is a file that a report is written to.
type outputFile struct {
	*os.File
	path   string // the file is renamed to it when it is complete; "" when it is written in place
	shared bool   // it is settle's own standard output or error
}

// newOutputFile opens a new file that will replace the file at path, or the one
// that a link at path leads to. A pipe or a device cannot be replaced, and the
// file of standard output or error must not be, since other programs write to it:
// these are opened for writing.
func newOutputFile(path string) (*outputFile, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		path = FollowLinks(path)
		temp, err := newTempFile(path, umaskMode)
		return &outputFile{File: temp, path: path}, err
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		out, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &outputFile{File: out}, err
	}
	if f := standardStream(info); f != nil {
		return &outputFile{File: f, shared: true}, nil
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, err
	}
	temp, err := newTempFile(path, info.Mode().Perm())
	return &outputFile{File: temp, path: path}, err
}

// standardStream returns standard output or error if it goes to this file, else nil.
func standardStream(info fs.FileInfo) *os.File {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if to, err := f.Stat(); err == nil && os.SameFile(info, to) {
			return f
		}
	}
	return nil
}

// FollowLinks follows links, also to a file that does not exist yet.
func FollowLinks(path string) string {
	for range 40 { // as many as the kernel follows
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Dir(path) + string(filepath.Separator) + to
		}
		path = to
	}
	return path
}

// close completes the file, or removes it when anything failed.
func (s *outputFile) close(err error) error {
	switch {
	case s.shared:
		return err
	case s.path == "":
		return errors.Join(err, s.Close())
	}
	return renameTemp(s.File, s.path, err)
}

// umaskMode stands for the mode that the umask gives to a new file.
const umaskMode fs.FileMode = 0

// ReplaceFile writes a file in one step: readers see the old file or the new one,
// and an error leaves the old one.
func ReplaceFile(path string, text []byte, mode fs.FileMode) error {
	temp, err := newTempFile(path, mode)
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	return renameTemp(temp, path, err)
}

// newTempFile opens a new file with a random name in the directory of another.
func newTempFile(path string, mode fs.FileMode) (*os.File, error) {
	name := filepath.Join(filepath.Dir(path), ".settle-"+rand.Text())
	if mode == umaskMode {
		return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	temp, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	return temp, temp.Chmod(mode)
}

// renameTemp closes a file and renames it to path, or removes it when anything failed.
func renameTemp(temp *os.File, path string, err error) error {
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name()) // the error that counts is the one before
	}
	return err
}

// IsReplaced reports whether a report at path replaces a regular file. Pipes,
// devices and the files of standard output and error are written in place.
func IsReplaced(info fs.FileInfo) bool { return info.Mode().IsRegular() && standardStream(info) == nil }

// ExplainWriteError removes the operation and the path from an error of a write
// and adds what to do.
func ExplainWriteError(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
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
