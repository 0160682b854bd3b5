package eval

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/shape"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/value"
)

// graft holds the nodes that one expansion makes of values, and what it found.
type graft struct {
	found    Found
	nodes    map[*yaml.Node]*shape.Fill
	allowRaw bool // raw expressions are allowed: the text may become a command
}

// fills tells the readers of kinds which nodes came from expressions.
func (g *graft) fills() shape.Fills { return shape.Fills{Nodes: g.nodes, Uses: g.found.Uses} }

// addText makes one text of parts and their values. The text of a command gets a
// placeholder byte for each value: how it is quoted is up to the provider.
func (g *graft) addText(n *yaml.Node, parts []value.Part, values []any, kind model.Kind) *yaml.Node {
	var template, text strings.Builder
	fill, placeholders := &shape.Fill{}, &model.Placeholders{}
	for i, p := range parts {
		if p.Expr == nil {
			template.WriteString(p.Text)
			text.WriteString(p.Text)
			continue
		}
		put, _ := value.Text(values[i])
		text.WriteString(put)
		template.WriteString(model.PlaceholderByte)
		fill.From = append(fill.From, p.Text)
		placeholders.Items = append(placeholders.Items, model.Placeholder{Text: put, Expr: p.Text, Raw: p.Expr.Raw})
	}
	made := text.String()
	if len(placeholders.Items) > 0 && !strings.Contains(made, model.PlaceholderByte) {
		fill.Template, fill.Placeholders = template.String(), placeholders
		placeholders.Template = fill.Template
	}
	if isCommand(kind) && fill.Placeholders != nil {
		made = fill.Template
	}
	return g.addNodes(n, made, kind, fill)
}

// addValue makes nodes of the value of a single expression.
func (g *graft) addValue(n *yaml.Node, p value.Part, v any, kind model.Kind) *yaml.Node {
	return g.addNodes(n, v, kind, &shape.Fill{From: []string{p.Text}, Raw: p.Expr.Raw})
}

// isTyped reports whether values of a kind are not texts. For such a kind a text
// from the environment counts as the number or bool that it looks like.
func isTyped(kind model.Kind) bool {
	switch kind {
	case model.Bool, model.Int, model.Count, model.Codes, model.CodesOrTrue:
		return true
	}
	return false
}

// addNodes returns a value as nodes at the place of another node.
func (g *graft) addNodes(n *yaml.Node, v any, kind model.Kind, fill *shape.Fill) *yaml.Node {
	if text, ok := v.(string); ok && isTyped(kind) {
		v = value.ParsePlain(text)
	}
	switch v := v.(type) {
	case value.Map:
		m := g.addNode(n, "", 0, "!!map", fill)
		m.Kind = yaml.MappingNode
		for _, e := range v {
			m.Content = append(m.Content, g.addNode(n, e.Key, yaml.DoubleQuotedStyle, "!!str", fill), g.addNodes(n, e.Value, kind, fill))
		}
		return m
	case []any:
		list := g.addNode(n, "", 0, "!!seq", fill)
		list.Kind = yaml.SequenceNode
		for _, item := range v {
			list.Content = append(list.Content, g.addItem(n, item, kind, fill))
		}
		return list
	case string:
		return g.addNode(n, v, yaml.DoubleQuotedStyle, "!!str", fill)
	}
	text, _ := value.Text(v) // an int or a bool
	tag := "!!int"
	if value.TypeOf(v) == value.Bool {
		tag = "!!bool"
	}
	return g.addNode(n, text, 0, tag, fill)
}

// addItem is addNodes for an item of a list. In a list of commands the item is a
// command that consists of the value alone.
func (g *graft) addItem(n *yaml.Node, item any, kind model.Kind, fill *shape.Fill) *yaml.Node {
	text, isText := value.Text(item)
	if kind != model.CommandLines || !isText || strings.Contains(text, model.PlaceholderByte) {
		return g.addNodes(n, item, kind, fill)
	}
	placeholders := &model.Placeholders{
		Template: model.PlaceholderByte,
		Items:    []model.Placeholder{{Text: text, Expr: fill.From[0], Raw: fill.Raw}},
	}
	return g.addNodes(n, model.PlaceholderByte, kind, &shape.Fill{From: fill.From, Template: model.PlaceholderByte, Placeholders: placeholders})
}

// addNode makes a scalar at the place of another node.
func (g *graft) addNode(n *yaml.Node, text string, style yaml.Style, tag string, fill *shape.Fill) *yaml.Node {
	made := &yaml.Node{Kind: yaml.ScalarNode, Value: text, Style: style, Tag: tag, Line: n.Line, Column: n.Column}
	if g.nodes == nil {
		g.nodes = map[*yaml.Node]*shape.Fill{}
	}
	g.nodes[made] = fill
	return made
}
