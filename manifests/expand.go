package manifests

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/value"
)

// Values are put in between the tree and the kinds of values: a node with an
// expression in it is replaced by one of the same place that has the value,
// and the readers of the kinds see nothing else. Nothing that was put in is
// looked at for expressions, and none of it can become YAML.

// values is what a loader knows of the values of a manifest.
type values struct {
	vars     map[string]*variable
	varNames []string // in the order of the file
	unread   bool     // a file of values is none: what is given is not known
	chain    []string // variables whose defaults are being followed
	env      map[string]string
	told     map[string]bool // names of the environment that were asked for
	facts    facts
	self     *model.Ref // the resource whose properties are read; nil outside of them
	item     *item      // the one of for_each that it is made for; nil without

	filled map[*yaml.Node]*filling // nodes of the property that is being read
	uses   []model.ValueUse        // values put into the resource that is being read
	put    int                     // bytes put in
	full   bool                    // they are too many, which was said
	sum    hash.Hash               // of all that was put in
}

// filling is what a node of the manifest was filled with.
type filling struct {
	from   []string // the expressions, as they are written
	raw    bool     // it is one raw expression
	marked string   // its text with marks in the place of values
	holes  *model.Placeholders
}

// expressive says whether anything in a node has an expression.
func expressive(n *yaml.Node) bool {
	n = parse.Target(n)
	return n.Kind == yaml.ScalarNode && value.Has(n.Value) || slices.ContainsFunc(n.Content, expressive)
}

// expand returns the value n of a property with values in the place of its
// expressions: n itself where it has none. It returns false after saying what is
// wrong with them, with what is left of a list or a map without that.
func (s scope) expand(n *yaml.Node, kind model.Kind) (*yaml.Node, bool) {
	if n.Kind == yaml.ScalarNode {
		filled, ok := s.fill(n, kind)
		if !ok {
			filled = nil
		}
		return filled, ok
	}
	children := n.Content
	if n.Kind == yaml.MappingNode {
		children = parse.Flatten(n)
	}
	under := kind
	switch kind {
	case model.CommandLine:
		under = model.Text // exact words
	case model.CommandLines:
		under = model.CommandLine
	}
	all, same := true, true
	made := make([]*yaml.Node, 0, len(children))
	for i, child := range children {
		was := parse.Target(child)
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			all = s.fixed(was) && all
			made = append(made, child)
			continue
		}
		var is *yaml.Node
		ok := kind != model.Environment || n.Kind != yaml.SequenceNode || s.assigned(was)
		if ok {
			is, ok = s.expand(was, under)
		}
		all, same = all && ok, same && is == was
		switch {
		case is != nil && is != was:
			made = append(made, is)
		case is != nil:
			made = append(made, child)
		case n.Kind == yaml.MappingNode:
			made = made[:len(made)-1] // nor its key
		}
	}
	if same {
		return n, all
	}
	return &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Line: n.Line, Column: n.Column, Content: made}, all
}

// fixed refuses an expression in a key: a value never becomes one.
func (s scope) fixed(key *yaml.Node) bool {
	if !strings.Contains(key.Value, "${") || !value.Has(key.Value) {
		return true
	}
	s.refuse(s.l.pos(key), fmt.Sprintf("an expression in the key %s", parse.Quote(key.Value)), "write the key out: only values can have expressions")
	return false
}

// assigned refuses an expression in the name of a variable, KEY=VALUE.
func (s scope) assigned(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || !strings.Contains(n.Value, "${") {
		return true
	}
	if key, _, _ := strings.Cut(n.Value, "="); value.Has(key) {
		s.refuse(s.l.pos(n), "an expression in the name of a variable", "write NAME= and the expression behind it")
		return false
	}
	return true
}

// fill puts values into one scalar.
func (s scope) fill(n *yaml.Node, kind model.Kind) (*yaml.Node, bool) {
	if s.l.base.CCM && strings.Contains(n.Value, "{") {
		if found := ccmExpression.FindString(n.Value); found != "" {
			s.refuse(s.l.pos(n), fmt.Sprintf("%q is a CCM expression, which settle does not evaluate", found), ccmWay(found))
			return n, false
		}
	}
	if !strings.Contains(n.Value, "${") || !value.Has(n.Value) {
		return n, true
	}
	parts, sound := s.parse(n)
	if !isCommand(kind) && !s.raw {
		sound = s.cooked(n, parts) && sound
	}
	values, ok := s.values(n, parts) // also of a text with a mistake in it: there may be more
	if !ok || !sound {
		return n, false
	}
	if len(parts) == 1 && parts[0].Expr != nil {
		if _, isText := value.Text(values[0]); !isText || kind == model.AnyValue {
			return s.graft(n, values[0], kind, &filling{from: []string{parts[0].Text}, raw: parts[0].Expr.Raw}), true
		}
	}
	return s.assemble(n, parts, values, kind), true
}

