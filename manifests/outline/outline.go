// Package outline finds the resources in the tree of a file: which node is a type,
// which a name, which holds properties. It evaluates nothing. Where the structure is
// wrong it suggests the probable intention and goes on with that, so that
// the mistakes below are reported too.
package outline

import (
	"cmp"
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/manifests/shape"
)

// Section holds the nodes of a file that are read after the keys of all files.
type Section struct {
	File     *parse.File
	Defaults *yaml.Node // nil for none
	Entries  *yaml.Node // nil for none
	TypeKey  *yaml.Node // a type that stands where a key should; nil for none
	Typed    *yaml.Node // the node under TypeKey
}

// Kind is the meaning of an Item.
type Kind uint8

// The kinds of items.
const (
	Start    Kind = iota // resources of a type begin; Count says how many there may be
	Defaults             // Properties are defaults for the resources up to the next Start
	Resource             // a resource
	Nameless             // properties of a resource whose name is unknown: only to be checked
	Unread               // a resource of which only the name is known
)

// Item is one step through the resources of a file.
type Item struct {
	Kind       Kind
	Type       *schema.Vocabulary
	Name       *yaml.Node // of Resource and Unread
	Properties *yaml.Node // nil for none
	Except     *yaml.Node // a key of Properties that is not a property; nil for none
	Count      int
}

// walker walks one file.
type walker struct {
	file  *parse.File
	types schema.Types
	sink  *entry.Sink
	visit func(Item)
}

// Walk visits the resources of a file in their order. Problems go to the sink.
func Walk(s Section, types schema.Types, sink *entry.Sink, visit func(Item)) {
	w := walker{s.File, types, sink, visit}
	if s.TypeKey != nil {
		w.walkType(s.TypeKey, s.Typed)
	}
	switch entries := s.Entries; {
	case entries == nil || parse.IsNull(entries):
	case entries.Kind != yaml.SequenceNode:
		w.refuse(entries, "want a list of entries under resources, got "+parse.Describe(entries), `begin each entry with a dash: "- exec:"`)
		for key, value := range parse.Pairs(entries) {
			if types.ByName[key.Value] != nil {
				w.walkType(key, value)
			}
		}
	default:
		for _, item := range entries.Content {
			w.walkEntry(parse.Target(item))
		}
	}
}

// refuse records a problem of the file at a node.
func (w walker) refuse(n *yaml.Node, message, suggestion string) {
	w.file.Refuse(w.sink, n, message, suggestion)
}

// nameReader reports problems of a name.
func (w walker) nameReader() shape.Reader {
	return shape.Reader{File: w.file, Subject: entry.Subject{Property: "name"}, Sink: w.sink}
}

// walkEntry walks an entry: a type with its resources.
func (w walker) walkEntry(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		w.refuse(n, "want a type with its resources, got "+parse.Describe(n), `write the type first: "- exec:"`)
		return
	}
	switch all := parse.Flatten(n); len(all) {
	case 0:
		w.refuse(n, "an entry without a type", `write the type first: "- exec:"`)
	case 2:
		w.walkType(parse.Target(all[0]), parse.Target(all[1]))
	default:
		w.explainCrowded(n, parse.Target(all[0]), parse.Target(all[1]))
	}
}

// walkType walks the node under a type: a list of resources, or a single one.
func (w walker) walkType(key, value *yaml.Node) {
	v := w.types.ByName[key.Value]
	if v == nil {
		v = w.refuseType(key)
	}
	start := Item{Kind: Start, Type: v}
	switch {
	case parse.IsNull(value):
	case value.Kind == yaml.SequenceNode:
		start.Count = len(value.Content)
		w.visit(start)
		for i, item := range value.Content {
			w.walkItem(v, parse.Target(item), i)
		}
	case value.Kind == yaml.MappingNode:
		w.visit(start)
		w.walkSingle(v, value)
	default:
		w.refuse(value, fmt.Sprintf("want resources under %q, got %s", key.Value, parse.Describe(value)),
			fmt.Sprintf("write it as a list: \"- %s:\"", value.Value))
	}
}

