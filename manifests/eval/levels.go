package eval

import (
	"cmp"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/value"
)

// hierarchy is the order in which levels override variables.
type hierarchy struct {
	file  *parse.File
	order []*yaml.Node // texts, mostly with expressions
	deep  bool         // all levels count, not only the first one that exists
}

// readHierarchy reads the key hierarchy of a file. It returns nil when the file has
// none or after reporting why it cannot be used.
func (e *Env) readHierarchy(file *parse.File) *hierarchy {
	n := parse.Lookup(file.Root, "hierarchy")
	if n == nil {
		return nil
	}
	h := &hierarchy{file: file}
	f := newFrame(file, "hierarchy")
	order := n
	if n.Kind == yaml.MappingNode {
		order = nil
		for key, under := range parse.Pairs(n) {
			switch key.Value {
			case "order":
				order = under
			case "merge":
				choice, _ := e.reader(f.In("hierarchy.merge")).ReadChoice(under, &model.Property{Name: "merge", Choices: []string{"first", "deep"}})
				h.deep = choice.Text == "deep"
			default:
				meant := schema.Near(key.Value, []string{"order", "merge"}, schema.ChoiceSynonyms)
				e.refuse(f, key, "unknown key "+parse.Quote(key.Value), cmp.Or(entry.DidYouMean(meant), "a hierarchy has order and merge"))
			}
		}
		if order == nil {
			e.refuse(f, n, "a hierarchy without order", "write order: with a list of levels")
			return nil
		}
	}
	if order.Kind == yaml.SequenceNode && len(order.Content) == 0 && !e.ccm {
		e.refuse(f, order, "a hierarchy without levels", "name a level, or drop the hierarchy")
		return nil
	}
	if order.Kind != yaml.SequenceNode {
		_, _ = e.reader(f).RefuseForm(order, "a list of levels", `write them in brackets: ["family:${host.family}"]`)
		return nil
	}
	for _, item := range order.Content {
		if item = parse.Target(item); item.Kind != yaml.ScalarNode || parse.IsNull(item) {
			_, _ = e.reader(f).RefuseForm(item, "the name of a level", "")
			continue
		}
		h.order = append(h.order, item)
	}
	return h
}

// level is the name of a level that may hold on this machine.
type level struct {
	name string
	node *yaml.Node // the entry of the hierarchy
}

// listLevels evaluates the entries of a hierarchy. An entry whose expression leads
// to nothing is no level here.
func (e *Env) listLevels(h *hierarchy) []level {
	var levels []level
	f := newFrame(h.file, "hierarchy")
	for _, n := range h.order {
		before := e.sink.Count()
		if e.followNode(f, n, nil); e.sink.Count() > before {
			continue
		}
		var found Found
		v, ok := e.evaluateNode(f, n, &found)
		if !ok {
			continue
		}
		name, isText := value.Text(v)
		switch {
		case !isText:
			e.refuse(f, n, "want the name of a level, got "+value.Describe(v), "name one value in it")
		case e.checkLevelName(f, n, name):
			levels = append(levels, level{name, n})
		}
	}
	return levels
}

// checkLevelName refuses a name of a level that cannot be written in one line.
func (e *Env) checkLevelName(f Frame, n *yaml.Node, name string) bool {
	if strings.ContainsAny(name, "\r\n\x00") {
		e.refuse(f, n, fmt.Sprintf("the name of a level has a line break: %s", parse.Quote(name)), "a level is one line of text")
		return false
	}
	return true
}

// variablesOf returns the variables that the entries of a hierarchy depend on, with
// the entry that names each.
func (e *Env) variablesOf(h *hierarchy) map[*variable]*yaml.Node {
	all := map[*variable]*yaml.Node{}
	var visit func(n, entry *yaml.Node)
	add := func(x *value.Expr, entry *yaml.Node) {
		v := e.vars.byName[x.Path[0]]
		if x.Root != "var" || v == nil || all[v] != nil {
			return
		}
		if all[v] = entry; v.fallback != nil {
			visit(v.fallback, entry)
		}
	}
	visit = func(n, entry *yaml.Node) {
		n = parse.Target(n)
		if n.Kind == yaml.ScalarNode && value.HasExpression(n.Value) {
			parts, _ := value.Parse(n.Value)
			for _, p := range parts {
				if p.Expr == nil {
					continue
				}
				for x := range p.Expr.All() {
					add(x, entry)
				}
			}
		}
		for _, child := range n.Content {
			visit(child, entry)
		}
	}
	for _, n := range h.order {
		visit(n, n)
	}
	return all
}
