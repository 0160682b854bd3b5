package shape

import (
	"fmt"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model"
)

// readEnvironment reads variables, as a list of KEY=VALUE or as a map.
func readEnvironment(r Reader, p *model.Property, n *yaml.Node) (model.Value, bool) {
	v := model.Value{Pos: r.File.Pos(n)}
	var all bool
	switch n.Kind {
	case yaml.SequenceNode:
		v.Shape = model.List
		v.Pairs, all = r.readAssignments(n)
	case yaml.MappingNode:
		v.Shape = model.Map
		v.Pairs, all = r.readPairs(n, `leave the variable out, or write "" for an empty text`)
	default:
		return r.RefuseForm(n, p.Kind.String(), "")
	}
	return v, r.checkVariables(v) && all
}

// checkVariables reports names that cannot be set, and names given twice. An empty
// value is one: the variable is set and empty. It returns true when there are no such mistakes.
func (r Reader) checkVariables(v model.Value) bool {
	all := true
	lines := make(map[string]int, len(v.Pairs))
	for _, p := range v.Pairs {
		switch {
		case p.Key == "" || strings.Contains(p.Key, "="):
			r.Refuse(p.Pos, fmt.Sprintf("%q is no name of a variable", p.Key), "")
		case v.Shape == model.List && strings.Contains(p.Key, "\x00"): // reported with the whole text
		case strings.ContainsFunc(p.Key, unicode.IsControl):
			r.Refuse(p.Pos, fmt.Sprintf("the name %q has a control character in it", p.Key), "write one variable an item, without line breaks in its name")
		case lines[p.Key] > 0 && v.Shape == model.Map: // parse has reported it, as of every map
		case lines[p.Key] > 0:
			r.Refuse(p.Pos, fmt.Sprintf("%s is already set at line %d", p.Key, lines[p.Key]), "")
		default:
			lines[p.Key] = p.Line
			continue
		}
		all = false
	}
	return all
}

// readAssignments reads a list of KEY=VALUE.
func (r Reader) readAssignments(n *yaml.Node) ([]model.Pair, bool) {
	list := make([]model.Pair, 0, len(n.Content))
	all := true
	for _, item := range n.Content {
		item = parse.Target(item)
		if item.Kind != yaml.ScalarNode || parse.IsNull(item) {
			suggestion := ""
			if item.Kind == yaml.MappingNode {
				suggestion = "write KEY=VALUE, or the variables as a map without dashes"
			}
			_, all = r.RefuseForm(item, "KEY=VALUE", suggestion)
			continue
		}
		key, value, ok := strings.Cut(item.Value, "=")
		if !ok { // the text itself is not shown: it may be a secret
			r.Refuse(r.File.Pos(item), "want KEY=VALUE, got a text without =", "")
			all = false
			continue
		}
		r.WarnComment(item, false)
		all = r.checkZero(item) && all
		pair := model.Pair{Pos: r.File.Pos(item), Key: key, Value: r.ValueAt(item)}
		pair.Value.Text = value
		if _, template, ok := strings.Cut(pair.Value.Template(), "="); ok && pair.Value.Placeholders != nil {
			pair.Value.Placeholders = &model.Placeholders{Template: template}
		}
		list = append(list, pair)
	}
	return list, all
}

// readPairs reads a map from text to text. emptySuggestion is for a missing text.
func (r Reader) readPairs(n *yaml.Node, emptySuggestion string) ([]model.Pair, bool) {
	list := make([]model.Pair, 0, len(n.Content)/2)
	all := true
	for key, value := range parse.Pairs(n) {
		if parse.IsNull(value) {
			r.Refuse(r.File.Pos(key), fmt.Sprintf("%s has no value", key.Value), emptySuggestion)
			all = false
			continue
		}
		r.WarnComment(value, false)
		v, ok := r.readArgument(value, "a text for "+key.Value)
		if all = all && ok; ok {
			list = append(list, model.Pair{Pos: r.File.Pos(key), Key: key.Value, Value: v})
		}
	}
	return list, all
}

// readTextMap reads a map from text to text.
func readTextMap(r Reader, p *model.Property, n *yaml.Node) (model.Value, bool) {
	if n.Kind != yaml.MappingNode {
		return r.RefuseForm(n, p.Kind.String(), "")
	}
	list, ok := r.readPairs(n, `write "" for an empty text`)
	return model.Value{Pos: r.File.Pos(n), Shape: model.Map, Pairs: list}, ok
}
