package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	keepKind    bool    // only attributes are declared: an entry keeps its kind, and a link is followed
	mustExist   bool    // only a missing entry differs: another resource declares the rest
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
		p.keepKind = !p.hasContent()
	}
	return p
}

// setModeOfCopy sets the mode of a new copy when none is declared: that of its
// source under the umask. A sensitive copy is private to its owner.
func (f *file) setModeOfCopy(p *desired, info fs.FileInfo) {
	p.bits = uint32(info.Mode().Perm())
	if f.sensitive && !info.IsDir() {
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
	var inner []*file                             // trees of other resources inside of this one
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return f.sourceError(path, err)
		}
		p := desired{path: filepath.Join(f.path, strings.TrimPrefix(path, root)), source: path}
		skip, err := f.leaveToOthers(&p, d, &inner)
		if skip || err != nil {
			return err
		}
		if err := f.describeEntry(&p, d); err != nil {
			return err
		}
		return fn(p)
	})
}

// leaveToOthers reports whether another resource declares the entry of a tree.
// That resource wins. Inner collects trees that other resources declare inside.
func (f *file) leaveToOthers(p *desired, d fs.DirEntry, inner *[]*file) (skip bool, err error) {
	if slices.ContainsFunc(*inner, func(other *file) bool { return other.copies(p.path) }) {
		return true, nil
	}
	other := f.w.declaredAt(p.path)
	switch {
	case other == nil || other == f:
		return false, nil
	case d.IsDir() && other.kind != disk.Directory:
		return true, fs.SkipDir
	case !d.IsDir():
		return true, nil
	}
	if other.recurse {
		*inner = append(*inner, other)
	}
	p.mustExist = true // the contents need the directory, and the other resource runs later
	return false, nil
}

// describeEntry completes the declaration of one entry of a tree.
func (f *file) describeEntry(p *desired, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return f.sourceError(p.source, err)
	}
	source := p.source
	switch {
	case d.IsDir():
		p.kind, p.source, p.mode = disk.Directory, "", f.mode
		f.setModeOfCopy(p, info)
		p.bits |= 0o700 // else its contents could not be copied
		if f.mode != nil {
			p.mode = newMode(*f.mode | *f.mode&0o444>>2) // a directory that can be read can be entered
		}
	case d.Type()&fs.ModeSymlink != 0:
		p.kind, p.source = disk.Link, ""
		if p.target, err = os.Readlink(source); err != nil {
			return f.sourceError(source, err)
		}
	case d.Type().IsRegular():
		p.kind, p.mode = disk.Regular, f.mode
		f.setModeOfCopy(p, info)
	default:
		return fmt.Errorf("source %s is a special file, which is not copied", source)
	}
	return nil
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
