package manifests

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
)

// scope says whose property is being read.
type scope struct {
	l        *loader
	id       string // "" for the manifest's own keys
	property string
	raw      bool // it may be the text of a command, so raw expressions may stand in it
}

func (s scope) refuse(pos model.Pos, message, suggestion string) {
	s.l.problem(model.Problem{Pos: pos, ID: s.id, Property: s.property, Message: message, Suggestion: suggestion})
}

func (s scope) warn(pos model.Pos, message, suggestion string) {
	s.l.warning(model.Problem{Pos: pos, ID: s.id, Property: s.property, Message: message, Suggestion: suggestion})
}

// want refuses a value that has not the form it should have.
func (s scope) want(n *yaml.Node, what, suggestion string) (model.Value, bool) {
	got := parse.Describe(n)
	switch {
	case n.Kind == yaml.ScalarNode && n.Style != 0:
		got = "the text " + got
	case n.Kind == yaml.MappingNode && len(n.Content) == 2 && suggestion == "":
		suggestion = `quote the whole value if it is meant as text: ": " and braces make it a map`
	}
	if s.l.filled[n] != nil {
		got, suggestion = strings.TrimPrefix(got, "the text "), ""
	}
	s.refuse(s.l.pos(n), "want "+what+", got "+got, suggestion)
	return model.Value{}, false
}

