package manifests

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/graph"
	"github.com/settle-cm/settle/model/spelling"
)

// edgeProperties are the properties that make edges, in the order in which a
// resource lists what it depends on.
var edgeProperties = [...]string{"require", "subscribe", "before", "notify"}

// verbs say what each of them says of the resource it belongs to.
var verbs = map[string]string{
	"require": "requires", "subscribe": "subscribes to", "before": "goes before", "notify": "notifies",
}

// backward says whether a property makes its edge from the other end.
func backward(property string) bool { return property == "before" || property == "notify" }

// link is a reference from one resource to another, before it is resolved.
type link struct {
	from int
	text string
	model.Pos
	byDefault bool
}

// index makes the next resource known by its name and alias.
func (l *loader) index(body *model.Body, id string) {
	n := len(l.ids)
	s := scope{l: l, id: id}
	const way = "give one of them another name"
	if other, ok := l.numbers[body.Ref]; !ok {
		l.numbers[body.Ref] = n
	} else if first := &l.m.Resources[other]; first.Ref == body.Ref && first.Pos == body.Pos && l.item != nil {
		s.refuse(body.Pos, "for_each makes this name more than once", "put ${each.key} into the name")
	} else if first.Ref == body.Ref {
		s.refuse(body.Pos, "already defined at "+entry.Line(first.Pos), way)
	} else {
		s.refuse(body.Pos, fmt.Sprintf("already the alias of %s at %s", l.ids[other], entry.Line(first.Pos)), way)
	}
	if !body.Has("alias") {
		return
	}
	alias := model.Ref{Type: body.Type, Name: body.Text("alias")}
	if other, ok := l.numbers[alias]; !ok {
		l.numbers[alias] = n
	} else if other != n {
		s.property = "alias"
		s.refuse(body.Values["alias"].Pos, fmt.Sprintf("%s is already defined at %s", alias, entry.Line(l.m.Resources[other].Pos)), way)
	}
}

// connect turns references into edges, edges into an order, and warns of what
// only the whole shows.
func (l *loader) connect() {
	resources := l.m.Resources
	for i, property := range edgeProperties {
		for _, link := range l.links[i] {
			to, ok := l.resolve(link, property)
			if !ok {
				continue
			}
			e := model.Edge{On: to, Refresh: property == "subscribe" || property == "notify", By: property, Pos: link.Pos}
			r := &resources[link.from]
			if backward(property) {
				r, e.On = &resources[to], link.from
			}
			r.Upstream = append(r.Upstream, e)
		}
	}
	l.subscribers()
	l.parents()
	l.order()
}

// subscribers drops edges that are given twice and lists each resource's
// subscribers.
func (l *loader) subscribers() {
	resources := l.m.Resources
	var seen [2][]int // by Refresh: the resource, plus 1, that last had an edge on the one of that index
	for i := range seen {
		seen[i] = make([]int, len(resources))
	}
	for n := range resources {
		resources[n].Upstream = slices.DeleteFunc(resources[n].Upstream, func(e model.Edge) bool {
			mark := &seen[0][e.On]
			if e.Refresh {
				mark = &seen[1][e.On]
			}
			twice := *mark == n+1
			*mark = n + 1
			if e.Refresh && !twice && resources[n].Off == "" { // like one that is added later, it is owed nothing before it is here
				resources[e.On].Subscribers = append(resources[e.On].Subscribers, l.ids[n])
			}
			return twice
		})
	}
	for _, r := range l.refreshOnly {
		if !resources[r.from].Subscribes() && l.sink.Count() == 0 {
			s := scope{l: l, id: l.ids[r.from], property: "refreshonly"}
			s.warn(r.Pos, "nothing refreshes it: it never runs", "add subscribe, or notify in what should refresh it")
		}
	}
}

// resolve finds what a reference names. It returns false after saying why it
// names nothing that can be waited for.
func (l *loader) resolve(link link, property string) (int, bool) {
	s := scope{l: l, id: l.ids[link.from], property: property}
	l.uses = l.m.Resources[link.from].Values
	ref, ok := model.ParseRef(link.text)
	if !ok {
		suggestion := entry.DidYouMean(cmp.Or(l.typedName(link.text), l.bracketed(link.text)))
		if suggestion == "" {
			suggestion = "write the type in front: " + l.m.Resources[link.from].Type + "#NAME"
		}
		s.refuse(link.Pos, fmt.Sprintf("%q is no reference: it has no type", link.text), suggestion)
		return 0, false
	}
	n, ok := l.numbers[ref]
	switch {
	case ok && n != link.from:
		return n, true
	case ok && link.byDefault: // a default may name one of those that it is for
	case ok:
		l.circles = append(l.circles, []int{link.from})
		s.refuse(link.Pos, fmt.Sprintf("%s %s itself", s.id, verbs[property]), "take it out")
	case !l.ghosts[ref] && !l.partial && !l.blurred[ref.Type]:
		s.refuse(link.Pos, "no resource "+ref.String(), l.nearRef(link.text, ref.Name))
	}
	return 0, false
}

// typedName finds the reference of a resource by its name alone.
func (l *loader) typedName(name string) string {
	for _, t := range l.types {
		ref := model.Ref{Type: t.Name, Name: name}
		if _, ok := l.numbers[ref]; ok || l.ghosts[ref] {
			return ref.String()
		}
	}
	return ""
}

var inBrackets = entry.Pattern(`^([A-Za-z]+)\[['"]?(.+?)['"]?\]$`)

// bracketed finds the reference of a resource that is named as in Puppet: Exec['a'].
func (l *loader) bracketed(text string) string {
	m := inBrackets().FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	ref := model.Ref{Type: strings.ToLower(m[1]), Name: m[2]}
	if _, ok := l.numbers[ref]; ok || l.ghosts[ref] {
		return ref.String()
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
	l.circles = append(l.circles, loop)
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
		from, to := l.ids[n], l.ids[on]
		if backward(e.By) {
			from, to = to, from
		}
		fmt.Fprintf(&b, "\n  %s: %s %s %s", entry.Line(e.Pos), from, verbs[e.By], to)
	}
	s := scope{l: l, id: l.ids[loop[0]], property: first.By}
	if backward(first.By) {
		s.id = l.ids[first.On]
	}
	s.refuse(first.Pos, b.String(), "")
}

// nearRef suggests what a reference that names nothing was meant to name.
func (l *loader) nearRef(text, name string) string {
	if l.known == nil {
		for i := range l.m.Resources {
			l.known = append(l.known, l.ids[i])
			if alias := l.m.Resources[i].AliasID(); alias != "" {
				l.known = append(l.known, alias)
			}
		}
	}
	if l.guesses += len(l.known); l.guesses > entry.MaxGuesses {
		return ""
	}
	for _, known := range l.known {
		if strings.HasPrefix(known, text+",") || strings.HasPrefix(known, text+" #") {
			return fmt.Sprintf("did you mean %q? quote it: YAML ends it at the mark", known)
		}
	}
	meant, _ := spelling.Closest(text, l.known, spelling.Tolerance(name))
	return entry.DidYouMean(meant)
}
