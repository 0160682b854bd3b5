package eval

import (
	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model"
)

// Read reads the value of a property at a node, with values in place of its
// expressions. It returns false after reporting its mistakes.
func (e *Env) Read(f Frame, p *model.Property, key, n *yaml.Node) (model.Value, Found, bool) {
	r := e.reader(f)
	if parse.IsNull(n) {
		r.RefuseNull(p, key, n)
		return model.Value{}, Found{}, false
	}
	switch p.Kind { // conditions contain names of values, not expressions
	case model.Condition:
		v, ok := e.readCondition(f, n)
		return v, Found{}, ok
	case model.Control:
		v, ok := e.readControl(f, n)
		return v, Found{}, ok
	case model.Template:
		return e.readTemplate(f, n)
	}
	if !e.mayExpand(n) {
		v, ok := r.Read(p, n)
		return v, Found{}, ok
	}
	var g graft
	expanded, valid := e.expand(f, n, p.Kind, &g)
	found := e.finish(f, g.found)
	if expanded == nil || !valid && len(expanded.Content) == 0 {
		return model.Value{}, found, false
	}
	r.Fills = g.fills()
	v, ok := r.Read(p, expanded)
	return v, found, ok && valid
}

// Name is the name of a resource.
type Name struct {
	Text        string // with values in place of expressions
	model.Value        // with placeholders instead, for a type whose command the name can be
}

// ReadName reads the name of a resource. isCommand says that the name can be a
// command, so that it may contain raw expressions.
func (e *Env) ReadName(f Frame, n *yaml.Node, isCommand bool) (Name, Found, bool) {
	g := graft{allowRaw: isCommand}
	expanded, ok := e.expandText(f, n, model.Line, &g)
	found := e.finish(f, g.found)
	if !ok {
		return Name{}, found, false
	}
	r := e.reader(f)
	r.Fills = g.fills()
	v, ok := r.ReadLine(expanded)
	name := Name{v.Text, v}
	if fill := g.nodes[expanded]; ok && fill != nil && fill.Placeholders != nil {
		name.Value.Text, name.Placeholders = fill.Template, fill.Placeholders
	}
	return name, found, ok
}
