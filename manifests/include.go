package manifests

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/value"
)

// file is one file of a manifest: the one that is its own, or one that another
// includes.
type file struct {
	*parse.File
	abs string    // absolute, "" for standard input
	dir string    // absolute; what relative paths in it are relative to
	by  *file     // what includes it; nil for the manifest's own
	at  model.Pos // where
	contents
}

// contents are the parts of a file that are read when the keys of all files are.
type contents struct {
	defaults  *yaml.Node
	entries   *yaml.Node
	typed     *yaml.Node // a type where a key should be, and what stands under it
	resources *yaml.Node
}

// mayInclude are the keys that included files have too.
var mayInclude = []string{"description", "secrets", "include", "vars", "defaults", "resources"}

// gathering opens the files of a manifest.
type gathering struct {
	*loader
	opened map[string]*file // by absolute path
	sum    hash.Hash        // of all their bytes
}

// gather opens the manifest's own file and all that it includes, each after
// those that it includes itself: that is the order of their resources.
func (l *loader) gather() {
	g := gathering{l, map[string]*file{}, sha256.New()}
	g.open(l.file, l.src.Bytes)
	l.m.Hash = hex.EncodeToString(g.sum.Sum(nil))
	l.m.TextHash = l.m.Hash
}

// enter makes a file the one that is read.
func (l *loader) enter(f *file) { l.file, l.base.Dir = f, f.dir }

func (g *gathering) open(f *file, data []byte) {
	g.enter(f)
	if f.abs != "" {
		g.opened[f.abs] = f
	}
	g.size += len(data)
	_, _ = g.sum.Write(data) // a hash takes everything
	problems := g.sink.Count()
	if root := g.parse(f, data); root != nil && g.sound(f) {
		g.includes(f)
	} else {
		f.Root = nil
	}
	g.partial = g.partial || f.Root == nil && g.sink.Count() > problems
	g.files = append(g.files, f)
}

// includes opens what a file includes.
func (g *gathering) includes(f *file) {
	if f.Root.Kind != yaml.MappingNode {
		return
	}
	for key, value := range parse.Pairs(f.Root) {
		if key.Value != "include" {
			continue
		}
		if value = g.fixed(value); value == nil {
			continue
		}
		s := scope{l: g.loader, property: "include"}
		paths, _ := s.value(schema.Find(schema.Keys, "include"), key, value)
		for _, path := range paths.Each() {
			if path.Text != "" {
				g.include(f, path)
				g.enter(f)
			}
		}
	}
}

// fixed refuses values in the paths of files: which files a manifest has is
// known before any value is. It returns what is left, nil for nothing.
func (g *gathering) fixed(n *yaml.Node) *yaml.Node {
	refused := func(item *yaml.Node) bool {
		text := parse.Target(item).Value
		if !value.Has(text) {
			return false
		}
		g.partial = true
		scope{l: g.loader, property: "include"}.refuse(g.pos(item), fmt.Sprintf("%s cannot stand in include: the files of a manifest are always the same", parse.Quote(text)),
			"include them all, and choose by when")
		return true
	}
	if n.Kind != yaml.SequenceNode {
		if refused(n) {
			return nil
		}
		return n
	}
	left := *n
	left.Content = slices.DeleteFunc(slices.Clone(n.Content), refused)
	return &left
}

// include opens one file that f includes.
func (g *gathering) include(f *file, path model.Value) {
	in := &file{File: &parse.File{Path: path.Text}, abs: path.Text, by: f, at: path.Pos}
	if !filepath.IsAbs(path.Text) {
		in.Path, in.abs = filepath.Join(filepath.Dir(f.Path), path.Text), filepath.Join(f.dir, path.Text)
	}
	in.abs = filepath.Clean(in.abs)
	in.dir = filepath.Dir(in.abs)
	s := scope{l: g.loader, property: "include"}
	first := g.opened[in.abs]
	switch {
	case first != nil && first.holds(f):
		s.refuse(path.Pos, in.circle(first), "")
		return
	case first != nil && first.by != nil:
		s.refuse(path.Pos, fmt.Sprintf("%s is included at %s already", in.Path, entry.Line(first.at)), "include it once: its resources are the whole manifest's")
		return
	case in.depth() > entry.MaxIncludes:
		s.refuse(path.Pos, fmt.Sprintf("files that include each other more than %d deep", entry.MaxIncludes), "")
	case g.src.Include == nil:
		s.refuse(path.Pos, "include is not possible here", "")
	default:
		data, err := g.src.Include(in.abs)
		switch {
		case err != nil:
			s.refuse(path.Pos, fmt.Sprintf("read %q: %v", in.Path, err), unexpanded(path.Text))
		case g.size+len(data) > entry.MaxSize:
			s.refuse(path.Pos, "the manifest is larger than 16 MiB with "+in.Path, "split it into several manifests")
		default:
			g.open(in, data)
			return
		}
	}
	g.partial = true
}

// unexpanded says what to do about a path that was meant to be expanded.
func unexpanded(path string) string {
	switch {
	case strings.HasPrefix(path, "~"):
		return "write the whole path: nothing expands ~ here"
	case strings.ContainsAny(path, "*?["):
		return "name each file: nothing expands patterns here"
	}
	return ""
}

// holds says whether another file is the file itself, or included by it.
func (f *file) holds(other *file) bool {
	for ; other != nil; other = other.by {
		if other == f {
			return true
		}
	}
	return false
}

// depth is how many files stand between a file and the manifest's own, with itself.
func (f *file) depth() int {
	n := 0
	for ; f.by != nil; f = f.by {
		n++
	}
	return n
}

// circle tells how a file would come to include itself, from its first
// inclusion on; f is its second one.
func (f *file) circle(first *file) string {
	if f.by == first {
		return f.Path + " includes itself"
	}
	var steps []string
	for in := f; in != first; in = in.by {
		steps = append(steps, fmt.Sprintf("\n  %s: %s includes %s", entry.Line(in.at), in.by.Path, in.Path))
	}
	slices.Reverse(steps)
	return "these files include each other:" + strings.Join(steps, "")
}

// included says of a key of an included file whether it may stand there.
func (l *loader) included(key *yaml.Node) bool {
	if l.file.by == nil || slices.Contains(mayInclude, key.Value) {
		return true
	}
	l.refuse(key, fmt.Sprintf("%q belongs in the manifest that includes this file", key.Value), "move it to "+l.src.Path)
	return false
}
