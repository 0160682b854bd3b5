package manifests

import (
	"iter"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/model"
)

// valueFile yields the keys of a file of values with what stands under them,
// after saying what is wrong with the file. It is YAML as a manifest is, by the
// same rules, or JSON.
func (l *loader) valueFile(f ValueFile) iter.Seq2[*yaml.Node, *yaml.Node] {
	file := newLoader(Source{Path: f.Path, Bytes: f.Bytes}, nil)
	root := file.parse(fromJSON(f.Bytes))
	if root != nil && !file.sound(root) {
		root = nil
	}
	if root != nil && root.Kind != yaml.MappingNode {
		file.refuse(root, "a file of values is a map, not "+describe(root), "write NAME: VALUE")
	}
	for _, p := range file.problems {
		p.Message = strings.Replace(p.Message, "the manifest is larger", "the file is larger", 1)
		l.problem(p)
	}
	l.unread = l.unread || len(file.problems) > 0
	if root == nil {
		return func(func(key, under *yaml.Node) bool) {}
	}
	return pairs(root)
}

// data returns what a node of a file of values means: nothing in it is an
// expression. It returns false after saying what is wrong.
func (l *loader) data(path string, n *yaml.Node) (any, bool) {
	all := true
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		n = target(n)
		if isNull(n) {
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
