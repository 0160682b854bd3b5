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
	"github.com/settle-cm/settle/manifests/eval"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/manifests/shape"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/value"
)

// file is one file of a manifest: its own, or one that another file includes.
type file struct {
	*parse.File
	abs string    // absolute path, "" for standard input
	dir string    // absolute; what relative paths in the file are relative to
	by  *file     // the file that includes it; nil for the manifest's own
	at  model.Pos // the place where it is included
}

// sources are the files of a manifest.
type sources struct {
	main    *file
	all     []*file // in the order of their resources: included files first
	partial bool    // a file cannot be read, so its resources and variables are unknown
	hash    string  // of the bytes of all files
}

// parsed returns the files for stages that need no more than their text and tree.
func (s sources) parsed() []*parse.File {
	list := make([]*parse.File, len(s.all))
	for i, f := range s.all {
		list[i] = f.File
	}
	return list
}

// sections returns the files with their directories.
func (s sources) sections() []eval.Source {
	list := make([]eval.Source, len(s.all))
	for i, f := range s.all {
		list[i] = eval.Source{File: f.File, Dir: f.dir}
	}
	return list
}

// gather opens the file of a manifest and those that it includes. Problems go to
// the sink.
func gather(src Source, sink *entry.Sink) sources {
	main := &file{File: &parse.File{Path: src.Path}, abs: src.Identity, dir: src.Dir}
	g := gatherer{read: src.Include, sink: sink, opened: map[string]*file{}, sum: sha256.New()}
	g.main = main
	g.open(main, src.Bytes)
	g.hash = hex.EncodeToString(g.sum.Sum(nil))
	return g.sources
}

// gatherer opens files.
type gatherer struct {
	sources
	read   func(path string) ([]byte, error) // nil where include is not possible
	sink   *entry.Sink
	opened map[string]*file // by absolute path
	size   int              // bytes of all files
	counts parse.Counts
	sum    hash.Hash
}

// open parses a file and opens those that it includes.
func (g *gatherer) open(f *file, data []byte) {
	if f.abs != "" {
		g.opened[f.abs] = f
	}
	g.size += len(data)
	_, _ = g.sum.Write(data) // a hash accepts every write
	before := g.sink.Count()
	f.File = parse.Parse(f.Path, data, g.sink)
	if f.Root != nil {
		var safe bool
		if g.counts, safe = f.Check(g.counts, g.sink); !safe {
			f.Root = nil
		}
	}
	g.openIncludes(f)
	if f.by != nil && parse.Lookup(f.Root, "ccm") != nil {
		f.Refuse(g.sink, f.Root, "a CCM manifest cannot be included", "take the ccm key out and move what is under it to the left")
		f.Root = nil
	}
	g.partial = g.partial || f.Root == nil && g.sink.Count() > before
	g.all = append(g.all, f)
}

// openIncludes opens the files that a file includes.
func (g *gatherer) openIncludes(f *file) {
	under := parse.Lookup(f.Root, "include")
	if under == nil {
		return
	}
	r := g.reader(f)
	key := findKey(f.Root, "include")
	if under = g.refuseExpressions(f, under); under == nil {
		return
	}
	p := schema.Find(schema.Keys, "include")
	if parse.IsNull(under) {
		r.RefuseNull(p, key, under)
		return
	}
	paths, _ := r.Read(p, under)
	for _, path := range paths.Each() {
		if path.Text != "" {
			g.include(f, path)
		}
	}
}

func findKey(n *yaml.Node, name string) *yaml.Node {
	for key := range parse.Pairs(n) {
		if key.Value == name {
			return key
		}
	}
	return nil
}

func (g *gatherer) reader(f *file) shape.Reader {
	return shape.Reader{File: f.File, Subject: entry.Subject{Property: "include"}, Sink: g.sink}
}

// refuseExpressions refuses paths with expressions: the files are known before any
// value is. It returns the other paths, nil for none.
func (g *gatherer) refuseExpressions(f *file, n *yaml.Node) *yaml.Node {
	refuse := func(item *yaml.Node) bool {
		text := parse.Target(item).Value
		if !value.HasExpression(text) {
			return false
		}
		g.partial = true
		g.reader(f).Refuse(f.Pos(item), fmt.Sprintf("%s cannot stand in include: the files of a manifest are always the same", parse.Quote(text)),
			"include them all, and choose by when")
		return true
	}
	if n.Kind != yaml.SequenceNode {
		if refuse(n) {
			return nil
		}
		return n
	}
	left := *n
	left.Content = slices.DeleteFunc(slices.Clone(n.Content), refuse)
	return &left
}

// include opens one file that f includes.
func (g *gatherer) include(f *file, path model.Value) {
	in := &file{File: &parse.File{Path: path.Text}, abs: path.Text, by: f, at: path.Pos}
	if !filepath.IsAbs(path.Text) {
		in.Path, in.abs = filepath.Join(filepath.Dir(f.Path), path.Text), filepath.Join(f.dir, path.Text)
	}
	in.abs = filepath.Clean(in.abs)
	in.dir = filepath.Dir(in.abs)
	first := g.opened[in.abs]
	message, suggestion := "", ""
	switch {
	case first != nil && first.holds(f):
		g.reader(f).Refuse(path.Pos, in.describeCycle(first), "")
		return
	case first != nil: // another file includes it too: its resources are there already
		return
	case in.depth() > entry.MaxIncludes:
		message = fmt.Sprintf("files that include each other more than %d deep", entry.MaxIncludes)
	case g.read == nil:
		message = "include is not possible here"
	default:
		data, err := g.read(in.abs)
		switch {
		case err != nil:
			message, suggestion = fmt.Sprintf("read %q: %v", in.Path, err), suggestPath(path.Text)
		case g.size+len(data) > entry.MaxSize:
			message, suggestion = "the manifest is larger than 16 MiB with "+in.Path, "split it into several manifests"
		default:
			g.open(in, data)
			return
		}
	}
	g.reader(f).Refuse(path.Pos, message, suggestion)
	g.partial = true
}

// suggestPath returns a suggestion for a path that a shell would have expanded.
func suggestPath(path string) string {
	switch {
	case strings.HasPrefix(path, "~"):
		return "write the whole path: nothing expands ~ here"
	case strings.ContainsAny(path, "*?["):
		return "name each file: nothing expands patterns here"
	}
	return ""
}

// holds reports whether another file is the file itself, or included by it.
func (f *file) holds(other *file) bool {
	for ; other != nil; other = other.by {
		if other == f {
			return true
		}
	}
	return false
}

// depth returns how many includes lead from the manifest's own file to a file.
func (f *file) depth() int {
	n := 0
	for ; f.by != nil; f = f.by {
		n++
	}
	return n
}

// describeCycle describes how a file includes itself. first is the same file at its
// first inclusion.
func (f *file) describeCycle(first *file) string {
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
