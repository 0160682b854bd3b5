// Package file is the resource type for files, directories and links: what is
// declared of a path, what of it differs, and how that is mended. What touches
// the path itself, with all the care that takes, is handed in as functions.
package file

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
)

// Options are what the type needs from the program around it.
type Options struct {
	Disk     disk.Functions
	Run      func(context.Context, model.Command) (model.Exit, error)
	LookPath func(name, dir string, path []string) (string, error)
	Argv     func(line string, holes []model.Placeholder) ([]string, error) // a command line's words
	Join     func(argv []string) string                                     // words as text that a shell reads back
	// Command builds a child command from its words.
	Command func(base model.Base, argv []string) model.Command
	// SearchPath returns the directories in which Command's programs are looked for.
	SearchPath func(base model.Base) []string
	BackupDir  string // where old files are kept; "" is nowhere
	// Key is that by which contents are summed up, so that no one guesses them
	// from what is remembered. It is nil when there is none to be had.
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

// world is what all files of a run share.
type world struct {
	Options
	users  sync.Map // ids of the names that were looked up
	groups sync.Map
	paths  sync.Map // path -> *file, of every resource
}

// makes says whether a directory on the way to a path, or a link that may lead
// to one, is declared somewhere.
func (w *world) makes(path string) bool {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if f, ok := w.paths.Load(dir); ok && (f.(*file).kind == disk.Directory || f.(*file).kind == disk.Link) {
			return true
		}
	}
	return false
}

// file is one resource as declared.
type file struct {
	w         *world
	ref       model.Ref
	pos       model.Pos
	base      model.Base
	path      string // absolute
	kind      disk.Kind
	content   *string
	source    string // absolute; "" is none
	recurse   bool
	target    string
	owner     string
	group     string
	mode      *uint32
	create    bool // replace: false: what is there keeps its content
	backup    bool
	validate  []string // words with % for the new file
	force     bool
	timeout   time.Duration
	sensitive bool
}

// About says what is known without looking at the machine. A file or an empty
// directory is apart: no other resource may declare its path, and what replaces
// whole trees, or turns what is on the way to other paths, is not.
func (f *file) About() model.About {
	plain := f.kind == disk.Regular || f.kind == disk.Directory
	return model.About{Apart: plain && !f.recurse && !f.force}
}
