package manifests

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model/value"
)

// evaluate returns what stands in the default of a variable, or in a for_each,
// as a value. It returns false after saying what is wrong with it.
func (s scope) evaluate(n *yaml.Node) (any, bool) {
	n = parse.Target(n)
	switch {
	case parse.IsNull(n):
		s.refuse(s.l.pos(n), "null is no value", `leave it out, or write "" for an empty text`)
		return nil, false
	case n.Kind == yaml.SequenceNode:
		list, all := make([]any, 0, len(n.Content)), true
		for _, child := range n.Content {
			item, ok := s.evaluate(child)
			list, all = append(list, item), all && ok
		}
		return list, all
	case n.Kind == yaml.MappingNode:
		m, all := value.Map{}, true
		for key, under := range parse.Pairs(n) {
			v, ok := s.evaluate(under)
			m, all = append(m, value.Entry{Key: key.Value, Value: v}), s.fixed(key) && all && ok
		}
		return m, all
	case !value.Has(n.Value):
		return plainValue(n), true
	}
	return s.evaluateText(n)
}

func (s scope) evaluateText(n *yaml.Node) (any, bool) {
	parts, sound := s.parse(n)
	sound = s.cooked(n, parts) && sound
	values, ok := s.values(n, parts)
	if !ok || !sound {
		return nil, false
	}
	if len(parts) == 1 && parts[0].Expr != nil {
		return values[0], true
	}
	var b strings.Builder
	for i, p := range parts {
		text := p.Text
		if p.Expr != nil {
			text, _ = value.Text(values[i])
		}
		b.WriteString(text)
	}
	return b.String(), true
}

// typeOf returns the type of what a node means.
func typeOf(n *yaml.Node) value.Type {
	switch n = parse.Target(n); n.Kind {
	case yaml.SequenceNode:
		return value.List
	case yaml.MappingNode:
		return value.Table
	}
	return value.TypeOf(plainValue(n))
}

// plainValue returns what a node means where expressions are just text.
func plainValue(n *yaml.Node) any {
	switch n = parse.Target(n); {
	case n.Kind == yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, child := range n.Content {
			list = append(list, plainValue(child))
		}
		return list
	case n.Kind == yaml.MappingNode:
		m := value.Map{}
		for key, under := range parse.Pairs(n) {
			m = append(m, value.Entry{Key: key.Value, Value: plainValue(under)})
		}
		return m
	case n.Style == 0:
		return value.Plain(n.Value)
	}
	return n.Value
}
