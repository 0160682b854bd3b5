package condition

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/types"

	"github.com/settle-cm/settle/model/spelling"
)

// walk goes through a condition for what the library would not see, or would
// tell in its own words: names that nobody knows, and what must not be done.
type walk struct {
	text  string
	names Names
	vars  map[string]any // what is spoken of
	hosts map[string]any
	env   map[string]string
	used  []Use
	err   *Error  // the first mistake
	last  **Error // where the next one goes
	depth int     // of conditions on the items of lists
	split bool    // texts are made lists of
}

func newWalk(text string, names Names) *walk {
	w := &walk{text: text, names: names, vars: map[string]any{}, hosts: map[string]any{}, env: map[string]string{}}
	w.last = &w.err
	return w
}

func (w *walk) refuse(n ast.Node, message, suggestion string) {
	line, column := place(w.text, n.Location().From)
	*w.last = &Error{line, column, message, suggestion, nil}
	w.last = &(*w.last).Next
}

// walk visits a node; nested says in how many conditions on items it is.
func (w *walk) walk(n ast.Node, nested int) {
	w.depth = max(w.depth, nested)
	switch n := n.(type) {
	case *ast.NilNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode, *ast.PointerNode:
	case *ast.IdentifierNode:
		w.bare(n)
	case *ast.UnaryNode:
		w.walk(n.Node, nested)
	case *ast.BinaryNode:
		w.binary(n, nested)
	case *ast.ChainNode:
		w.walk(n.Node, nested)
	case *ast.MemberNode:
		w.member(n, nested)
	case *ast.BuiltinNode:
		w.call(n, nested)
	case *ast.PredicateNode:
		w.walk(n.Node, nested+1)
	case *ast.CallNode:
		w.unknownFunction(n)
	case *ast.ConditionalNode:
		w.all(nested, n.Cond, n.Exp1, n.Exp2)
	case *ast.ArrayNode:
		w.all(nested, n.Nodes...)
	default:
		w.refuse(n, "a condition only compares values", "")
	}
}

func (w *walk) all(nested int, nodes ...ast.Node) {
	for _, n := range nodes {
		w.walk(n, nested)
	}
}

// binary keeps lists that are written as FROM..TO where they cost nothing.
func (w *walk) binary(n *ast.BinaryNode, nested int) {
	if n.Operator == ".." {
		w.refuse(n, `".." can only stand behind in`, "write VALUE in FROM..TO")
	}
	w.walk(n.Left, nested)
	if r, ok := n.Right.(*ast.BinaryNode); ok && r.Operator == ".." && n.Operator == "in" {
		w.all(nested, r.Left, r.Right)
		return
	}
	w.walk(n.Right, nested)
}

func (w *walk) call(n *ast.BuiltinNode, nested int) {
	if !slices.Contains(functions, n.Name) {
		w.refuse(n, fmt.Sprintf("no function %q in a condition", n.Name), "")
	}
	w.split = w.split || n.Name == "split"
	w.all(nested, n.Arguments...)
}

// roots are the names that everything begins with.
var roots = []string{"var", "env", "host", "each"}

// bare refuses a name that stands alone.
func (w *walk) bare(n *ast.IdentifierNode) {
	switch name := n.Value; {
	case slices.Contains(roots, name):
		w.refuse(n, fmt.Sprintf("%q is no value", name), fmt.Sprintf("write %s.NAME", name))
	case slices.Contains(w.names.Vars, name):
		w.refuse(n, fmt.Sprintf("unknown name %q", name), fmt.Sprintf("did you mean var.%s?", name))
	case slices.Contains(w.names.Facts, name):
		w.refuse(n, fmt.Sprintf("unknown name %q", name), fmt.Sprintf("did you mean host.%s?", name))
	default:
		w.refuse(n, fmt.Sprintf("unknown name %q", name), fmt.Sprintf("write %q in quotes if it is a text", name))
	}
}

// theirs are other tools' words for the roots.
var theirs = map[string]string{
	"vars": "var", "variables": "var", "data": "var", "values": "var", "facts": "host", "fact": "host", "ansible_facts": "host", "grains": "host", "environment": "env", "environ": "env",
}

// member looks up what a path of names stands for.
func (w *walk) member(n *ast.MemberNode, nested int) {
	root, path := w.path(n)
	if root == nil {
		w.all(nested, n.Node, n.Property)
		return
	}
	first, ok := path[0].Property.(*ast.StringNode)
	switch {
	case !slices.Contains(roots, root.Value):
		if way := ofCCM(append([]string{root.Value}, words(path)...)...); way != "" {
			w.refuse(root, fmt.Sprintf("unknown name %q", root.Value), way)
			return
		}
		meant := theirs[strings.ToLower(root.Value)]
		if meant == "" {
			meant = spelling.Suggest(root.Value, roots)
		}
		if meant == "" {
			w.bare(root)
			return
		}
		w.refuse(root, fmt.Sprintf("unknown name %q", root.Value), fmt.Sprintf("did you mean %q?", meant))
		return
	case !ok:
		w.refuse(path[0].Property, fmt.Sprintf("want a name behind %s, got something to be found out", root.Value), fmt.Sprintf("write %s.NAME", root.Value))
		return
	case root.Value == "each" && w.names.Each == nil:
		w.refuse(root, "each stands outside of a resource with for_each", "")
		return
	case root.Value == "each":
		w.follow(w.names.Each, path)
	case root.Value == "env":
		if _, ok := w.env[first.Value]; !ok {
			w.env[first.Value] = w.names.Env(first.Value)
			w.used = append(w.used, Use{"env." + first.Value, w.env[first.Value]})
		}
	case root.Value == "host":
		w.look(first, root.Value, w.hosts, w.names.Facts, w.names.Host)
		w.follow(w.hosts[first.Value], path[1:])
	default:
		w.look(first, root.Value, w.vars, w.names.Vars, w.names.Var)
		w.follow(w.vars[first.Value], path[1:])
	}
	for _, m := range path[1:] {
		w.walk(m.Property, nested)
	}
}

