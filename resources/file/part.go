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

// part is one path of what a resource declares: the only one, or with recurse
// one of many.
type part struct {
	path    string
	kind    disk.Kind
	content *string // of a file; nil: not declared here
	source  string  // of a file: what to copy; "": nothing
	target  string  // of a link
	mode    *uint32
	fresh   *uint32 // mode of something new, when mode is nil
}

// declared says whether it is declared what is in the file.
func (p *part) declared() bool { return p.content != nil || p.source != "" }

// parts calls visit for every path that is declared, directories before what is
// in them. An error of visit ends it.
func (f *file) parts(visit func(part) error) error {
	if f.recurse {
		return f.tree(visit)
	}
	p := f.only()
	if f.sensitive && f.kind == disk.Regular {
		p.fresh = mode(0o600)
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
		p.fresh = f.executable(info)
	}
	return visit(p)
}

// only is the one path of a resource that is no tree.
func (f *file) only() part {
	p := part{path: f.path, kind: f.kind, content: f.content, target: f.target, mode: f.mode}
	if f.kind == disk.Regular {
		p.source = f.source
	}
	return p
}

// executable is the mode of a new copy of an executable file.
func (f *file) executable(info fs.FileInfo) *uint32 {
	switch {
	case info.Mode()&0o111 != 0 && f.sensitive:
		return mode(0o700)
	case info.Mode()&0o111 != 0:
		return mode(0o755)
	case f.sensitive:
		return mode(0o600)
	}
	return nil
}

func mode(bits uint32) *uint32 { return &bits }

// tree visits all that is in the source directory.
func (f *file) tree(visit func(part) error) error {
	if info, err := os.Stat(f.source); err == nil && !info.IsDir() {
		return fmt.Errorf("source %s is no directory: recurse is for directories", f.source)
	}
	root := f.source + string(filepath.Separator) // a link to a directory is as good
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return f.sourceError(path, err)
		}
		rel := strings.TrimPrefix(path, root)
		p := part{path: filepath.Join(f.path, rel), mode: f.mode, source: path}
		switch {
		case d.IsDir():
			p.kind, p.source = disk.Directory, ""
			if f.mode != nil {
				p.mode = mode(*f.mode | *f.mode&0o444>>2) // who may read may enter
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
			p.fresh = f.executable(info)
		default:
			return fmt.Errorf("source %s is a special file, which is not copied", path)
		}
		return visit(p)
	})
}

// sourceError says what is wrong with a source, in words.
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
		return deniedError{failed}
	}
	return failed
}

// deniedError is one that more rights would have avoided.
type deniedError struct{ error }

func (e deniedError) Unwrap() []error { return []error{e.error, model.ErrNotPermitted} }

// reader opens what is to be in the file.
func (p *part) reader() (r io.ReadCloser, size int64, err error) {
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
