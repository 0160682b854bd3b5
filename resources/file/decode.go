package file

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
)

// The markers in validate: pathMarker is replaced by the path of the new file,
// percent by one '%'.
const (
	pathMarker = "%"
	percent    = "%%"
)

// kinds maps the values of ensure.
var kinds = map[string]disk.Kind{
	"": disk.Regular, "present": disk.Regular, "absent": disk.Missing,
	"directory": disk.Directory, "link": disk.Link,
}

// decode turns the properties of one resource into a file. It records every
// problem in the body.
func (w *world) decode(b *model.Body) model.Spec {
	f := &file{
		w: w, ref: b.Ref, pos: b.Pos, base: b.Base, kind: kinds[b.Text("ensure")], recurse: b.Bool("recurse"), target: b.Text("target"),
		owner: b.Text("owner"), group: b.Text("group"), mode: decodeMode(b),
		onlyCreate: b.Has("replace") && !b.Bool("replace"), inPlace: b.Text("write") == "in_place", parents: b.Bool("parents"), backup: b.Bool("backup"), force: b.Bool("force"),
		timeout: b.Duration("timeout"), sensitive: b.Bool("sensitive"),
	}
	if b.Has("content") {
		content := b.Text("content")
		f.content = &content
	}
	if t, ok := b.Values["template"]; ok && len(t.Items) == 1 && (f.content == nil || !isOwn(b, "content")) {
		f.content = &t.Items[0].Text
	}
	if b.CCM && f.kind == disk.Directory { // as CCM: what may be read may be entered, and missing parents are made
		f.parents = f.parents || !b.Has("parents")
		if f.mode != nil {
			*f.mode |= *f.mode & 0o444 >> 2
		}
	}
	f.decodePath(b)
	f.decodeSource(b)
	f.decodeValidate(b)
	f.refuseForeignProperties(b)
	f.chooseContent(b)
	f.refuseConflicts(b)
	f.clearUnused()
	b.Occupied = f.occupiedPath()
	return f
}