// refuseType reports an unknown type. It returns the type that was probably meant,
// else one without properties: the names of its resources are still needed.
func (w walker) refuseType(key *yaml.Node) *schema.Vocabulary {
	u := schema.UnknownType(key.Value, w.types.Names)
	w.refuse(key, u.Message, u.Suggestion)
	if v := w.types.ByName[u.Meant]; v != nil {
		return v
	}
	return schema.UnknownVocabulary(cmp.Or(u.Meant, key.Value))
}

// walkItem walks one item of a list of resources. The first may be defaults.
func (w walker) walkItem(v *schema.Vocabulary, item *yaml.Node, index int) {
	switch {
	case item.Kind == yaml.ScalarNode && !parse.IsNull(item):
		w.refuse(item, "want a resource, got "+parse.Describe(item), "end the name with a colon")
		return
	case item.Kind != yaml.MappingNode:
		w.refuse(item, "want a resource, got "+parse.Describe(item), `write its name: "- NAME:"`)
		return
	}
	key, value := onlyPair(item)
	switch {
	case key == nil || key.Value != schema.Reserved:
		w.walkResource(v, item)
	case index > 0:
		w.refuse(key, "defaults come first in their list", "move them up")
	case v.Known():
		w.visit(Item{Kind: Defaults, Type: v, Properties: value})
	}
}

// onlyPair returns the key and the value of a map with one key, else nil.
func onlyPair(n *yaml.Node) (key, value *yaml.Node) {
	if all := parse.Flatten(n); len(all) == 2 {
		return parse.Target(all[0]), parse.Target(all[1])
	}
	return nil, nil
}

// findName returns the value of the name key of a map. It returns nil when the map
// has none, or when name is the name of a resource with properties below it.
func findName(n *yaml.Node) *yaml.Node {
	if name := parse.Lookup(n, "name"); name != nil && name.Kind == yaml.ScalarNode {
		return name
	}
	return nil
}

// walkSingle walks a map under a type: one resource with a name.
func (w walker) walkSingle(v *schema.Vocabulary, n *yaml.Node) {
	if findName(n) != nil || !v.Known() {
		w.walkResource(v, n)
		return
	}
	for key := range parse.Pairs(n) {
		if v.Has(key.Value) {
			w.refuse(n, "a resource without a name", `add "name:", or make it a list: "- NAME:" with the properties indented below`)
			w.visitNameless(v, n, nil)
			return
		}
	}
	w.refuse(n, "want a list of resources, or one with a name", `put a dash before each resource: "- NAME:"`)
	for key, value := range parse.Pairs(n) {
		w.walkNamed(v, key, value)
	}
}

// walkResource walks a map that is one resource: its only key is its name, or it
// has a name key.
func (w walker) walkResource(v *schema.Vocabulary, n *yaml.Node) {
	name := findName(n)
	key, value := onlyPair(n)
	switch {
	case name != nil && parse.IsNull(name):
		w.nameReader().RefuseNull(schema.NameProperty, name, name)
		w.visitNameless(v, n, nil)
	case name != nil:
		w.nameReader().WarnComment(name, true)
		w.visit(Item{Kind: Resource, Type: v, Name: name, Properties: n})
	case key != nil:
		w.walkNamed(v, key, value)
	case parse.HasOddKey(n): // parse has reported it
	default:
		w.explainUnnamed(v, n)
	}
}

// walkNamed walks a resource whose name is a key.
func (w walker) walkNamed(v *schema.Vocabulary, key, value *yaml.Node) {
	switch {
	case value.Kind == yaml.MappingNode:
		w.visit(Item{Kind: Resource, Type: v, Name: key, Properties: value})
	case parse.IsNull(value):
		w.visit(Item{Kind: Resource, Type: v, Name: key})
	case v.Has(key.Value):
		w.refuse(key, "a resource without a name", `add "name:", or write "- NAME:" and indent the properties below it`)
	default:
		suggestion := "write each as PROPERTY: VALUE on a line of its own"
		if v.Has("command") {
			suggestion = `write "command:" before it, on a line of its own`
		}
		w.refuse(value, fmt.Sprintf("want properties under %q, got %s", key.Value, parse.Describe(value)), suggestion)
	}
}

// visitNameless visits a resource without a usable name, so that mistakes in its
// properties are reported too.
func (w walker) visitNameless(v *schema.Vocabulary, n, except *yaml.Node) {
	if v.Known() {
		w.visit(Item{Kind: Nameless, Type: v, Properties: n, Except: except})
	}
}