func isCommand(kind model.Kind) bool {
	return kind == model.CommandLine || kind == model.CommandLines
}

// parse cuts a scalar into parts. It returns false after saying what is wrong
// with its expressions.
func (s scope) parse(n *yaml.Node) ([]value.Part, bool) {
	parts, faults := value.Parse(n.Value)
	for _, f := range faults {
		s.refuse(s.l.pos(n), f.Message, f.Suggestion)
	}
	return parts, len(faults) == 0
}

// cooked refuses raw expressions, which only the text of a command may have.
func (s scope) cooked(n *yaml.Node, parts []value.Part) bool {
	all := true
	for _, p := range parts {
		if p.Expr != nil && p.Expr.Raw {
			s.refuse(s.l.pos(n), fmt.Sprintf("%q stands outside of shell text", p.Text), "write "+strings.Replace(p.Text, "raw.", "", 1)+": nothing is quoted here")
			all = false
		}
	}
	return all
}

// values returns the values of the parts of a scalar, nil for those that are
// just text.
func (s scope) values(n *yaml.Node, parts []value.Part) ([]any, bool) {
	all := true
	values := make([]any, len(parts))
	for i, p := range parts {
		if p.Expr == nil {
			continue
		}
		v, ok := s.lookup(n, p.Expr)
		if ok && len(parts) > 1 {
			if _, isText := value.Text(v); !isText {
				s.refuse(s.l.pos(n), fmt.Sprintf("%s is %s, which cannot stand in a text", p.Text, value.Describe(v)), "write it as the whole value, or name one value in it")
				ok = false
			}
		}
		if all = all && ok && s.count(n, p, v); all {
			values[i] = v
		}
	}
	return values, all
}

// count notes that a value is put in: for the hash, for who wants to see it, and
// against the limit.
func (s scope) count(n *yaml.Node, p value.Part, v any) bool {
	l := s.l
	text, isText := value.Text(v)
	size := len(text)
	if !isText {
		const each = 64 // what one more value costs, whatever it is
		value.Scalars(v, func(any) { size += each })
		text = value.JSON(v)
		size += len(text)
	}
	if l.put += size; l.put > entry.MaxPut {
		if !l.full {
			l.full = true
			s.refuse(l.pos(n), "the values that are put in have more than 64 MiB together", "")
		}
		return false
	}
	l.stamp(p.Text, text)
	l.uses = append(l.uses, model.ValueUse{Expression: p.Text, Value: value.Show(v), Pos: l.pos(n)})
	return true
}

// stamp makes the manifest's hash one of what was found out, too.
func (l *loader) stamp(parts ...string) {
	if l.sum == nil {
		l.sum = sha256.New()
	}
	for _, part := range parts {
		_ = binary.Write(l.sum, binary.BigEndian, int64(len(part))) // a hash takes every write
		_, _ = l.sum.Write([]byte(part))
	}
}

// seal makes the manifest's hash one of the values in it too, and secrets of
// those that came from the environment under the name of one.
func (l *loader) seal() {
	for _, name := range l.m.Secrets {
		if l.told[name] && l.env[name] != "" {
			l.reveal(l.env[name])
		}
	}
	if l.sum == nil {
		return
	}
	_, _ = l.sum.Write([]byte(l.m.Hash)) // a hash takes every write
	l.m.Hash = hex.EncodeToString(l.sum.Sum(nil))
	for i := range l.m.Resources { // a mask takes care of whole secrets, not of one that was cut
		for j, u := range l.m.Resources[i].Values {
			if len(l.m.SecretValues) > 0 && strings.HasSuffix(u.Value, "…") {
				l.m.Resources[i].Values[j].Value = clip(u.Value, l.m.SecretValues)
			}
		}
	}
}