// path returns the root of a path and its steps; nil when it begins otherwise.
func (w *walk) path(n *ast.MemberNode) (root *ast.IdentifierNode, path []*ast.MemberNode) {
	for {
		path = append(path, n)
		switch from := n.Node.(type) {
		case *ast.IdentifierNode:
			slices.Reverse(path)
			return from, path
		case *ast.MemberNode:
			n = from
		default:
			return nil, nil
		}
	}
}

// words are the names that a path is made of, "" for what is none.
func words(path []*ast.MemberNode) []string {
	list := make([]string, len(path))
	for i, step := range path {
		if name, ok := step.Property.(*ast.StringNode); ok {
			list[i] = name.Value
		}
	}
	return list
}

// look finds the value of a name behind a root.
func (w *walk) look(n *ast.StringNode, root string, found map[string]any, known []string, value func(string) (any, *Error)) {
	name := n.Value
	if !slices.Contains(known, name) {
		suggestion := "declare it under vars"
		if root == "host" {
			suggestion = "settle knows " + strings.Join(known, ", ")
		}
		if meant := spelling.Suggest(name, known); meant != "" {
			suggestion = fmt.Sprintf("did you mean %s.%s?", root, meant)
		}
		w.refuse(n, fmt.Sprintf("no %s.%s is known", root, name), suggestion)
		return
	}
	if _, ok := found[name]; ok {
		return
	}
	v, err := value(name)
	if err != nil {
		w.refuse(n, err.Message, err.Suggestion)
		return
	}
	found[name] = v
	w.used = append(w.used, Use{root + "." + name, v})
}

// follow checks that a path leads somewhere, as far as it is made of names.
func (w *walk) follow(value any, path []*ast.MemberNode) {
	for _, step := range path {
		m, isMap := value.(map[string]any)
		key, ok := step.Property.(*ast.StringNode)
		if !isMap || !ok {
			return
		}
		if value, ok = m[key.Value]; !ok {
			var keys []string
			for k := range m {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			suggestion := ""
			if meant := spelling.Suggest(key.Value, keys); meant != "" {
				suggestion = "did you mean " + strconv.Quote(meant) + "?"
			}
			w.refuse(key, fmt.Sprintf("%s has no key %q", step.Node, key.Value), suggestion)
		}
	}
}

// unknownFunction refuses a call of what is none of the functions.
func (w *walk) unknownFunction(n *ast.CallNode) {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		w.refuse(n, "a value cannot be called", "")
		return
	}
	suggestion := ""
	switch meant := spelling.Suggest(callee.Value, functions); {
	case slices.Contains([]string{"now", "date", "duration", "timezone"}, callee.Value):
		suggestion = "what is true now may not be when it is applied: a condition has no clock"
	case callee.Value == "lookup":
		suggestion = "write var.NAME for data, host.NAME for facts"
		if key, ok := first(n.Arguments).(*ast.StringNode); ok {
			suggestion = cmp.Or(ofCCM(key.Value), suggestion)
		}
	case meant != "":
		suggestion = fmt.Sprintf("did you mean %q?", meant)
	}
	w.refuse(n, fmt.Sprintf("no function %q in a condition", callee.Value), suggestion)
}

func first(nodes []ast.Node) ast.Node {
	if len(nodes) == 0 {
		return nil
	}
	return nodes[0]
}

// types are those of all that is spoken of.
func (w *walk) types() types.Map {
	return types.Map{"var": typeOf(w.vars), "host": typeOf(w.hosts), "env": types.TypeOf(w.env), "each": typeOf(w.names.Each)}
}

func (w *walk) values() map[string]any {
	return map[string]any{"var": w.vars, "host": w.hosts, "env": w.env, "each": w.names.Each}
}

// affordable refuses a condition that may take too long.
func (w *walk) affordable() error {
	if w.work() > maxWork {
		return &Error{Line: 1, Column: 1, Message: "a condition on every item of lists that are so long takes too long", Suggestion: "set a variable, and name that"}
	}
	return nil
}

// work is how much evaluating may cost: every condition on the items of a list
// may look at all there is, for each of those around it.
func (w *walk) work() float64 {
	items, size := measure(w.vars)
	moreItems, moreSize := measure(w.hosts)
	itemItems, itemSize := measure(w.names.Each)
	items, size = items+moreItems+itemItems, size+moreSize+itemSize+len(w.text)
	for _, text := range w.env {
		size += len(text)
	}
	if w.split {
		items += size
	}
	work := float64(size)
	for range w.depth {
		work *= float64(items)
	}
	return work
}

// measure counts the values in a value, and the bytes of all texts.
func measure(value any) (items, size int) {
	items = 1
	switch v := value.(type) {
	case string:
		size = len(v)
	case []any:
		for _, item := range v {
			n, s := measure(item)
			items, size = items+n, size+s
		}
	case map[string]any:
		for key, item := range v {
			n, s := measure(item)
			items, size = items+n, size+s+len(key)
		}
	}
	return items, size
}
