package manifests

import (
	"iter"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model"
)

// valueFile yields the keys of a file of values with what stands under them,
// after saying what is wrong with the file. It is YAML as a manifest is, by the
// same rules, or JSON.
func (l *loader) valueFile(f ValueFile) iter.Seq2[*yaml.Node, *yaml.Node] {
	sink := entry.NewSink(f.Path)
	file := parse.Parse(f.Path, parse.FromJSON(f.Bytes), sink)
	root := file.Root
	if root != nil {
		if _, ok := file.Check(parse.Counts{}, sink); !ok {
			root = nil
		}
	}
	if root != nil && root.Kind != yaml.MappingNode {
		file.Refuse(sink, root, "a file of values is a map, not "+parse.Describe(root), "write NAME: VALUE")
	}
	for _, p := range sink.Problems() {
		p.Message = strings.Replace(p.Message, "the manifest is larger", "the file is larger", 1)
		l.problem(p)
	}
	l.unread = l.unread || sink.Count() > 0
	if root == nil {
		return func(func(key, under *yaml.Node) bool) {}
	}
	return parse.Pairs(root)
}

// data returns what a node of a file of values means: nothing in it is an
// expression. It returns false after saying what is wrong.
func (l *loader) data(path string, n *yaml.Node) (any, bool) {
	all := true
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		n = parse.Target(n)
		if parse.IsNull(n) {
			all = false
			l.problem(model.Problem{Pos: model.Pos{File: path, Line: n.Line, Column: n.Column}, Message: "null is no value", Suggestion: `leave it out, or write "" for an empty text`})
		}
		for _, child := range n.Content {
			visit(child)
		}
	}
	visit(n)
	return plainValue(n), all
}
