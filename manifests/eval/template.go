package eval

import (
	"fmt"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/value"
)

// readTemplate reads the path of a template and fills the template for one resource.
// A file that cannot be read counts as a missing value: a resource that is off
// needs none.
func (e *Env) readTemplate(f Frame, n *yaml.Node) (model.Value, Found, bool) {
	var g graft
	expanded, valid := e.expandText(f, n, model.Line, &g)
	found := e.finish(f, g.found)
	if !valid {
		return model.Value{}, found, false
	}
	r := e.reader(f)
	r.Fills = g.fills()
	path, ok := r.ReadLine(expanded)
	if !ok {
		return model.Value{}, found, false
	}
	t := e.openTemplate(f, path.Text)
	if t.err != nil {
		suggestion := ""
		if strings.HasPrefix(path.Text, "~") {
			suggestion = "write the whole path: nothing expands ~ here"
		}
		found.Missing = append(found.Missing, f.Problem(path.Pos, fmt.Sprintf("read %s: %v", parse.Quote(path.Text), t.err), suggestion))
		return model.Value{}, e.finish(f, found), false
	}
	text, ok := e.fillTemplate(f, t, &found)
	path.Items = []model.Value{{Pos: path.Pos, Text: text, Quoted: true}}
	return path, e.finish(f, found), ok
}

// openTemplate returns the template at a path. Its text becomes part of the hash of
// the manifest.
func (e *Env) openTemplate(f Frame, path string) *template {
	abs, show := filepath.Clean(path), path
	if !filepath.IsAbs(path) {
		abs, show = filepath.Join(f.Dir, path), filepath.Join(filepath.Dir(f.File.Path), path)
	}
	if t := e.templates[abs]; t != nil {
		return t
	}
	t := &template{}
	if e.templates == nil {
		e.templates = map[string]*template{}
	}
	e.templates[abs] = t
	if e.readFile == nil {
		t.err = fmt.Errorf("a template is not possible here")
		return t
	}
	data, err := e.readFile(abs)
	if err != nil {
		t.err = err
		return t
	}
	t.text = string(data)
	t.file = &parse.File{Path: show} // without its text: problems show no line of it, which may belong to a sensitive resource
	if t.parts, t.problems = value.Parse(t.text); e.ccm {
		t.parts, t.problems = splitCCM(t.text)
	}
	e.tally.stamp("template", path, t.text)
	return t
}

// fillTemplate returns the text of a template with its values, for one resource. All
// other bytes stay as they are. It returns false after reporting mistakes at their
// places in the template.
func (e *Env) fillTemplate(f Frame, t *template, found *Found) (string, bool) {
	f.File = t.file
	all := len(t.problems) == 0
	place := placer{text: t.text, line: 1}
	for _, p := range t.problems {
		e.refuse(f, place.at(p.At), p.Message, p.Suggestion)
	}
	place = placer{text: t.text, line: 1}
	var b strings.Builder
	for i, p := range t.parts {
		if p.Expr == nil {
			b.WriteString(p.Text)
			continue
		}
		n := place.at(p.At)
		values, ok := e.lookupParts(f, n, t.parts[i:i+1], found)
		ok = e.refuseRaw(f, n, t.parts[i:i+1]) && ok
		if all = all && ok; !ok {
			continue
		}
		text, isText := value.Text(values[0])
		if !isText {
			e.refuse(f, n, fmt.Sprintf("%s is %s, which cannot stand in a text", p.Text, value.Describe(values[0])), "name one value in it")
			all = false
		}
		b.WriteString(text)
	}
	return b.String(), all
}

// WarnSource warns of a file that is copied as it stands although it names a
// variable of the manifest: it was probably meant as a template.
func (e *Env) WarnSource(f Frame, v model.Value) {
	if len(e.vars.list) == 0 || e.peek == nil || v.Text == "" || strings.Contains(v.Text, "://") {
		return
	}
	path := v.Text
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.Dir, path)
	}
	text := string(e.peek(path))
	for {
		_, rest, ok := strings.Cut(text, "${var.")
		if !ok {
			return
		}
		if name := nameAt(rest); e.vars.byName[name] != nil {
			e.sink.Warn(f.Problem(v.Pos, fmt.Sprintf("%s has ${var.%s}, which a copy keeps as it stands", v.Text, name), "write template: in place of source: to put values in"))
			return
		}
		text = rest
	}
}
