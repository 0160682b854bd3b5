// Package file is the resource type for files, directories and links. It decodes
// the declaration of a path, compares it with the machine and describes the
// difference. The functions that read and change paths are handed in.
package file

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
)

// Options are the functions and settings that the type needs from the program.
type Options struct {
	Disk     disk.Functions
	Run      func(context.Context, model.Command) (model.Exit, error)
	LookPath func(name, dir string, path []string) (string, error)
	// Argv splits a command line into words.
	Argv func(line string, placeholders []model.Placeholder) ([]string, error)
	// Join returns words as text that a shell would split into the same words.
	Join func(argv []string) string
	// Command builds a child command from its words.
	Command func(base model.Base, argv []string) model.Command
	// SearchPath returns the directories in which Command's programs are looked for.
	SearchPath func(base model.Base) []string
	BackupDir  string // directory for old files; "": there is no state directory
	// Key returns the key for sums of contents, so that a content cannot be guessed
	// from its sum in the journal. It returns nil when there is no key.
	Key func(create bool) []byte
}

// Type returns the file type.
func Type(opts Options) model.Type {
	w := &world{Options: opts}
	return model.Type{
		Name:       "file",
		Meaning:    "a file, a directory or a link: its content, its owner, group and mode, or that there is none",
		Properties: properties,
		Decode:     w.decode,
	}
}

// world is shared by all files of a run.
type world struct {
	Options
	users  sync.Map // user name -> id
	groups sync.Map // group name -> id
	paths  sync.Map // path -> *file, of every resource
}

// declaresParent reports whether a resource declares a directory above a path,
// or a link that may lead to one.
func (w *world) declaresParent(path string) bool {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if f, ok := w.paths.Load(dir); ok && (f.(*file).kind == disk.Directory || f.(*file).kind == disk.Link) {
			return true
		}
	}
	return false
}

// declaredAt returns the resource that declares a path itself, or nil.
func (w *world) declaredAt(path string) *file {
	f, ok := w.paths.Load(path)
	if !ok {
		return nil
	}
	return f.(*file)
}

// file is one resource as declared.
type file struct {
	w          *world
	ref        model.Ref
	pos        model.Pos
	base       model.Base
	path       string // absolute
	kind       disk.Kind
	content    *string // nil: not declared
	source     string  // absolute; "": not declared
	recurse    bool
	target     string
	owner      string
	group      string
	mode       *uint32
	onlyCreate bool // replace: false: an entry that exists keeps its content
	inPlace    bool // write: in_place
	parents    bool
	backup     bool
	validate   []string // words with % for the new file
	force      bool
	timeout    time.Duration
	sensitive  bool
}

// copies reports whether the tree of a resource has an entry for a path below its own.
func (f *file) copies(path string) bool {
	rel, err := filepath.Rel(f.path, path)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return false
	}
	_, err = os.Lstat(filepath.Join(f.source, rel))
	return err == nil
}

// About returns the facts that need no look at the machine. A plain file or
// directory is independent of other resources, because no two may declare the
// same path. A tree, an entry that replaces a directory, or a copy of another resource's
// file is not.
func (f *file) About() model.About {
	plain := f.kind == disk.Regular || f.kind == disk.Directory
	return model.About{Independent: plain && !f.recurse && !f.force && !f.readsDeclared()}
}

// readsDeclared reports whether another file resource declares the source, or a
// directory above it.
func (f *file) readsDeclared() bool {
	if f.source == "" {
		return false
	}
	for path := f.source; ; path = filepath.Dir(path) {
		if other, ok := f.w.paths.Load(path); ok && other.(*file).ref != f.ref {
			return true
		}
		if path == filepath.Dir(path) {
			return false
		}
	}
}