func (f *file) decodePath(b *model.Body) {
	property, path := "path", b.Text("path")
	if !b.Has("path") {
		property, path = "", b.Name
	}
	switch {
	case path == "": // the loader reports it
	case hasTilde(path):
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

// occupiedPath tells the loader which path the resource declares. With replace:
// false an existing entry of any kind is accepted, so it may be a directory.
func (f *file) occupiedPath() model.OccupiedPath {
	absent := f.kind == disk.Missing
	return model.OccupiedPath{Path: f.path, Absent: absent, Leaf: absent || f.kind == disk.Regular && !f.onlyCreate}
}

func (f *file) decodeSource(b *model.Body) {
	source := b.Text("source")
	switch {
	case source == "":
		return
	case hasTilde(source):
		b.Refuse("source", "~ is not expanded here", "write the home directory out")
	case strings.Contains(source, "://"):
		b.Refuse("source", "settle fetches nothing", "name a file, and fetch it with an exec that the file requires")
	default:
		f.source = f.absolute(source)
		b.ReadPath(f.source)
	}
}

// hasTilde reports whether a shell would put a home directory in front of a path.
func hasTilde(path string) bool { return path == "~" || strings.HasPrefix(path, "~/") }

// isWithin reports whether a path is a directory or inside of it.
func isWithin(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && dir != "" && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// absolute returns a clean path, relative to the manifest's directory.
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
		b.RefuseShellText("validate", v.Items)
	} else {
		var err error
		if f.validate, err = f.w.Argv(v.Text, escapePercents(v.Placeholders.Each())); err != nil {
			b.Refuse("validate", err.Error(), model.SuggestionOf(err))
			return
		}
		if v.Placeholders != nil {
			v.Placeholders.Filled = f.w.Join(f.validate)
		}
	}
	namesFile := func(word string) bool {
		return strings.Contains(strings.ReplaceAll(word, percent, ""), pathMarker)
	}
	switch {
	case len(f.validate) == 0 || f.validate[0] == "":
		b.Refuse("validate", "command is empty", "")
	case !slices.ContainsFunc(f.validate, namesFile):
		b.Refuse("validate", "nothing in it names the new file", "write % where the file's path belongs")
	}
}

// escapePercents returns placeholders with every '%' of their values doubled:
// only the manifest's own '%' stands for the new file.
func escapePercents(placeholders []model.Placeholder) []model.Placeholder {
	placeholders = slices.Clone(placeholders)
	for i := range placeholders {
		placeholders[i].Text = strings.ReplaceAll(placeholders[i].Text, pathMarker, percent)
	}
	return placeholders
}

// propertiesOf lists the properties that have a meaning for each kind.
var propertiesOf = map[disk.Kind][]string{
	disk.Regular:   {"content", "template", "source", "recurse", "owner", "group", "mode", "replace", "write", "parents", "backup", "validate", "force"},
	disk.Missing:   {"backup", "force"},
	disk.Directory: {"source", "recurse", "owner", "group", "mode", "replace", "parents", "backup", "force"},
	disk.Link:      {"target", "owner", "group", "replace", "parents", "backup", "force"},
}

// isOwn reports whether the resource itself sets a property. A default of the
// manifest applies only to the resources that it fits.
func isOwn(b *model.Body, property string) bool {
	v, ok := b.Values[property]
	return ok && !v.Default
}

// refuseForeignProperties refuses properties of another kind of entry.
func (f *file) refuseForeignProperties(b *model.Body) {
	for _, property := range propertiesOf[disk.Regular] {
		if b.CCM && f.kind == disk.Missing && slices.Contains([]string{"owner", "group", "mode"}, property) {
			continue // CCM accepts them, and they have no effect
		}
		if isOwn(b, property) && !slices.Contains(propertiesOf[f.kind], property) {
			b.Refuse(property, property+" means nothing with ensure: "+b.Text("ensure"), "")
		}
	}
}

// chooseContent lets the content, template or source of the resource itself win
// over a default.
func (f *file) chooseContent(b *model.Body) {
	var own []string
	for _, property := range []string{"content", "template", "source"} {
		if isOwn(b, property) {
			own = append(own, property)
		}
	}
	switch {
	case len(own) > 1:
		b.Refuse(own[1], own[1]+" is given beside "+own[0], "drop one of them")
	case len(own) == 1 && own[0] == "source":
		f.content = nil
	case len(own) == 1:
		f.source, f.recurse = "", isOwn(b, "recurse")
	}
}

// refuseConflicts refuses the first combination of properties that has no meaning.
func (f *file) refuseConflicts(b *model.Body) {
	for _, c := range []struct {
		found                         bool
		property, message, suggestion string
	}{
		{f.kind == disk.Link && !b.Has("target"), "target", "a link needs a target", ""},
		{f.kind != disk.Link && isOwn(b, "target"), "target", "target is for links", "set ensure: link"},
		{isOwn(b, "recurse") && f.recurse && f.source == "", "recurse", "recurse copies a directory, and none is given", "set source"},
		{f.recurse && isWithin(f.path, f.source), "source", "the copy would be part of what it copies", ""},
		{f.kind == disk.Directory && isOwn(b, "source") && !f.recurse, "source", "a directory is copied only as a whole", "set recurse: true"},
		{f.inPlace && isOwn(b, "validate"), "validate", "validate checks a new file, and write: in_place makes none", "drop one of them"},
		{f.recurse && isOwn(b, "validate"), "validate", "validate is for one file, and recurse for many", ""},
	} {
		if c.found {
			b.Refuse(c.property, c.message, c.suggestion)
			return
		}
	}
}

// clearUnused clears the properties that have no meaning for the kind. They came
// from defaults: others were refused.
func (f *file) clearUnused() {
	allowed := propertiesOf[f.kind]
	f.recurse = f.recurse && f.source != "" && slices.Contains(allowed, "recurse")
	if f.recurse {
		f.kind = disk.Directory
	}
	if f.kind != disk.Regular {
		f.content, f.validate = nil, nil
	}
	if !f.recurse && f.kind != disk.Regular {
		f.source = ""
	}
	if !slices.Contains(allowed, "mode") {
		f.mode = nil
	}
}
