package outline

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
)

// explainCrowded reports an entry of several keys by its probable cause: wrong
// indentation, a missing type, or missing dashes.
func (w walker) explainCrowded(n, first, value *yaml.Node) {
	v := w.types.ByName[first.Value]
	lacksValue := v != nil && parse.IsNull(value)
	unknown, types := w.countOthers(n, first, v)
	switch {
	case lacksValue && unknown == 0:
		w.refuse(first, fmt.Sprintf("the properties stand at the same indent as %q", first.Value),
			fmt.Sprintf("indent the lines below %q by two", first.Value+":"))
	case lacksValue && types == 0:
		w.refuse(first, fmt.Sprintf("the resources stand at the same indent as %q", first.Value),
			fmt.Sprintf("indent the lines below %q by two, with a dash before each resource: \"- NAME:\"", first.Value+":"))
		w.visit(Item{Kind: Start, Type: v})
		for key, value := range parse.Pairs(n) {
			if key != first && value.Kind == yaml.MappingNode {
				w.walkNamed(v, key, value)
			}
		}
	case v == nil && w.types.HaveProperty(first.Value):
		w.refuse(n, "an entry without a type", `write the type first, "- exec:", and indent the properties below it`)
	default:
		w.refuse(n, "several types in one entry", "put a dash before each")
		for key, value := range parse.Pairs(n) {
			w.walkType(key, value)
		}
	}
}

// countOthers counts the keys of an entry after the first: those that are no
// properties of the type, and those that are types.
func (w walker) countOthers(n, first *yaml.Node, v *schema.Vocabulary) (unknown, types int) {
	for key := range parse.Pairs(n) {
		if key == first {
			continue
		}
		if v == nil || !v.Has(key.Value) {
			unknown++
		}
		if w.types.ByName[key.Value] != nil {
			types++
		}
	}
	return unknown, types
}

// explainUnnamed reports a map of several keys without a name, by its probable
// cause: wrong indentation, missing dashes, or a missing name.
func (w walker) explainUnnamed(v *schema.Vocabulary, n *yaml.Node) {
	if list := parse.Lookup(n, "name"); list != nil && list.Kind == yaml.SequenceNode {
		_, _ = w.nameReader().RefuseForm(list, schema.NameProperty.Kind.String(), "")
		w.visitNameless(v, n, nil)
		return
	}
	var name, value, property *yaml.Node // the first key that is not a property, and the first that is
	names := 0
	for key, under := range parse.Pairs(n) {
		switch {
		case !v.Has(key.Value):
			if names++; names == 1 {
				name, value = key, under
			}
		case property == nil:
			property = key
		}
	}
	switch {
	case names == 1 && property != nil && parse.IsNull(value):
		w.refuse(name, fmt.Sprintf("the properties of %q stand at the same indent as its name", name.Value),
			fmt.Sprintf("indent the lines below %q by two", name.Value+":"))
		w.visit(Item{Kind: Unread, Type: v, Name: name})
		w.visitNameless(v, n, name)
	case names == 1 && property != nil && value.Kind == yaml.MappingNode:
		w.refuse(property, fmt.Sprintf("%q stands at the indent of the name %q", property.Value, name.Value), "indent it like the other properties")
		w.walkNamed(v, name, value)
	case names > 1 && property == nil:
		w.refuse(n, "several resources in one entry", "put a dash before each")
		for key, value := range parse.Pairs(n) {
			w.walkNamed(v, key, value)
		}
	default:
		w.refuse(n, "a resource without a name", `add "name:", or write "- NAME:" and indent the properties below it`)
		w.visitNameless(v, n, nil)
	}
}
