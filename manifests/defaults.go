package manifests

import (
	"maps"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/value"
)

// defaults stand for the properties of many resources. The nil defaults are none.
type defaults struct {
	values settings
	uses   map[string][]model.ValueUse // values that were put into them
	later  map[string]later            // those that are another for each resource
}

// later is a default with ${self.…} or ${each.…} in it.
type later struct {
	p          *model.Property
	key, under *yaml.Node
}

// over returns defaults laid over others.
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
	if sum.uses == nil {
		sum.uses = d.uses
	} else {
		maps.Copy(sum.uses, d.uses)
	}
	if sum.later == nil {
		sum.later = d.later
	} else {
		maps.Copy(sum.later, d.later)
	}
	return sum
}

// readDefaults reads properties that stand for those of many resources.
func (l *loader) readDefaults(v *schema.Vocabulary, n *yaml.Node) *defaults {
	if parse.IsNull(n) {
		return nil
	}
	s := scope{l: l, id: model.Ref{Type: v.Name, Name: schema.Reserved}.String()}
	if n.Kind != yaml.MappingNode {
		s.refuse(l.pos(n), "want a map of properties, got "+parse.Describe(n), "")
		return nil
	}
	d := &defaults{values: settings{}}
	for key, under := range parse.Pairs(n) {
		p := v.ByName[key.Value]
		switch {
		case p == nil:
			s.unknownProperty(key, v)
		case p.Name == "name" || p.Name == "alias" || p.Name == "for_each":
			s.property = p.Name
			s.refuse(l.pos(key), "defaults cannot give every resource the same "+p.Name, "")
		case own(under):
			d.later = entry.Put(d.later, p.Name, later{p, key, under})
		default:
			s.property = p.Name
			l.uses = l.uses[:0]
			if value, ok := s.value(p, key, under); ok {
				value.Default = true
				d.values[p.Name] = value
				if len(l.uses) > 0 {
					d.uses = entry.Put(d.uses, p.Name, slices.Clone(l.uses))
				}
				if conditional(p.Kind) && !s.sensible(value) {
					delete(d.values, p.Name)
				}
			}
		}
	}
	l.uses = l.uses[:0]
	return d
}

func conditional(kind model.Kind) bool {
	return kind == model.Condition || kind == model.Control
}

// own says whether a node has an expression in it that leads to something else
// for each resource.
func own(n *yaml.Node) bool {
	n = parse.Target(n)
	if n.Kind == yaml.ScalarNode && value.Has(n.Value) {
		parts, _ := value.Parse(n.Value)
		return slices.ContainsFunc(parts, func(p value.Part) bool {
			return p.Expr != nil && (p.Expr.Root == "self" || p.Expr.Root == "each")
		})
	}
	return slices.ContainsFunc(n.Content, own)
}

// inherit gives a resource the defaults for what it does not give itself. wrong
// are its properties that are wrong; it returns them with those of its defaults.
func (s scope) inherit(v *schema.Vocabulary, d *defaults, body *model.Body, wrong map[string]bool) map[string]bool {
	if d == nil {
		return wrong
	}
	for property, value := range d.values {
		if _, ok := body.Values[property]; !ok {
			body.Values[property] = apart(value)
		}
	}
	if len(d.uses)+len(d.later) == 0 {
		return wrong
	}
	for _, word := range v.Words {
		value, has := body.Values[word]
		if has && value.Default {
			s.l.uses = append(s.l.uses, d.uses[word]...)
		}
		late, ok := d.later[word]
		if !ok || has || wrong[word] {
			continue
		}
		s.property = word
		if value, ok := s.value(late.p, late.key, late.under); ok {
			value.Default = true
			body.Values[word] = value
		} else {
			wrong = with(wrong, word)
		}
	}
	return wrong
}

// apart returns a value whose holes are its own: a type leaves its words there.
func apart(v model.Value) model.Value {
	if v.Placeholders != nil {
		holes := *v.Placeholders
		v.Placeholders = &holes
	}
	if slices.ContainsFunc(v.Items, func(item model.Value) bool { return item.Placeholders != nil }) {
		v.Items = slices.Clone(v.Items)
		for i := range v.Items {
			v.Items[i] = apart(v.Items[i])
		}
	}
	return v
}