// value reads the value n of a property. It returns false after saying what is
// wrong with it.
func (s scope) value(p *model.Property, key, n *yaml.Node) (model.Value, bool) {
	if parse.IsNull(n) {
		pos, message := s.l.pos(n), "null is no value"
		if n.Value == "" {
			pos, message = s.l.pos(key), "no value"
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
		s.refuse(pos, message, suggestion)
		return model.Value{}, false
	}
	switch p.Kind { // which have names of values, not expressions
	case model.Condition:
		return s.condition(n)
	case model.Control:
		return s.control(n)
	}
	n, sound := s.expand(n, p.Kind)
	if n == nil || !sound && len(n.Content) == 0 {
		clear(s.l.filled)
		return model.Value{}, false
	}
	v, ok := s.shaped(p, n)
	clear(s.l.filled)
	return v, ok && sound
}

// shaped reads a value that all values were put into by its kind.
func (s scope) shaped(p *model.Property, n *yaml.Node) (model.Value, bool) {
	switch p.Kind {
	case model.Text:
		s.doubtCut(n, false)
		return s.text(n, p.Kind.String())
	case model.Line:
		s.doubtCut(n, p.Name == "name" || p.Name == "alias")
		return s.line(n)
	case model.Bool:
		return s.boolean(n, p.Kind)
	case model.Int, model.Count:
		return s.integer(n, p.Kind)
	case model.Duration:
		return s.duration(n, p.Kind)
	case model.Choice:
		return s.choice(n, p)
	case model.Codes, model.CodesOrTrue:
		return s.codes(n, p.Kind)
	case model.Environment:
		return s.environment(n, p.Kind)
	case model.TextMap:
		return s.textMap(n, p.Kind)
	case model.AnyValue:
		return s.whatever(n)
	}
	return s.texts(n, p.Kind)
}

// at returns a value with its place.
func (s scope) at(n *yaml.Node) model.Value {
	v := model.Value{Pos: s.l.pos(n), Text: n.Value, Quoted: n.Style != 0}
	if f := s.l.filled[n]; f != nil {
		if v.Placeholders = f.holes; f.holes == nil || n.Value != f.marked {
			v.Placeholders = &model.Placeholders{Template: cmp.Or(f.marked, model.PlaceholderByte)}
		}
	}
	return v
}

// text reads one scalar as written.
func (s scope) text(n *yaml.Node, what string) (model.Value, bool) {
	if n.Kind != yaml.ScalarNode || parse.IsNull(n) {
		return s.want(n, what, "")
	}
	return s.at(n), true
}

// line reads one scalar that is one line; a block scalar's last newline is none.
func (s scope) line(n *yaml.Node) (model.Value, bool) {
	if n.Kind != yaml.ScalarNode {
		return s.want(n, model.Line.String(), "")
	}
	v := s.at(n)
	v.Text = strings.TrimSuffix(v.Text, "\n")
	switch {
	case v.Text == "":
		what := "text"
		if s.property == "name" || s.property == "alias" {
			what = s.property
		}
		s.refuse(v.Pos, "the "+what+" is empty", "")
		return v, false
	case strings.Contains(v.Text, "\n"):
		s.refuse(v.Pos, "want one line of text, got several", "")
		return v, false
	}
	return v, s.whole(n)
}

// argument reads a text that is handed to a program: it cannot hold a zero byte.
func (s scope) argument(n *yaml.Node, what string) (model.Value, bool) {
	v, ok := s.text(n, what)
	return v, ok && (v.Placeholders.Each() != nil || s.whole(n))
}

func (s scope) whole(n *yaml.Node) bool {
	if strings.Contains(n.Value, "\x00") {
		s.refuse(s.l.pos(n), "a zero byte in the text", "no program can be given one")
		return false
	}
	return true
}

// doubtCut warns of a value that a comment ends right behind it. Where values
// rarely have a # in them, it has to look like a part of one: "fixes bug #12".
func (s scope) doubtCut(n *yaml.Node, often bool) {
	if n.Kind != yaml.ScalarNode || n.Style != 0 {
		return
	}
	comment := s.l.file.Text.CommentBehind(n.Line, n.Column, n.Value)
	if comment != "" && (often || partOfWord().MatchString(comment)) {
		s.warn(s.l.pos(n), fmt.Sprintf("the value ends before %q, which is a comment", strings.TrimSpace(comment)),
			"quote the whole value if it is part of it, else put two spaces before the #")
	}
}

var partOfWord = entry.Pattern(`^ #[^ #]`)

// texts reads the kinds that are a text or a list of texts.
func (s scope) texts(n *yaml.Node, kind model.Kind) (model.Value, bool) {
	read := s.line
	if kind == model.CommandLine || kind == model.CommandLines {
		read = func(n *yaml.Node) (model.Value, bool) { return s.argument(n, kind.String()) }
	}
	often := kind == model.CommandLine || kind == model.CommandLines || kind == model.Refs
	one := func(n *yaml.Node) (model.Value, bool) {
		s.doubtCut(n, often)
		return read(n)
	}
	if n.Kind == yaml.ScalarNode {
		return one(n)
	}
	if n.Kind != yaml.SequenceNode {
		return s.want(n, kind.String(), "")
	}
	v := model.Value{Pos: s.l.pos(n), Shape: model.List, Items: make([]model.Value, 0, len(n.Content))}
	all := true
	for _, item := range n.Content {
		item = parse.Target(item)
		if parse.IsNull(item) || item.Kind != yaml.ScalarNode {
			_, all = s.want(item, "a text", "")
			continue
		}
		read, ok := one(item)
		all = all && ok
		v.Items = append(v.Items, read)
	}
	return v, all
}

func (s scope) boolean(n *yaml.Node, kind model.Kind) (model.Value, bool) {
	v := s.at(n)
	if n.Kind == yaml.ScalarNode && n.Style == 0 {
		switch v.Bool = n.Value == "true"; n.Value {
		case "true", "false":
			return v, true
		}
	}
	suggestion := ""
	switch strings.ToLower(n.Value) {
	case "true", "yes", "on", "y":
		suggestion = "write true, without quotes"
	case "false", "no", "off", "n":
		suggestion = "write false, without quotes"
	}
	return s.want(n, kind.String(), suggestion)
}

var decimal = regexp.MustCompile(`^-?[0-9]+$`)

func (s scope) integer(n *yaml.Node, kind model.Kind) (model.Value, bool) {
	v := s.at(n)
	if n.Kind != yaml.ScalarNode || !decimal.MatchString(n.Value) {
		return s.want(n, kind.String(), "")
	}
	digits := strings.TrimLeft(strings.TrimPrefix(n.Value, "-"), "0")
	number, err := strconv.Atoi(n.Value)
	switch {
	case n.Style != 0:
		return s.want(n, kind.String(), "write "+n.Value+" without quotes")
	case digits != strings.TrimPrefix(n.Value, "-") && n.Value != "0":
		return s.want(n, kind.String()+" without leading zeros", "")
	case err != nil || kind == model.Count && number < 1:
		return s.want(n, kind.String(), "")
	}
	v.Int = number
	return v, true
}

func (s scope) duration(n *yaml.Node, kind model.Kind) (model.Value, bool) {
	v := s.at(n)
	if n.Kind != yaml.ScalarNode {
		return s.want(n, kind.String(), "")
	}
	var err error
	v.Duration, err = model.ParseDuration(n.Value)
	switch {
	case errors.Is(err, model.ErrUnit):
		number := strings.TrimPrefix(n.Value, "-")
		s.refuse(v.Pos, fmt.Sprintf("the duration %s has no unit", n.Value), fmt.Sprintf("write %ss for seconds, %sm for minutes", number, number))
		return v, false
	case err != nil:
		return s.want(n, kind.String(), "")
	}
	return v, true
}

func (s scope) choice(n *yaml.Node, p *model.Property) (model.Value, bool) {
	if n.Kind != yaml.ScalarNode {
		return s.want(n, schema.Either(p.Choices), "")
	}
	v := s.at(n)
	v.Text = strings.TrimSuffix(v.Text, "\n")
	for _, choice := range p.Choices {
		if v.Text == choice {
			return v, true
		}
	}
	suggestion := entry.DidYouMean(schema.Near(v.Text, p.Choices, schema.ChoiceSynonyms))
	if suggestion == "" {
		suggestion = "write " + schema.Either(p.Choices)
	}
	s.refuse(v.Pos, fmt.Sprintf("unknown %s %s", p.Name, parse.Quote(v.Text)), suggestion)
	return v, false
}

func (s scope) codes(n *yaml.Node, kind model.Kind) (model.Value, bool) {
	v := s.at(n)
	switch {
	case kind == model.CodesOrTrue && n.Kind == yaml.ScalarNode && n.Style == 0 && (n.Value == "true" || n.Value == "false"):
		v.Bool = n.Value == "true" // false takes back a default
		return v, true
	case n.Kind == yaml.ScalarNode && decimal.MatchString(n.Value):
		return s.want(n, kind.String(), "write ["+n.Value+"]")
	case n.Kind != yaml.SequenceNode:
		return s.want(n, kind.String(), "")
	case len(n.Content) == 0:
		s.refuse(v.Pos, "the list is empty", "leave it out, or name at least one exit code")
		return v, false
	}
	v.Shape, v.Text, v.Items = model.List, "", make([]model.Value, 0, len(n.Content))
	all := true
	for _, item := range n.Content {
		item = parse.Target(item)
		code := s.at(item)
		number, err := strconv.Atoi(item.Value)
		switch {
		case item.Kind == yaml.ScalarNode && item.Style != 0 && err == nil:
			_, all = s.want(item, "an exit code", "write "+item.Value+" without quotes")
		case item.Kind != yaml.ScalarNode || err != nil || strconv.Itoa(number) != item.Value || number < 0 || number > 255:
			_, all = s.want(item, "an exit code from 0 to 255", "")
		default:
			code.Int = number
			v.Items = append(v.Items, code)
		}
	}
	return v, all
}
