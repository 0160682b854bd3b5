package manifests

import (
	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/value"
)

// named is the name of a resource.
type named struct {
	text        string // with the values in it
	model.Value        // with marks in their place, for a type whose command it is
}

// declared reads a resource of that name and of properties n (nil for none), or
// as many as its for_each has items.
func (l *loader) declared(v *schema.Vocabulary, name, n *yaml.Node, d *defaults) {
	under := parse.Lookup(n, "for_each")
	if under == nil || v.ByName == nil {
		l.one(v, name, n, d)
		return
	}
	s := scope{l: l, id: model.Ref{Type: v.Name, Name: name.Value}.String(), property: "for_each"}
	items, ok := s.items(under)
	if !ok {
		l.blurred = with(l.blurred, v.Name)
		items = []item{{unknown: true}}
	}
	for i := range items {
		l.item = &items[i]
		l.one(v, name, n, d)
	}
	l.item = nil
}

// one reads one resource.
func (l *loader) one(v *schema.Vocabulary, name, n *yaml.Node, d *defaults) {
	l.uses = l.uses[:0]
	s := scope{l: l, property: "name", raw: v.ByName["command"] != nil}
	if read, ok := s.name(name); ok {
		l.resource(v, read, n, d)
	} else if n != nil {
		l.nameless(v, n, nil)
	}
}

// name reads the name of a resource.
func (s scope) name(n *yaml.Node) (named, bool) {
	filled, ok := s.fill(n, model.Line)
	if !ok {
		return named{}, false
	}
	v, ok := s.line(filled)
	name := named{v.Text, v}
	if f := s.l.filled[filled]; ok && f != nil && f.holes != nil {
		name.Value.Text, name.Placeholders = f.marked, f.holes
	}
	clear(s.l.filled)
	return name, ok
}

// items returns what for_each makes a resource of, each. It returns false after
// saying what is wrong with it.
func (s scope) items(n *yaml.Node) ([]item, bool) {
	v, ok := s.evaluate(n)
	if !ok {
		return nil, false
	}
	var items []item
	switch v := v.(type) {
	case []any:
		for i, under := range v {
			items = append(items, item{key: i, value: under})
		}
	case value.Map:
		for _, e := range v {
			items = append(items, item{key: e.Key, value: e.Value})
		}
	default:
		suggestion := "write its items in brackets: [a, b]"
		if value.Has(n.Value) {
			suggestion = "declare a variable of type: list"
		}
		s.refuse(s.l.pos(n), "want a list or a map, got "+value.Describe(v), suggestion)
		return nil, false
	}
	if s.l.unrolled += len(items); s.l.unrolled > entry.MaxUnrolled {
		s.refuse(s.l.pos(n), "for_each makes more than 100,000 resources", "split the manifest")
		return nil, false
	}
	return items, true
}
