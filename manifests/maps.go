package manifests

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model"
)

// environment reads variables, as a list of KEY=VALUE or as a map.
func (s scope) environment(n *yaml.Node, kind model.Kind) (model.Value, bool) {
	v := model.Value{Pos: s.l.pos(n)}
	var all bool
	switch n.Kind {
	case yaml.SequenceNode:
		v.Shape = model.List
		v.Pairs, all = s.assignments(n)
	case yaml.MappingNode:
		v.Shape = model.Map
		v.Pairs, all = s.pairs(n, "leave the variable out")
	default:
		return s.want(n, kind.String(), "")
	}
	lines := make(map[string]int, len(v.Pairs))
	for _, p := range v.Pairs {
		switch {
		case p.Key == "" || strings.Contains(p.Key, "="):
			s.refuse(p.Pos, fmt.Sprintf("%q is no name of a variable", p.Key), "")
		case p.Value.Text == "":
			s.refuse(p.Value.Pos, fmt.Sprintf("the value of %s is empty", p.Key), "leave the variable out")
		case lines[p.Key] > 0 && v.Shape == model.Map: // said already, as of every map
		case lines[p.Key] > 0:
			s.refuse(p.Pos, fmt.Sprintf("%s is already set at line %d", p.Key, lines[p.Key]), "")
		default:
			lines[p.Key] = p.Line
			continue
		}
		all = false
	}
	return v, all
}

// assignments reads a list of KEY=VALUE.
func (s scope) assignments(n *yaml.Node) ([]model.Pair, bool) {
	list := make([]model.Pair, 0, len(n.Content))
	all := true
	for _, item := range n.Content {
		item = parse.Target(item)
		if item.Kind != yaml.ScalarNode || parse.IsNull(item) {
			suggestion := ""
			if item.Kind == yaml.MappingNode {
				suggestion = "write KEY=VALUE, or the variables as a map without dashes"
			}
			_, all = s.want(item, "KEY=VALUE", suggestion)
			continue
		}
		key, value, ok := strings.Cut(item.Value, "=")
		if !ok {
			s.refuse(s.l.pos(item), "want KEY=VALUE, got a text without =", "") // which may be a secret
			all = false
			continue
		}
		s.doubtCut(item, false)
		all = s.whole(item) && all
		pair := model.Pair{Pos: s.l.pos(item), Key: key, Value: s.at(item)}
		pair.Value.Text = value
		if _, marked, ok := strings.Cut(pair.Value.Template(), "="); ok && pair.Value.Placeholders != nil {
			pair.Value.Placeholders = &model.Placeholders{Template: marked}
		}
		list = append(list, pair)
	}
	return list, all
}

// pairs reads a map from text to text; empty says what to do for no text.
func (s scope) pairs(n *yaml.Node, empty string) ([]model.Pair, bool) {
	list := make([]model.Pair, 0, len(n.Content)/2)
	all := true
	for key, value := range parse.Pairs(n) {
		if parse.IsNull(value) {
			s.refuse(s.l.pos(key), fmt.Sprintf("%s has no value", key.Value), empty)
			all = false
			continue
		}
		s.doubtCut(value, false)
		v, ok := s.argument(value, "a text for "+key.Value)
		if all = all && ok; ok {
			list = append(list, model.Pair{Pos: s.l.pos(key), Key: key.Value, Value: v})
		}
	}
	return list, all
}

func (s scope) textMap(n *yaml.Node, kind model.Kind) (model.Value, bool) {
	if n.Kind != yaml.MappingNode {
		return s.want(n, kind.String(), "")
	}
	list, ok := s.pairs(n, `write "" for an empty text`)
	return model.Value{Pos: s.l.pos(n), Shape: model.Map, Pairs: list}, ok
}

// whatever takes over any value as it stands.
func (s scope) whatever(n *yaml.Node) (model.Value, bool) {
	v, all := s.at(n), true
	switch n.Kind {
	case yaml.SequenceNode:
		v.Shape = model.List
		for _, item := range n.Content {
			read, ok := s.whatever(parse.Target(item))
			v.Items, all = append(v.Items, read), all && ok
		}
	case yaml.MappingNode:
		v.Shape = model.Map
		for key, value := range parse.Pairs(n) {
			read, ok := s.whatever(value)
			v.Pairs, all = append(v.Pairs, model.Pair{Pos: s.l.pos(key), Key: key.Value, Value: read}), all && ok
		}
	}
	return v, all
}