// sourced adds to a problem the expressions that what is wrong came from.
func (l *loader) sourced(p model.Problem) model.Problem {
	var from []string
	if strings.HasPrefix(p.Message, "${") {
		return p // it is of one expression alone
	}
	for _, u := range l.uses {
		if u.Pos != p.Pos || slices.Contains(from, u.Expression) {
			continue
		}
		if strings.Contains(p.Message, u.Expression) {
			return p // it says so itself, and the others may have no part in it
		}
		from = append(from, u.Expression)
	}
	switch all := strings.Join(from, ", "); {
	case len(from) == 0:
	case strings.HasSuffix(p.Message, `"`) || strings.Contains(p.Message, ", got "):
		p.Message += " from " + all
	default:
		p.Message += " (from " + all + ")"
	}
	return p
}

// assemble makes one text of parts and their values; in that of a command there
// are marks where the values go.
func (s scope) assemble(n *yaml.Node, parts []value.Part, values []any, kind model.Kind) *yaml.Node {
	var marked, text strings.Builder
	f, holes := &filling{}, &model.Placeholders{}
	for i, p := range parts {
		if p.Expr == nil {
			marked.WriteString(p.Text)
			text.WriteString(p.Text)
			continue
		}
		filled, _ := value.Text(values[i])
		text.WriteString(filled)
		marked.WriteString(model.PlaceholderByte)
		f.from = append(f.from, p.Text)
		holes.Items = append(holes.Items, model.Placeholder{Text: filled, Expr: p.Text, Raw: p.Expr.Raw})
	}
	made := text.String()
	if len(holes.Items) > 0 && !strings.Contains(made, model.PlaceholderByte) {
		f.marked, f.holes = marked.String(), holes
		holes.Template = f.marked
	}
	if isCommand(kind) && f.holes != nil {
		made = f.marked
	}
	return s.graft(n, made, kind, f)
}

// loose says whether values of a kind are no texts: for one of those a text from
// the environment is what it looks like.
func loose(kind model.Kind) bool {
	switch kind {
	case model.Bool, model.Int, model.Count, model.Codes, model.CodesOrTrue:
		return true
	}
	return false
}

// graft returns a value as nodes at the place of another one. A text for a
// command's is one that has its marks already.
func (s scope) graft(n *yaml.Node, v any, kind model.Kind, f *filling) *yaml.Node {
	if text, ok := v.(string); ok && loose(kind) {
		v = value.Plain(text)
	}
	switch v := v.(type) {
	case value.Map:
		m := s.node(n, "", 0, "!!map", f)
		m.Kind = yaml.MappingNode
		for _, e := range v {
			m.Content = append(m.Content, s.node(n, e.Key, yaml.DoubleQuotedStyle, "!!str", f), s.graft(n, e.Value, kind, f))
		}
		return m
	case []any:
		list := s.node(n, "", 0, "!!seq", f)
		list.Kind = yaml.SequenceNode
		for _, item := range v {
			list.Content = append(list.Content, s.graftItem(n, item, kind, f))
		}
		return list
	case string:
		return s.node(n, v, yaml.DoubleQuotedStyle, "!!str", f)
	}
	text, _ := value.Text(v) // an int or a bool
	tag := "!!int"
	if value.TypeOf(v) == value.Bool {
		tag = "!!bool"
	}
	return s.node(n, text, 0, tag, f)
}

// graftItem is graft for an item of a list: in one of commands it is a command
// that is nothing but the value.
func (s scope) graftItem(n *yaml.Node, item any, kind model.Kind, f *filling) *yaml.Node {
	text, isText := value.Text(item)
	if kind != model.CommandLines || !isText || strings.Contains(text, model.PlaceholderByte) {
		return s.graft(n, item, kind, f)
	}
	hole := model.Placeholder{Text: text, Expr: f.from[0], Raw: f.raw}
	return s.graft(n, model.PlaceholderByte, kind, &filling{from: f.from, marked: model.PlaceholderByte, holes: &model.Placeholders{Template: model.PlaceholderByte, Items: []model.Placeholder{hole}}})
}

// node makes a scalar at the place of another node.
func (s scope) node(n *yaml.Node, text string, style yaml.Style, tag string, f *filling) *yaml.Node {
	made := &yaml.Node{Kind: yaml.ScalarNode, Value: text, Style: style, Tag: tag, Line: n.Line, Column: n.Column}
	if s.l.filled == nil {
		s.l.filled = map[*yaml.Node]*filling{}
	}
	s.l.filled[made] = f
	return made
}
