// Package shape turns a YAML node into a model.Value of the kind that a property
// asks for. Expressions have been replaced by their values before: a node that
// holds one is taken as it stands.
package shape

import (
	"cmp"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
)

// Reader reads the value of one property.
type Reader struct {
	File *parse.File
	entry.Subject
	Sink *entry.Sink
	Fills
}

// Fills says which nodes came from expressions. The zero value says none did.
type Fills struct {
	Nodes map[*yaml.Node]*Fill
	Uses  []model.ValueUse // named in messages about the nodes
}

// Fill is the origin of a node that an expression was replaced by.
type Fill struct {
	From         []string            // the expressions as they are written
	Raw          bool                // it is a single raw expression
	Number       bool                // it is a single expression whose value is a number
	Template     string              // the text with a placeholder byte for each value
	Placeholders *model.Placeholders // of a command; nil for other texts
}

// Refuse records a problem of the property.
func (r Reader) Refuse(pos model.Pos, message, suggestion string) {
	r.Sink.Refuse(entry.Attribute(r.Problem(pos, message, suggestion), r.Uses))
}

// RefuseForm refuses a node whose form is not the one that is wanted. Its result
// is that of a reader which cannot read a value.
func (r Reader) RefuseForm(n *yaml.Node, want, suggestion string) (model.Value, bool) {
	got := parse.Describe(n)
	switch {
	case n.Kind == yaml.ScalarNode && n.Style != 0:
		got = "the text " + got
	case n.Kind == yaml.MappingNode && len(n.Content) == 2 && suggestion == "":
		suggestion = `quote the whole value if it is meant as text: ": " and braces make it a map`
	}
	if r.Nodes[n] != nil { // the user did not write the node, so how it is written is no advice
		got, suggestion = strings.TrimPrefix(got, "the text "), ""
	}
	r.Refuse(r.File.Pos(n), "want "+want+", got "+got, suggestion)
	return model.Value{}, false
}

// RefuseNull refuses a null. The place of a missing value is that of its key.
func (r Reader) RefuseNull(p *model.Property, key, n *yaml.Node) {
	pos, message := r.File.Pos(n), NullMessage
	if n.Value == "" {
		pos, message = r.File.Pos(key), "no value"
	}
	suggestion := "leave it out"
	switch {
	case p == schema.NameProperty && n.Value != "":
		suggestion = "quote it if that is the name"
	case p == schema.NameProperty:
		suggestion = "write the name"
	case p.Kind == model.Text:
		suggestion += `, or write "" for an empty text`
	}
	r.Refuse(pos, message, suggestion)
}

// NullMessage is the message for a null where a value is needed.
const NullMessage = "null is not allowed here"

// readers are the functions that read each kind with a form of its own. The other
// kinds are a text or a list of texts.
var readers = map[model.Kind]func(r Reader, p *model.Property, n *yaml.Node) (model.Value, bool){
	model.Text: func(r Reader, p *model.Property, n *yaml.Node) (model.Value, bool) {
		r.WarnComment(n, false)
		return r.ReadText(n, p.Kind.String())
	},
	model.Line: func(r Reader, p *model.Property, n *yaml.Node) (model.Value, bool) {
		r.WarnComment(n, p.Name == "name" || p.Name == "alias")
		return r.ReadLine(n)
	},
	model.Template:    func(r Reader, _ *model.Property, n *yaml.Node) (model.Value, bool) { return r.ReadLine(n) },
	model.Bool:        func(r Reader, p *model.Property, n *yaml.Node) (model.Value, bool) { return r.ReadBool(n) },
	model.Int:         readInteger,
	model.Count:       readInteger,
	model.Duration:    readDuration,
	model.Choice:      func(r Reader, p *model.Property, n *yaml.Node) (model.Value, bool) { return r.ReadChoice(n, p) },
	model.Codes:       readCodes,
	model.CodesOrTrue: readCodes,
	model.Environment: readEnvironment,
	model.TextMap:     readTextMap,
	model.AnyValue: func(r Reader, _ *model.Property, n *yaml.Node) (model.Value, bool) {
		return r.readAny(n), true
	},
}

// Read reads a value that is not null. It returns false after reporting why it is
// not a value of the property.
func (r Reader) Read(p *model.Property, n *yaml.Node) (model.Value, bool) {
	if read := readers[p.Kind]; read != nil {
		return read(r, p, n)
	}
	return r.readTexts(n, p.Kind)
}

// ValueAt returns the text of a scalar with its place and its placeholders.
func (r Reader) ValueAt(n *yaml.Node) model.Value {
	v := model.Value{Pos: r.File.Pos(n), Text: n.Value, Quoted: n.Style != 0}
	if f := r.Nodes[n]; f != nil {
		v.Quoted = v.Quoted && !f.Number
		if v.Placeholders = f.Placeholders; f.Placeholders == nil || n.Value != f.Template {
			v.Placeholders = &model.Placeholders{Template: cmp.Or(f.Template, model.PlaceholderByte), Expressions: f.From}
		}
	}
	return v
}

// WarnComment warns of a comment right behind a value. Where values rarely hold a
// "#", often is false and the comment has to look like a part: "fixes bug #12".
func (r Reader) WarnComment(n *yaml.Node, often bool) {
	if n.Kind != yaml.ScalarNode || n.Style != 0 {
		return
	}
	comment := r.File.Text.CommentBehind(n.Line, n.Column, n.Value)
	if comment != "" && (often || hashInWord().MatchString(comment)) {
		p := r.Problem(r.File.Pos(n), fmt.Sprintf("the value ends before %q, which is a comment", strings.TrimSpace(comment)),
			"quote the whole value if it is part of it, else put two spaces before the #")
		r.Sink.Warn(entry.Attribute(p, r.Uses))
	}
}

var hashInWord = entry.Pattern(`^ #[^ #]`)

// checkZero refuses a zero byte, which no argument of a program can hold.
func (r Reader) checkZero(n *yaml.Node) bool {
	if strings.Contains(n.Value, "\x00") {
		r.Refuse(r.File.Pos(n), "a zero byte in the text", "no program can be given one")
		return false
	}
	return true
}
