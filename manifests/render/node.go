package render

import (
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/value"
)

// renderValue returns a value as a manifest would hold it.
func renderValue(kind model.Kind, v model.Value) *yaml.Node {
	switch kind {
	case model.Environment, model.TextMap:
		m := &yaml.Node{Kind: yaml.MappingNode}
		for _, p := range v.Pairs {
			m.Content = append(m.Content, textNode(p.Key, true), textNode(escape(p.Value.Text), true))
		}
		return flowIfEmpty(m)
	case model.AnyValue:
		return renderAny(v)
	case model.Bool, model.Int, model.Count, model.Codes, model.CodesOrTrue:
		if v.Shape != model.List {
			return textNode(v.Text, false)
		}
	}
	if v.Shape == model.List {
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range v.Items {
			list.Content = append(list.Content, renderValue(kindOfItem(kind), item))
		}
		return flowIfEmpty(list)
	}
	text := v.Text
	if v.Placeholders.Each() != nil {
		text = v.Placeholders.Filled
	}
	return textNode(escape(text), v.Quoted)
}

func kindOfItem(kind model.Kind) model.Kind {
	if kind == model.Codes || kind == model.CodesOrTrue {
		return model.Int
	}
	return model.Text
}

// flowIfEmpty writes an empty list or map as [] or {}.
func flowIfEmpty(n *yaml.Node) *yaml.Node {
	if len(n.Content) == 0 {
		n.Style = yaml.FlowStyle
	}
	return n
}

func renderAny(v model.Value) *yaml.Node {
	switch v.Shape {
	case model.List:
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range v.Items {
			list.Content = append(list.Content, renderAny(item))
		}
		return flowIfEmpty(list)
	case model.Map:
		m := &yaml.Node{Kind: yaml.MappingNode}
		for _, p := range v.Pairs {
			m.Content = append(m.Content, textNode(p.Key, true), renderAny(p.Value))
		}
		return flowIfEmpty(m)
	}
	if !v.Quoted && v.Text == "" {
		return textNode("null", false)
	}
	return textNode(escape(v.Text), v.Quoted)
}

// escape returns a text that stands for itself, also where it looks like an
// expression.
func escape(text string) string {
	if !value.HasExpression(text) {
		return text
	}
	return value.Escape(text)
}

// simpleText matches texts that every reader of YAML takes as they stand, unless
// they are among oldWords.
var simpleText = entry.Pattern(`^[A-Za-z/.$][A-Za-z0-9_/.$=+@%^~-]*([ ,:;()]?[A-Za-z0-9_/.$=+@%^~#"'{}\[\]&|<>*-]+)*$`)

// textNode returns a text as a scalar: unquoted where it was not quoted and need
// not be, else in the simplest form that keeps it a text.
func textNode(text string, quoted bool) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
	bare := yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if !quoted {
		if out, err := yaml.Marshal(&bare); err == nil && string(out) == text+"\n" {
			return n
		}
	}
	n.Tag = "!!str" // a text that YAML would quote by itself gets the same form as one that was quoted
	switch {
	case pipelineCommand().MatchString(text):
		n.Style = yaml.DoubleQuotedStyle
	case text != "" && len(text) < 200 && bare.ShortTag() == "!!str" && simpleText().MatchString(text) && !slices.Contains(oldWords, strings.ToLower(text)):
	case strings.Contains(text, "\n") && fitsBlock(text):
		n.Style = yaml.LiteralStyle
	default:
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// pipelineCommand matches text that CI systems take for a command when a step
// prints it at the start of a line: it has to be escaped.
var pipelineCommand = entry.Pattern(`(^|\n)[ \t]*::|##\[`)

// oldWords are bools to readers of older versions of YAML.
var oldWords = []string{"y", "n", "yes", "no", "on", "off"}

var notInBlock = regexp.MustCompile(`^[ \t\n]|[ \t]\n|[ \t]$|\n\n$|[^\n\x20-\x7E\x{A1}-\x{2027}\x{202A}-\x{D7FF}\x{E000}-\x{FEFE}]`)

// fitsBlock reports whether a text can be written as a block of lines.
func fitsBlock(text string) bool { return !notInBlock.MatchString(text) }
