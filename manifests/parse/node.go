package parse

import (
	"iter"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/model/value"
)

// IsNull reports whether a node is YAML's null: the word, or nothing at all.
func IsNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

// Target returns the node that an alias stands for, else the node itself.
func Target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func hasAlias(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, hasAlias)
}

func isMerge(key *yaml.Node) bool {
	return key.Value == "<<" && key.Tag == "!!merge"
}

// Pairs yields the keys of a map with their values: its own keys first, then
// merged ones that it does not have itself.
func Pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		for list := Flatten(n); len(list) > 0; list = list[2:] {
			if !yield(Target(list[0]), Target(list[1])) {
				return
			}
		}
	}
}

// Flatten returns the keys and values of a map in turn, merged ones included. Of
// two merged maps the first wins. It skips keys that are not texts, and returns
// nothing for a node that is not a map: Check has reported both.
func Flatten(n *yaml.Node) []*yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	plain := true
	for i := 0; i < len(n.Content); i += 2 {
		plain = plain && !isMerge(n.Content[i]) && Target(n.Content[i]).Kind == yaml.ScalarNode
	}
	if plain {
		return n.Content
	}
	var own, sources []*yaml.Node
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case Target(key).Kind != yaml.ScalarNode:
		case !isMerge(key):
			seen[Target(key).Value] = true
			own = append(own, key, value)
		case Target(value).Kind == yaml.SequenceNode:
			sources = append(sources, Target(value).Content...)
		default:
			sources = append(sources, value)
		}
	}
	for _, source := range sources {
		for key, value := range Pairs(Target(source)) {
			if !seen[key.Value] {
				seen[key.Value] = true
				own = append(own, key, value)
			}
		}
	}
	return own
}

// Lookup returns the value of a key in a map, nil when the map lacks the key or
// when n is nil.
func Lookup(n *yaml.Node, name string) *yaml.Node {
	if n == nil {
		return nil
	}
	for key, under := range Pairs(n) {
		if key.Value == name {
			return under
		}
	}
	return nil
}

// HasOddKey reports whether a map has a key that is not a text.
func HasOddKey(n *yaml.Node) bool {
	for i := 0; i < len(n.Content); i += 2 {
		if Target(n.Content[i]).Kind != yaml.ScalarNode {
			return true
		}
	}
	return false
}

// Describe names the form of a node for messages.
func Describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.MappingNode:
		return "a map"
	case IsNull(n):
		return "nothing"
	}
	return Quote(n.Value)
}

// Quote returns a text in quotes as the user wrote it, a long one shortened.
func Quote(text string) string { return strconv.Quote(value.Short(text)) }
