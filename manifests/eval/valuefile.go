package eval

import (
	"iter"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/shape"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/value"
)

// valueFile is a file of values that can be walked.
type valueFile struct{ *parse.File }

// pairs yields the names in the file with their values.
func (f valueFile) pairs() iter.Seq2[*yaml.Node, *yaml.Node] {
	if f.Root == nil {
		return func(func(key, under *yaml.Node) bool) {}
	}
	return parse.Pairs(f.Root)
}

// readValueFile reads a file of values: YAML by the rules for manifests, or JSON.
// It returns false after reporting why the file cannot be read.
func readValueFile(in ValueFile, sink *entry.Sink) (valueFile, bool) {
	own := entry.NewSink(in.Path)
	f := parse.Parse(in.Path, parse.FromJSON(in.Bytes), own)
	if f.Root != nil {
		if _, safe := f.Check(parse.Counts{}, own); !safe {
			f.Root = nil
		}
	}
	if f.Root != nil && f.Root.Kind != yaml.MappingNode {
		f.Refuse(own, f.Root, "a file of values is a map, not "+parse.Describe(f.Root), "write NAME: VALUE")
	}
	for _, p := range own.Problems() {
		p.Message = strings.Replace(p.Message, "the manifest is larger", "the file is larger", 1)
		sink.Refuse(p)
	}
	return valueFile{f}, own.Count() == 0
}

// readData returns the value of a node in which nothing is an expression. It
// returns false after reporting a null.
func readData(f *parse.File, n *yaml.Node, sink *entry.Sink) (any, bool) {
	all := true
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		n = parse.Target(n)
		if parse.IsNull(n) {
			all = false
			sink.Refuse(model.Problem{Pos: f.Pos(n), Message: shape.NullMessage, Suggestion: nullSuggestion})
		}
		for _, child := range n.Content {
			visit(child)
		}
	}
	visit(n)
	return plainValue(n), all
}

const nullSuggestion = `leave it out, or write "" for an empty text`

// plainValue returns the value of a node in which expressions are just text.
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
		return value.ParsePlain(n.Value)
	}
	return n.Value
}

// typeOf returns the type of the value of a node.
func typeOf(n *yaml.Node) value.Type {
	switch n = parse.Target(n); n.Kind {
	case yaml.SequenceNode:
		return value.List
	case yaml.MappingNode:
		return value.Table
	}
	return value.TypeOf(plainValue(n))
}
