package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
)

// desired is the declaration of one path. A resource declares one path, or with
// recurse one for every entry of its source.
type desired struct {
	path        string
	kind        disk.Kind
	content     *string // of a file; nil: not declared here
	source      string  // of a file: the file to copy; "": not declared here
	target      string  // of a link
	mode        *uint32
	defaultMode *uint32 // mode of a new entry when mode is nil
	bits        uint32  // permissions of the source, for a new entry without both; 0: none
}

// hasContent reports whether the content of the file is declared.
func (p *desired) hasContent() bool { return p.content != nil || p.source != "" }

// visit calls fn for every path that the resource declares, a directory before
// its contents. It stops at the first error.
func (f *file) visit(fn func(desired) error) error {
	if f.recurse {
		return f.visitTree(fn)
	}
	p := f.desired()
	if f.sensitive && f.kind == disk.Regular {
		p.defaultMode = newMode(0o600)
	}
	if p.source != "" {
		info, err := os.Stat(f.source)
		switch {
		case err != nil:
			return f.sourceError(f.source, err)
		case info.IsDir():
			return fmt.Errorf("source %s is a directory: set recurse: true", f.source)
		case !info.Mode().IsRegular():
			return fmt.Errorf("source %s is no regular file", f.source)
		}
		f.setModeOfCopy(&p, info)
	}
	return fn(p)
}

// desired returns the declaration of the resource's own path.
func (f *file) desired() desired {
	p := desired{path: f.path, kind: f.kind, content: f.content, target: f.target, mode: f.mode}
	if f.kind == disk.Regular {
		p.source = f.source
	}
	return p
}

// setModeOfCopy sets the mode of a new copy when none is declared: that of its
// source under the umask. A sensitive copy is private to its owner.
func (f *file) setModeOfCopy(p *desired, info fs.FileInfo) {
	p.bits = uint32(info.Mode().Perm())
	if f.sensitive {
		p.defaultMode = newMode(p.bits & 0o700)
	}
}

func newMode(bits uint32) *uint32 { return &bits }

// visitTree calls fn for every entry of the source directory.
func (f *file) visitTree(fn func(desired) error) error {
	if info, err := os.Stat(f.source); err == nil && !info.IsDir() {
		return fmt.Errorf("source %s is no directory: recurse is for directories", f.source)
	}
	root := f.source + string(filepath.Separator) // the separator makes WalkDir follow a link here
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return f.sourceError(path, err)
		}
		rel := strings.TrimPrefix(path, root)
		p := desired{path: filepath.Join(f.path, rel), mode: f.mode, source: path}
		switch {
		case d.IsDir():
			p.kind, p.source = disk.Directory, ""
			if info, err := d.Info(); err == nil {
				f.setModeOfCopy(&p, info)
				p.bits |= 0o700 // else its contents could not be copied
			}
			if f.mode != nil {
				p.mode = newMode(*f.mode | *f.mode&0o444>>2) // a directory that can be read can be entered
			}
		case d.Type()&fs.ModeSymlink != 0:
			p.kind, p.source, p.mode = disk.Link, "", nil
			if p.target, err = os.Readlink(path); err != nil {
				return f.sourceError(path, err)
			}
		case d.Type().IsRegular():
			p.kind = disk.Regular
			info, err := d.Info()
			if err != nil {
				return f.sourceError(path, err)
			}
			f.setModeOfCopy(&p, info)
		default:
			return fmt.Errorf("source %s is a special file, which is not copied", path)
		}
		return fn(p)
	})
}

// sourceError describes why a source cannot be read.
func (f *file) sourceError(path string, err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("source %s does not exist", path)
	}
	failed := fmt.Errorf("read source %s: %w", path, err)
	if errors.Is(err, fs.ErrPermission) {
		return notPermittedError{failed}
	}
	return failed
}

// notPermittedError is an error that more rights would have avoided.
type notPermittedError struct{ error }

func (e notPermittedError) Unwrap() []error { return []error{e.error, model.ErrNotPermitted} }

// open returns the declared content of the file and its size.
func (p *desired) open() (r io.ReadCloser, size int64, err error) {
	if p.source == "" {
		content := ""
		if p.content != nil {
			content = *p.content
		}
		return io.NopCloser(strings.NewReader(content)), int64(len(content)), nil
	}
	source, err := os.Open(p.source)
	if err != nil {
		return nil, 0, err
	}
	info, err := source.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("source %s is no regular file", p.source)
	}
	if err != nil {
		_ = source.Close() // nothing was read
		return nil, 0, err
	}
	return source, info.Size(), nil
}
