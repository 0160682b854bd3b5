package decode

import (
	"maps"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/eval"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
)

// defaults are values for the properties of many resources. Nil means no defaults.
type defaults struct {
	values map[string]model.Value
	uses   map[string][]model.ValueUse // values that were put into them, by property
	later  map[string]later            // defaults whose value differs from resource to resource
}

// later is a default with ${self.…} or ${each.…} in it, or a template, which may
// have them. It is read again for every resource.
type later struct {
	p          *model.Property
	key, under *yaml.Node
}

// over returns the defaults laid over others.
func (d *defaults) over(others *defaults) *defaults {
	if others == nil {
		return d
	}
	if d == nil {
		return others
	}
	sum := &defaults{maps.Clone(others.values), maps.Clone(others.uses), maps.Clone(others.later)}
	for _, word := range slices.Concat(slices.Collect(maps.Keys(d.values)), slices.Collect(maps.Keys(d.later))) {
		delete(sum.values, word)
		delete(sum.uses, word)
		delete(sum.later, word)
	}
	maps.Copy(sum.values, d.values)
	for word, uses := range d.uses {
		sum.uses = entry.Put(sum.uses, word, uses)
	}
	for word, l := range d.later {
		sum.later = entry.Put(sum.later, word, l)
	}
	return sum
}

// readFileDefaults reads the defaults of a file, by type.
func (d *decoder) readFileDefaults(f file, n *yaml.Node) map[string]*defaults {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		f.Refuse(d.sink, n, "want a map of types under defaults, got "+parse.Describe(n), "write properties under a type: {exec: {cwd: /opt}}")
		return nil
	}
	all := map[string]*defaults{}
	for key, value := range parse.Pairs(n) {
		v := d.Types.ByName[key.Value]
		if v == nil {
			u := schema.UnknownType(key.Value, d.Types.Names)
			f.Refuse(d.sink, key, u.Message, u.Suggestion)
			continue
		}
		all[key.Value] = d.readDefaults(f, v, value)
	}
	return all
}

// readDefaults reads the defaults for resources of one type, nil for none.
func (d *decoder) readDefaults(f file, v *schema.Vocabulary, n *yaml.Node) *defaults {
	if parse.IsNull(n) {
		return nil
	}
	id := model.Ref{Type: v.Name, Name: schema.Reserved}.String()
	frame := eval.Frame{File: f.File, Subject: entry.Subject{ID: id}}
	if n.Kind != yaml.MappingNode {
		d.refuse(frame.Subject, f.Pos(n), nil, "want a map of properties, got "+parse.Describe(n), "")
		return nil
	}
	defs := &defaults{values: map[string]model.Value{}}
	for key, under := range parse.Pairs(n) {
		p := v.ByName[key.Value]
		switch {
		case p == nil:
			d.refuseProperty(frame, v, key)
		case p.Name == "name" || p.Name == "alias" || p.Name == "for_each":
			d.refuse(frame.In(p.Name).Subject, f.Pos(key), nil, "defaults cannot give every resource the same "+p.Name, "")
		case p.Kind == model.Template || eval.VariesByResource(under):
			defs.later = entry.Put(defs.later, p.Name, later{p, key, under})
		default:
			d.readDefault(frame.In(p.Name), p, key, under, defs)
		}
	}
	return defs
}

// readDefault reads one default. Its values are noted beside it, so that only the
// resources that take the default over report them.
func (d *decoder) readDefault(frame eval.Frame, p *model.Property, key, under *yaml.Node, defs *defaults) {
	v, found, ok := d.env.Read(frame, p, key, under)
	isCondition := p.Kind == model.Condition || p.Kind == model.Control
	if !ok || isCondition && !d.env.CheckCondition(frame, v) {
		return
	}
	v.Default = true
	defs.values[p.Name] = v
	if len(found.Uses) > 0 {
		defs.uses = entry.Put(defs.uses, p.Name, found.Uses)
	}
}

// inherit gives a resource the defaults for properties that it does not give itself.
func (d *decoder) inherit(frame eval.Frame, v *schema.Vocabulary, defs *defaults, body *model.Body, r *resource) {
	if defs == nil {
		return
	}
	for property, value := range defs.values {
		if _, ok := body.Values[property]; !ok {
			body.Values[property] = unshare(value)
		}
	}
	if len(defs.uses)+len(defs.later) == 0 {
		return
	}
	for _, word := range v.Words { // in a fixed order: the uses are reported
		value, has := body.Values[word]
		if has && value.Default {
			r.found.Uses = append(r.found.Uses, defs.uses[word]...)
		}
		late, ok := defs.later[word]
		if !ok || has || r.wrong[word] {
			continue
		}
		if d.readProperty(frame.In(word), late.p, late.key, late.under, body, r) {
			value := body.Values[word]
			value.Default = true
			body.Values[word] = value
		}
	}
}

// unshare returns a value with placeholders of its own: a type writes to them.
func unshare(v model.Value) model.Value {
	if v.Placeholders != nil {
		placeholders := *v.Placeholders
		v.Placeholders = &placeholders
	}
	if slices.ContainsFunc(v.Items, func(item model.Value) bool { return item.Placeholders != nil }) {
		v.Items = slices.Clone(v.Items)
		for i := range v.Items {
			v.Items[i] = unshare(v.Items[i])
		}
	}
	return v
}
