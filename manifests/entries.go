package manifests

import (
	"cmp"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
)

// settings are the values of properties, by name.
type settings = map[string]model.Value

// walkEntries reads the list of entries: each a type with its resources.
func (l *loader) walkEntries(n *yaml.Node) {
	for _, item := range n.Content {
		item = parse.Target(item)
		if item.Kind != yaml.MappingNode {
			l.refuse(item, "want a type with its resources, got "+parse.Describe(item), `write the type first: "- exec:"`)
			continue
		}
		var first, value *yaml.Node
		count := 0
		for k, v := range parse.Pairs(item) {
			if count++; count == 1 {
				first, value = k, v
			}
		}
		switch {
		case count == 0:
			l.refuse(item, "an entry without a type", `write the type first: "- exec:"`)
		case count == 1:
			l.typed(first, value)
		default:
			l.crowded(item, first, value)
		}
	}
}

// crowded says what is probably meant by an entry of several keys.
func (l *loader) crowded(n, first, value *yaml.Node) {
	v := l.vocabularies[first.Value]
	foreign, types := 0, 0 // keys after the first that are no properties of its type, and those that are types
	for key := range parse.Pairs(n) {
		if key != first && (v == nil || v.ByName[key.Value] == nil) {
			foreign++
		}
		if key != first && l.vocabularies[key.Value] != nil {
			types++
		}
	}
	switch {
	case v != nil && parse.IsNull(value) && foreign == 0:
		l.refuse(first, fmt.Sprintf("the properties stand at the same indent as %q", first.Value),
			fmt.Sprintf("indent the lines below %q by two", first.Value+":"))
	case v != nil && parse.IsNull(value) && types == 0:
		l.refuse(first, fmt.Sprintf("the resources stand at the same indent as %q", first.Value),
			fmt.Sprintf("indent the lines below %q by two, with a dash before each resource: \"- NAME:\"", first.Value+":"))
		for key, value := range parse.Pairs(n) {
			if key != first && value.Kind == yaml.MappingNode {
				l.keyed(v, key, value, l.defaults[v.Name])
			}
		}
	case v == nil && l.propertyOfAny(first.Value):
		l.refuse(n, "an entry without a type", `write the type first, "- exec:", and indent the properties below it`)
	default:
		l.refuse(n, "several types in one entry", "put a dash before each")
		for key, value := range parse.Pairs(n) {
			l.typed(key, value)
		}
	}
}

func (l *loader) propertyOfAny(word string) bool {
	for _, v := range l.vocabularies {
		if v.ByName[word] != nil {
			return true
		}
	}
	return false
}

// typed reads what stands under a type: a list of resources, or a single one.
func (l *loader) typed(key, value *yaml.Node) {
	v := l.vocabularies[key.Value]
	if v == nil {
		meant := cmp.Or(l.refuseWord(key, schema.UnknownType(key.Value, l.typeNames())), key.Value) // what is wrong under it is said too
		if v = l.vocabularies[meant]; v == nil {
			// what it holds is known by name, so that references to it are no problems of their own
			v = &schema.Vocabulary{Type: &model.Type{Name: meant}}
		}
	}
	switch {
	case parse.IsNull(value):
	case value.Kind == yaml.SequenceNode:
		l.list(v, value)
	case value.Kind == yaml.MappingNode:
		l.single(v, value)
	default:
		l.refuse(value, fmt.Sprintf("want resources under %q, got %s", key.Value, parse.Describe(value)),
			fmt.Sprintf("write it as a list: \"- %s:\"", value.Value))
	}
}

// list reads the resources under a type; its first entry may be defaults for the rest.
func (l *loader) list(v *schema.Vocabulary, n *yaml.Node) {
	d := l.defaults[v.Name]
	l.m.Resources = slices.Grow(l.m.Resources, len(n.Content))
	for i, item := range n.Content {
		item = parse.Target(item)
		switch {
		case item.Kind == yaml.ScalarNode && !parse.IsNull(item):
			l.refuse(item, "want a resource, got "+parse.Describe(item), "end the name with a colon")
			continue
		case item.Kind != yaml.MappingNode:
			l.refuse(item, "want a resource, got "+parse.Describe(item), `write its name: "- NAME:"`)
			continue
		}
		if key, value := only(item); key != nil && key.Value == schema.Reserved {
			if i > 0 {
				l.refuse(key, "defaults come first in their list", "move them up")
			} else if v.ByName != nil {
				d = l.readDefaults(v, value).over(d)
			}
			continue
		}
		l.identify(v, item, d)
	}
}

