package eval

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/shape"
	"github.com/settle-cm/settle/model/value"
)

// Evaluate returns the value of a node, such as a for_each. It returns false after
// reporting its mistakes.
func (e *Env) Evaluate(f Frame, n *yaml.Node) (any, Found, bool) {
	var found Found
	v, ok := e.evaluateNode(f, n, &found)
	return v, e.finish(f, found), ok
}

func (e *Env) evaluateNode(f Frame, n *yaml.Node, found *Found) (any, bool) {
	n = parse.Target(n)
	switch {
	case parse.IsNull(n):
		e.refuse(f, n, shape.NullMessage, nullSuggestion)
		return nil, false
	case n.Kind == yaml.SequenceNode:
		list, all := make([]any, 0, len(n.Content)), true
		for _, child := range n.Content {
			item, ok := e.evaluateNode(f, child, found)
			list, all = append(list, item), all && ok
		}
		return list, all
	case n.Kind == yaml.MappingNode:
		m, all := value.Map{}, true
		for key, under := range parse.Pairs(n) {
			v, ok := e.evaluateNode(f, under, found)
			m, all = append(m, value.Entry{Key: key.Value, Value: v}), e.refuseKey(f, key) && all && ok
		}
		return m, all
	case !value.HasExpression(n.Value):
		return plainValue(n), true
	}
	return e.evaluateText(f, n, found)
}

// evaluateText returns the value of a scalar with expressions: of a single one its
// value, else a text.
func (e *Env) evaluateText(f Frame, n *yaml.Node, found *Found) (any, bool) {
	parts, valid := e.parseParts(f, n)
	valid = e.refuseRaw(f, n, parts) && valid
	values, ok := e.lookupParts(f, n, parts, found)
	if !ok || !valid {
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
