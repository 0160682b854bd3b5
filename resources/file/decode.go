package file

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
)

// placeholder stands for the new file's path in validate, percent for a '%'.
const (
	placeholder = "%"
	percent     = "%%"
)

// kinds are the values of ensure.
var kinds = map[string]disk.Kind{
	"": disk.Regular, "present": disk.Regular, "absent": disk.Missing,
	"directory": disk.Directory, "link": disk.Link,
}

// decode turns the properties of one resource into a file. What is wrong with
// them is recorded in the body, all of it.
func (w *world) decode(b *model.Body) model.Spec {
	f := &file{
		w: w, ref: b.Ref, pos: b.Pos, base: b.Base, kind: kinds[b.Text("ensure")], recurse: b.Bool("recurse"), target: b.Text("target"),
		owner: b.Text("owner"), group: b.Text("group"), mode: decodeMode(b),
		create: b.Has("replace") && !b.Bool("replace"), backup: b.Bool("backup"), force: b.Bool("force"),
		timeout: b.Duration("timeout"), sensitive: b.Bool("sensitive"),
	}
	if b.Has("content") {
		content := b.Text("content")
		f.content = &content
	}
	f.decodePath(b)
	f.decodeSource(b)
	f.decodeValidate(b)
	f.agree(b)
	b.Place = f.place()
	return f
}

func (f *file) decodePath(b *model.Body) {
	property, path := "path", b.Text("path")
	if !b.Has("path") {
		property, path = "", b.Name
	}
	switch {
	case path == "": // the loader has said so
	case home(path):
		b.Refuse(property, "~ is not expanded here", "write the home directory out")
	case property == "" && !filepath.IsAbs(path):
		b.Refuse("", fmt.Sprintf("the name %q is not an absolute path", path), "set path, which may be relative to the manifest's directory")
	default:
		f.path = f.absolute(path)
		if f.path == filepath.Dir(f.path) {
			b.Refuse(property, f.path+" is not for a resource to change", "")
		}
		if b.Off {
			return
		}
		if other, ok := f.w.paths.LoadOrStore(f.path, f); ok && other.(*file).ref != f.ref {
			pos := other.(*file).pos
			b.Refuse(property, fmt.Sprintf("%s is already declared by %s at %s:%d", f.path, other.(*file).ref, pos.File, pos.Line), "declare all of it in one place")
		}
	}
}

// place is where the file stands. Of one that is only made where nothing is, no
// one can say what it is.
func (f *file) place() model.Place {
	gone := f.kind == disk.Missing
	return model.Place{Path: f.path, Empty: gone, Closed: gone || f.kind == disk.Regular && !f.create}
}

func (f *file) decodeSource(b *model.Body) {
	source := b.Text("source")
	switch {
	case source == "":
		return
	case home(source):
		b.Refuse("source", "~ is not expanded here", "write the home directory out")
	case strings.Contains(source, "://"):
		b.Refuse("source", "settle fetches nothing", "name a file, and fetch it with an exec that the file requires")
	default:
		f.source = f.absolute(source)
	}
}

// home says whether a shell would put a home directory in front of the path.
func home(path string) bool { return path == "~" || strings.HasPrefix(path, "~/") }

// within says whether a path is in a directory, or is the directory.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && dir != "" && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func (f *file) absolute(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.base.Dir, path)
	}
	return filepath.Clean(path)
}

func (f *file) decodeValidate(b *model.Body) {
	v, ok := b.Values["validate"]
	if !ok {
		return
	}
	if v.Shape == model.List {
		for _, item := range v.Items {
			f.validate = append(f.validate, item.Text)
		}
	} else {
		var err error
		if f.validate, err = f.w.Argv(v.Text, literal(v.Placeholders.Each())); err != nil {
			var hint interface{ Hint() string }
			suggestion := ""
			if errors.As(err, &hint) {
				suggestion = hint.Hint()
			}
			b.Refuse("validate", err.Error(), suggestion)
			return
		}
		if v.Placeholders != nil {
			v.Placeholders.Filled = f.w.Join(f.validate)
		}
	}
	named := func(word string) bool { return strings.Contains(strings.ReplaceAll(word, percent, ""), placeholder) }
	switch {
	case len(f.validate) == 0 || f.validate[0] == "":
		b.Refuse("validate", "command is empty", "")
	case !slices.ContainsFunc(f.validate, named):
		b.Refuse("validate", "nothing in it names the new file", "write % where the file's path belongs")
	}
}

// literal returns the holes of a validate with values in which a '%' is one.
func literal(holes []model.Placeholder) []model.Placeholder {
	holes = slices.Clone(holes)
	for i := range holes {
		holes[i].Text = strings.ReplaceAll(holes[i].Text, placeholder, percent)
	}
	return holes
}

// fits lists for each value of ensure which properties mean something with it.
var fits = map[disk.Kind][]string{
	disk.Regular:   {"content", "source", "recurse", "owner", "group", "mode", "replace", "backup", "validate", "force"},
	disk.Missing:   {"backup", "force"},
	disk.Directory: {"source", "recurse", "owner", "group", "mode", "replace", "backup", "force"},
	disk.Link:      {"target", "owner", "group", "replace", "backup", "force"},
}

// agree refuses what cannot be meant together. Defaults of the manifest are for
// whom they fit, and give way to what a file says itself.
func (f *file) agree(b *model.Body) {
	own := func(property string) bool {
		v, ok := b.Values[property]
		return ok && !v.Default
	}
	for _, property := range fits[disk.Regular] {
		if own(property) && !slices.Contains(fits[f.kind], property) {
			b.Refuse(property, property+" means nothing with ensure: "+b.Text("ensure"), "")
		}
	}
	switch {
	case own("content") && own("source"):
		b.Refuse("source", "source is given beside content", "drop one of them")
	case own("source"):
		f.content = nil
	case own("content"):
		f.source, f.recurse = "", own("recurse")
	}
	switch {
	case f.kind == disk.Link && !b.Has("target"):
		b.Refuse("target", "a link needs a target", "")
	case f.kind != disk.Link && own("target"):
		b.Refuse("target", "target is for links", "set ensure: link")
	case own("recurse") && f.recurse && f.source == "":
		b.Refuse("recurse", "recurse copies a directory, and none is given", "set source")
	case f.recurse && within(f.path, f.source):
		b.Refuse("source", "the copy would be part of what it copies", "")
	case f.kind == disk.Directory && own("source") && !f.recurse:
		b.Refuse("source", "a directory is copied only as a whole", "set recurse: true")
	case f.recurse && own("validate"):
		b.Refuse("validate", "validate is for one file, and recurse for many", "")
	}
	f.drop()
}

// drop forgets what means nothing to the kind of file.
func (f *file) drop() {
	fit := fits[f.kind]
	f.recurse = f.recurse && f.source != "" && slices.Contains(fit, "recurse")
	if f.recurse {
		f.kind = disk.Directory
	}
	if f.kind != disk.Regular {
		f.content, f.validate = nil, nil
	}
	if !f.recurse && f.kind != disk.Regular {
		f.source = ""
	}
	if !slices.Contains(fit, "mode") {
		f.mode = nil
	}
}
