package shape

import (
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model"
)

// readTexts reads the kinds that are a text or a list of texts.
func (r Reader) readTexts(n *yaml.Node, kind model.Kind) (model.Value, bool) {
	isCommand := kind == model.CommandLine || kind == model.CommandLines
	readOne := func(n *yaml.Node) (model.Value, bool) {
		r.WarnComment(n, isCommand || kind == model.Refs)
		if isCommand {
			return r.readArgument(n, kind.String())
		}
		return r.ReadLine(n)
	}
	if n.Kind == yaml.ScalarNode {
		return readOne(n)
	}
	if n.Kind != yaml.SequenceNode {
		return r.RefuseForm(n, kind.String(), "")
	}
	v := model.Value{Pos: r.File.Pos(n), Shape: model.List, Items: make([]model.Value, 0, len(n.Content))}
	all := true
	for _, item := range n.Content {
		item = parse.Target(item)
		if parse.IsNull(item) || item.Kind != yaml.ScalarNode {
			_, all = r.RefuseForm(item, "a text", "")
			continue
		}
		read, ok := readOne(item)
		all = all && ok
		v.Items = append(v.Items, read)
	}
	return v, all
}

// readCodes reads a list of exit codes, or for CodesOrTrue a bool. false takes
// back a default.
func readCodes(r Reader, p *model.Property, n *yaml.Node) (model.Value, bool) {
	v, want := r.ValueAt(n), p.Kind.String()
	isBool := n.Kind == yaml.ScalarNode && n.Style == 0 && (n.Value == "true" || n.Value == "false")
	switch {
	case p.Kind == model.CodesOrTrue && isBool:
		v.Bool = n.Value == "true"
		return v, true
	case n.Kind == yaml.ScalarNode && decimal.MatchString(n.Value):
		return r.RefuseForm(n, want, "write ["+n.Value+"]")
	case n.Kind != yaml.SequenceNode:
		return r.RefuseForm(n, want, "")
	case len(n.Content) == 0:
		r.Refuse(v.Pos, "the list is empty", "leave it out, or name at least one exit code")
		return v, false
	}
	v.Shape, v.Text, v.Items = model.List, "", make([]model.Value, 0, len(n.Content))
	all := true
	for _, item := range n.Content {
		code, ok := r.readCode(parse.Target(item))
		all = all && ok
		if ok {
			v.Items = append(v.Items, code)
		}
	}
	return v, all
}

// readCode reads one exit code.
func (r Reader) readCode(n *yaml.Node) (model.Value, bool) {
	number, err := strconv.Atoi(n.Value)
	switch {
	case n.Kind == yaml.ScalarNode && n.Style != 0 && err == nil:
		return r.RefuseForm(n, "an exit code", "write "+n.Value+" without quotes")
	case n.Kind == yaml.ScalarNode && err == nil && decimal.MatchString(n.Value) && strconv.Itoa(number) != n.Value:
		return r.RefuseForm(n, "an exit code without leading zeros", "write "+strconv.Itoa(number))
	case n.Kind != yaml.ScalarNode || err != nil || strconv.Itoa(number) != n.Value || number < 0 || number > 255:
		return r.RefuseForm(n, "an exit code from 0 to 255", "")
	}
	v := r.ValueAt(n)
	v.Int = number
	return v, true
}

// readAny reads a value of any form as it stands.
func (r Reader) readAny(n *yaml.Node) model.Value {
	v := r.ValueAt(n)
	switch n.Kind {
	case yaml.SequenceNode:
		v.Shape = model.List
		for _, item := range n.Content {
			v.Items = append(v.Items, r.readAny(parse.Target(item)))
		}
	case yaml.MappingNode:
		v.Shape = model.Map
		for key, value := range parse.Pairs(n) {
			v.Pairs = append(v.Pairs, model.Pair{Pos: r.File.Pos(key), Key: key.Value, Value: r.readAny(value)})
		}
	}
	return v
}
