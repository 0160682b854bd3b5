package manifests

import (
	"fmt"
	"strings"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/graph"
)

// index finds resources by name and alias.
type index struct {
	numbers map[model.Ref]int
	ghosts  map[model.Ref]bool // resources that have a problem of their own: a reference to one is none
	all     []string           // names and aliases as text, for suggestions
}

// absent makes a name known whose resource could not be read.
func (x *index) absent(ref model.Ref) { x.ghosts[ref] = true }

// add makes the next resource known by its name and alias.
func (x *index) add(l *loader, body *model.Body) {
	n := len(l.bodies)
	s := scope{l: l, id: body.Ref.String()}
	if other, ok := x.numbers[body.Ref]; ok {
		first := l.bodies[other]
		if first.Ref == body.Ref {
			s.refuse(body.Pos, "already defined at "+line(first.Pos), "give one of them another name")
		} else {
			s.refuse(body.Pos, fmt.Sprintf("already the alias of %s at %s", first.Ref, line(first.Values["alias"].Pos)), "give one of them another name")
		}
	} else {
		x.numbers[body.Ref] = n
		x.all = append(x.all, body.Ref.String())
	}
	if !body.Has("alias") {
		return
	}
	alias := model.Ref{Type: body.Type, Name: body.Text("alias")}
	if other, ok := x.numbers[alias]; ok && other != n {
		s.property = "alias"
		s.refuse(body.Values["alias"].Pos, fmt.Sprintf("%s is already defined at %s", alias, line(l.bodies[other].Pos)), "give one of them another name")
		return
	}
	x.numbers[alias] = n
	x.all = append(x.all, alias.String())
}

// line is a place without its column: enough where it stands in a sentence.
func line(pos model.Pos) string {
	pos.Column = 0
	return pos.String()
}

// connect turns references into edges, edges into an order, and warns of what
// only the whole shows.
func (l *loader) connect() {
	resources := l.m.Resources
	for _, property := range []string{"require", "subscribe"} {
		for n, body := range l.bodies {
			for _, v := range body.Each(property) {
				if on, ok := l.resolve(body, property, v); ok {
					l.edge(n, on, property, v.Pos)
				}
			}
		}
	}
	for _, property := range []string{"before", "notify"} {
		for on, body := range l.bodies {
			for _, v := range body.Each(property) {
				if n, ok := l.resolve(body, property, v); ok {
					l.edge(n, on, property, v.Pos)
				}
			}
		}
	}
	for n := range resources {
		for _, e := range resources[n].Upstream {
			if e.Refresh {
				p := &resources[e.On]
				p.Subscribers = append(p.Subscribers, resources[n].ID())
			}
		}
		if body := l.bodies[n]; body.Bool("refreshonly") && !resources[n].Subscribes() && len(l.problems) == 0 {
			body.Warn("refreshonly", "nothing refreshes it: it never runs", "add subscribe, or notify in what should refresh it")
			l.collect(body, nil)
		}
	}
	l.order()
}

type edgeKey struct {
	n, on   int
	refresh bool
}

// edge adds an edge between resources once.
func (l *loader) edge(n, on int, property string, pos model.Pos) {
	e := model.Edge{On: on, Refresh: property == "subscribe" || property == "notify", By: property, Pos: pos}
	key := edgeKey{n, on, e.Refresh}
	if !l.edges[key] {
		l.edges[key] = true
		l.m.Resources[n].Upstream = append(l.m.Resources[n].Upstream, e)
	}
}

// resolve finds what a reference names. It returns false after saying why it
// names nothing that can be waited for.
func (l *loader) resolve(body *model.Body, property string, v model.Value) (int, bool) {
	s := scope{l: l, id: body.Ref.String(), property: property}
	ref, ok := model.ParseRef(v.Text)
	if !ok {
		suggestion := didYouMean(l.named(v.Text))
		if suggestion == "" {
			suggestion = "write the type in front: exec#NAME"
		}
		s.refuse(v.Pos, fmt.Sprintf("%q is no reference: it has no type", v.Text), suggestion)
		return 0, false
	}
	n, ok := l.names.numbers[ref]
	switch {
	case ok && l.bodies[n] != body:
		return n, true
	case ok && body.Values[property].Default:
		return 0, false // a default may name one of those that it is for
	case ok:
		s.refuse(v.Pos, fmt.Sprintf("%s %s itself", s.id, verbs[property]), "take it out")
	case !l.names.ghosts[ref]:
		s.refuse(v.Pos, "no resource "+ref.String(), l.nearRef(v.Text, ref.Name))
	}
	return 0, false
}

// verbs say what a property says of a resource.
var verbs = map[string]string{
	"require": "requires", "subscribe": "subscribes to", "before": "goes before", "notify": "notifies",
}

// named finds the reference of a resource by its name alone.
func (l *loader) named(name string) string {
	for _, t := range l.types {
		if ref := (model.Ref{Type: t.Name, Name: name}); l.names.ghosts[ref] {
			return ref.String()
		} else if _, ok := l.names.numbers[ref]; ok {
			return ref.String()
		}
	}
	return ""
}

// order sorts the resources, or names each loop that keeps them from it.
func (l *loader) order() {
	upstream := make([][]int, len(l.m.Resources))
	for n := range upstream {
		for _, e := range l.m.Resources[n].Upstream {
			upstream[n] = append(upstream[n], e.On)
		}
	}
	order, ok := graph.Order(upstream)
	l.m.Order = order
	if ok {
		return
	}
	for _, loop := range graph.Loops(upstream) {
		l.refuseLoop(loop)
	}
}

// refuseLoop tells a loop edge by edge, each as it is written in the file.
func (l *loader) refuseLoop(loop []int) {
	var b strings.Builder
	b.WriteString("these wait for each other:")
	var first model.Edge
	for i, n := range loop {
		r, on := &l.m.Resources[n], loop[(i+1)%len(loop)]
		var e model.Edge
		for _, e = range r.Upstream {
			if e.On == on {
				break
			}
		}
		if i == 0 {
			first = e
		}
		from, to := r.ID(), l.m.Resources[on].ID()
		if e.By == "before" || e.By == "notify" {
			from, to = to, from
		}
		fmt.Fprintf(&b, "\n  %s: %s %s %s", line(e.Pos), from, verbs[e.By], to)
	}
	s := scope{l: l, id: l.m.Resources[loop[0]].ID(), property: first.By}
	if first.By == "before" || first.By == "notify" {
		s.id = l.m.Resources[first.On].ID()
	}
	s.refuse(first.Pos, b.String(), "")
}