// only returns the key of a map that has one, and its value.
func only(n *yaml.Node) (key, value *yaml.Node) {
	if all := parse.Flatten(n); len(all) == 2 {
		return parse.Target(all[0]), parse.Target(all[1])
	}
	return nil, nil
}

// nameOf returns the value of the name key of a map, nil when it has none or
// when a resource of that name stands under it.
func nameOf(n *yaml.Node) *yaml.Node {
	for key, value := range parse.Pairs(n) {
		if key.Value == "name" && value.Kind == yaml.ScalarNode {
			return value
		}
	}
	return nil
}

// single reads the one resource of a type that is given as a map.
func (l *loader) single(v *schema.Vocabulary, n *yaml.Node) {
	if nameOf(n) != nil || v.ByName == nil {
		l.identify(v, n, l.defaults[v.Name])
		return
	}
	for key := range parse.Pairs(n) {
		if v.ByName[key.Value] != nil {
			l.refuse(n, "a resource without a name", `add "name:", or make it a list: "- NAME:" with the properties indented below`)
			l.nameless(v, n, nil)
			return
		}
	}
	l.refuse(n, "want a list of resources, or one with a name", `put a dash before each resource: "- NAME:"`)
	for key, value := range parse.Pairs(n) {
		l.keyed(v, key, value, l.defaults[v.Name])
	}
}

// identify finds the name of a resource: the one key of a map, or its name.
func (l *loader) identify(v *schema.Vocabulary, n *yaml.Node, d *defaults) {
	if name := nameOf(n); name != nil {
		if parse.IsNull(name) {
			_, _ = scope{l: l, property: "name"}.value(schema.NameProperty, name, name)
			l.nameless(v, n, nil)
			return
		}
		scope{l: l, property: "name"}.doubtCut(name, true)
		l.declared(v, name, n, d)
		return
	}
	key, value := only(n)
	switch {
	case key != nil:
		l.keyed(v, key, value, d)
	case parse.HasOddKey(n): // which was said already
	default:
		l.unnamed(v, n)
	}
}

// keyed reads a resource whose name is a key.
func (l *loader) keyed(v *schema.Vocabulary, key, value *yaml.Node, d *defaults) {
	switch {
	case value.Kind == yaml.MappingNode:
	case parse.IsNull(value):
		value = nil
	case v.ByName[key.Value] != nil:
		l.refuse(key, "a resource without a name", `add "name:", or write "- NAME:" and indent the properties below it`)
		return
	default:
		suggestion := "write each as PROPERTY: VALUE on a line of its own"
		if v.ByName["command"] != nil {
			suggestion = `write "command:" before it, on a line of its own`
		}
		l.refuse(value, fmt.Sprintf("want properties under %q, got %s", key.Value, parse.Describe(value)), suggestion)
		return
	}
	l.declared(v, key, value, d)
}

// unnamed says what is probably meant by a map of several keys, none of which
// is a name.
func (l *loader) unnamed(v *schema.Vocabulary, n *yaml.Node) {
	var name, value, property *yaml.Node // the first key that is no property, and the first that is one
	names := 0
	for key, under := range parse.Pairs(n) {
		if key.Value == "name" && under.Kind == yaml.SequenceNode {
			_, _ = scope{l: l, property: "name"}.want(under, schema.NameProperty.Kind.String(), "")
			l.nameless(v, n, nil)
			return
		}
		switch {
		case v.ByName[key.Value] == nil:
			if names++; names == 1 {
				name, value = key, under
			}
		case property == nil:
			property = key
		}
	}
	switch {
	case names == 1 && property != nil && parse.IsNull(value):
		l.refuse(name, fmt.Sprintf("the properties of %q stand at the same indent as its name", name.Value),
			fmt.Sprintf("indent the lines below %q by two", name.Value+":"))
		l.ghosts[model.Ref{Type: v.Name, Name: name.Value}] = true
		l.nameless(v, n, name)
	case names == 1 && property != nil && value.Kind == yaml.MappingNode:
		l.refuse(property, fmt.Sprintf("%q stands at the indent of the name %q", property.Value, name.Value), "indent it like the other properties")
		l.keyed(v, name, value, nil)
	case names > 1 && property == nil:
		l.refuse(n, "several resources in one entry", "put a dash before each")
		for key, value := range parse.Pairs(n) {
			l.keyed(v, key, value, nil)
		}
	default:
		l.refuse(n, "a resource without a name", `add "name:", or write "- NAME:" and indent the properties below it`)
		l.nameless(v, n, nil)
	}
}
