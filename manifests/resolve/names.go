package resolve

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/spelling"
)

// names finds resources by reference.
type names struct {
	in      entry.Entries
	indexes map[model.Ref]int // by name and by alias
	all     []string          // every name and alias, for suggestions; filled on first use
	guesses int               // names compared so far
}

// indexNames indexes the names and aliases of the resources and reports those
// that are given twice.
func indexNames(in entry.Entries, sink *entry.Sink) *names {
	x := &names{in: in, indexes: make(map[model.Ref]int, len(in.Resources))}
	for n := range in.Resources {
		r := &in.Resources[n]
		x.addName(n, r, sink)
		if r.Alias != "" {
			x.addAlias(n, r, sink)
		}
	}
	return x
}

const renameSuggestion = "give one of them another name"

func (x *names) addName(n int, r *model.Resource, sink *entry.Sink) {
	other, taken := x.indexes[r.Ref]
	if !taken {
		x.indexes[r.Ref] = n
		return
	}
	message, suggestion := "", renameSuggestion
	switch first := &x.in.Resources[other]; {
	case first.Ref == r.Ref && first.Pos == r.Pos && x.in.Unrolled[n]:
		message, suggestion = "for_each makes this name more than once", "put ${each.key} into the name"
	case first.Ref == r.Ref:
		message = "already defined at " + entry.Line(first.Pos)
	default:
		message = fmt.Sprintf("already the alias of %s at %s", x.in.IDs[other], entry.Line(first.Pos))
	}
	p := entry.Subject{ID: x.in.IDs[n]}.Problem(r.Pos, message, suggestion)
	sink.Refuse(entry.Attribute(p, r.Values))
}

func (x *names) addAlias(n int, r *model.Resource, sink *entry.Sink) {
	alias := model.Ref{Type: r.Type, Name: r.Alias}
	other, taken := x.indexes[alias]
	switch {
	case !taken:
		x.indexes[alias] = n
	case other != n:
		p := entry.Subject{ID: x.in.IDs[n], Property: "alias"}.Problem(x.in.AliasPos[n],
			fmt.Sprintf("%s is already defined at %s", alias, entry.Line(x.in.Resources[other].Pos)), renameSuggestion)
		sink.Refuse(entry.Attribute(p, r.Values))
	}
}

// has reports whether a resource exists, readable or not.
func (x *names) has(ref model.Ref) bool {
	_, ok := x.indexes[ref]
	return ok || x.in.Unread[ref]
}

// find returns the index of the resource that a link names. It returns false for
// a link that names none, and reports it unless the cause is known already.
func (x *names) find(link entry.Link, property string, opts Options, sink *entry.Sink) (int, bool) {
	from := &x.in.Resources[link.From]
	refuse := func(message, suggestion string) {
		p := entry.Subject{ID: x.in.IDs[link.From], Property: property}.Problem(link.Pos, message, suggestion)
		sink.Refuse(entry.Attribute(p, from.Values))
	}
	ref, ok := model.ParseRef(link.Text)
	if !ok {
		suggestion := entry.DidYouMean(cmp.Or(x.suggestType(link.Text, opts.Types), x.suggestPuppet(link.Text)))
		if suggestion == "" {
			suggestion = "write TYPE#NAME, such as " + from.Type + "#NAME"
		}
		refuse(fmt.Sprintf("%q is not a reference", link.Text), suggestion)
		return 0, false
	}
	n, ok := x.indexes[ref]
	if !ok && !x.in.Unread[ref] && !opts.Partial && !x.in.Incomplete[ref.Type] {
		refuse("no resource "+ref.String(), x.suggestName(link.Text, ref.Name))
	}
	return n, ok
}

// suggestType returns the reference of a resource that is named without its type.
func (x *names) suggestType(name string, types []string) string {
	for _, t := range types {
		if ref := (model.Ref{Type: t, Name: name}); x.has(ref) {
			return ref.String()
		}
	}
	return ""
}

var inBrackets = entry.Pattern(`^([A-Za-z]+)\[['"]?(.+?)['"]?\]$`)

// suggestPuppet returns the reference of a resource that is named as Puppet does:
// Exec['a'].
func (x *names) suggestPuppet(text string) string {
	m := inBrackets().FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	if ref := (model.Ref{Type: strings.ToLower(m[1]), Name: m[2]}); x.has(ref) {
		return ref.String()
	}
	return ""
}

// suggestName returns a suggestion for a reference that names nothing, "" when no
// name is close or when too many names were compared already.
func (x *names) suggestName(text, name string) string {
	if x.all == nil {
		for n := range x.in.Resources {
			x.all = append(x.all, x.in.IDs[n])
			if alias := x.in.Resources[n].AliasID(); alias != "" {
				x.all = append(x.all, alias)
			}
		}
	}
	if x.guesses += len(x.all); x.guesses > entry.MaxGuesses {
		return ""
	}
	for _, known := range x.all {
		if strings.HasPrefix(known, text+",") || strings.HasPrefix(known, text+" #") {
			return fmt.Sprintf("did you mean %q? quote it: YAML ends it at the mark", known)
		}
	}
	meant, _ := spelling.Closest(text, x.all, spelling.Tolerance(name))
	return entry.DidYouMean(meant)
}
