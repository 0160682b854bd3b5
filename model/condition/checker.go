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

// checker walks the syntax tree of a condition. It collects the values that the
// condition uses, and finds mistakes that the library does not find or does not
// explain well: unknown names and constructs that are not allowed.
type checker struct {
	text     string
	names    Names
	vars     map[string]any // values in use, by name
	hosts    map[string]any
	env      map[string]string
	used     []Use
	err      *Error          // the first mistake
	next     **Error         // where to store the next one
	depth    int             // nesting of conditions on the items of lists
	split    bool            // it calls split, which makes a list of a text
	versions bool            // it calls version
	guarded  map[string]bool // maps on the right of in, as text: their keys may be missing
	optional int             // how many ?. and ?? surround the node
}

func newChecker(text string, names Names) *checker {
	c := &checker{text: text, names: names, vars: map[string]any{}, hosts: map[string]any{}, env: map[string]string{}}
	c.next = &c.err
	return c
}

func (c *checker) refuse(n ast.Node, message, suggestion string) {
	line, column := placeOf(c.text, n.Location().From)
	*c.next = &Error{line, column, message, suggestion, nil}
	c.next = &(*c.next).Next
}

// visit checks a node and everything below it. nested counts the conditions on
// items that surround it.
func (c *checker) visit(n ast.Node, nested int) {
	c.depth = max(c.depth, nested)
	switch n := n.(type) {
	case *ast.NilNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode, *ast.PointerNode:
	case *ast.IdentifierNode:
		c.refuseBare(n)
	case *ast.UnaryNode:
		c.visit(n.Node, nested)
	case *ast.BinaryNode:
		c.visitBinary(n, nested)
	case *ast.ChainNode:
		c.optional++
		c.visit(n.Node, nested)
		c.optional--
	case *ast.MemberNode:
		c.visitMember(n, nested)
	case *ast.BuiltinNode:
		c.visitCall(n, nested)
	case *ast.PredicateNode:
		c.visit(n.Node, nested+1)
	case *ast.CallNode:
		c.refuseCall(n)
	case *ast.ConditionalNode:
		c.visitAll(nested, n.Cond, n.Exp1, n.Exp2)
	case *ast.MapNode:
		c.visitAll(nested, n.Pairs...)
	case *ast.PairNode:
		c.visitAll(nested, n.Key, n.Value)
	case *ast.ArrayNode:
		c.visitAll(nested, n.Nodes...)
	default:
		c.refuse(n, "a condition can only compare values", "")
	}
}

func (c *checker) visitAll(nested int, nodes ...ast.Node) {
	for _, n := range nodes {
		c.visit(n, nested)
	}
}

// visitBinary allows a range FROM..TO only behind in, where the library makes no
// list of it.
func (c *checker) visitBinary(n *ast.BinaryNode, nested int) {
	if n.Operator == ".." {
		c.refuse(n, `".." is allowed only after in`, "write VALUE in FROM..TO")
	}
	if n.Operator == "in" && c.guarded == nil {
		c.guarded = map[string]bool{}
	}
	if n.Operator == "in" {
		c.guarded[n.Right.String()] = true
	}
	if n.Operator == "??" {
		c.optional++
	}
	c.visit(n.Left, nested)
	if n.Operator == "??" {
		c.optional--
	}
	if r, ok := n.Right.(*ast.BinaryNode); ok && r.Operator == ".." && n.Operator == "in" {
		c.visitAll(nested, r.Left, r.Right)
		return
	}
	c.visit(n.Right, nested)
}

func (c *checker) visitCall(n *ast.BuiltinNode, nested int) {
	if !slices.Contains(functions, n.Name) {
		c.refuse(n, fmt.Sprintf("unknown function %q in a condition", n.Name), "")
	}
	c.split = c.split || n.Name == "split"
	c.visitAll(nested, n.Arguments...)
}

// roots are the first names of all paths.
var roots = []string{"var", "env", "host", "each"}

// refuseBare refuses a name that is not part of a path.
func (c *checker) refuseBare(n *ast.IdentifierNode) {
	switch name := n.Value; {
	case slices.Contains(roots, name):
		c.refuse(n, fmt.Sprintf("%q alone is not a value", name), fmt.Sprintf("write %s.NAME", name))
	case slices.Contains(c.names.Vars, name):
		c.refuse(n, fmt.Sprintf("unknown name %q", name), fmt.Sprintf("did you mean var.%s?", name))
	case slices.Contains(c.names.Facts, name):
		c.refuse(n, fmt.Sprintf("unknown name %q", name), fmt.Sprintf("did you mean host.%s?", name))
	default:
		c.refuse(n, fmt.Sprintf("unknown name %q", name), fmt.Sprintf("write %q in quotes if it is a text", name))
	}
}

// foreignRoots maps other tools' names to the roots.
var foreignRoots = map[string]string{
	"vars": "var", "variables": "var", "data": "var", "values": "var", "facts": "host", "fact": "host", "ansible_facts": "host", "grains": "host", "environment": "env", "environ": "env",
}

// visitMember looks up the value of a path of names.
func (c *checker) visitMember(n *ast.MemberNode, nested int) {
	root, path := splitPath(n)
	if root == nil {
		c.visitAll(nested, n.Node, n.Property)
		return
	}
	first, ok := path[0].Property.(*ast.StringNode)
	switch {
	case !slices.Contains(roots, root.Value):
		if suggestion := suggestFromCCM(append([]string{root.Value}, listNames(path)...)...); suggestion != "" {
			c.refuse(root, fmt.Sprintf("unknown name %q", root.Value), suggestion)
			return
		}
		meant := foreignRoots[strings.ToLower(root.Value)]
		if meant == "" {
			meant = spelling.Suggest(root.Value, roots)
		}
		if meant == "" {
			c.refuseBare(root)
			return
		}
		c.refuse(root, fmt.Sprintf("unknown name %q", root.Value), fmt.Sprintf("did you mean %q?", meant))
		return
	case !ok:
		c.refuse(path[0].Property, fmt.Sprintf("want a name after %s, got an expression", root.Value), fmt.Sprintf("write %s.NAME", root.Value))
		return
	case root.Value == "each" && c.names.Each == nil:
		c.refuse(root, "each is only available with for_each", "")
		return
	case root.Value == "each":
		c.checkKeys(c.names.Each, path)
	case root.Value == "env":
		if _, ok := c.env[first.Value]; !ok {
			c.env[first.Value] = c.names.Env(first.Value)
			c.used = append(c.used, Use{"env." + first.Value, c.env[first.Value]})
		}
	case root.Value == "host":
		c.lookUp(first, root.Value, c.hosts, c.names.Facts, c.names.Host)
		c.checkKeys(c.hosts[first.Value], path[1:])
	default:
		c.lookUp(first, root.Value, c.vars, c.names.Vars, c.names.Var)
		c.checkKeys(c.vars[first.Value], path[1:])
	}
	for _, m := range path[1:] {
		c.visit(m.Property, nested)
	}
}

// splitPath returns the root and the steps of a path, nil when it does not begin
// with a name.
func splitPath(n *ast.MemberNode) (root *ast.IdentifierNode, path []*ast.MemberNode) {
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

// listNames returns the names of a path, "" for a step that is not a plain name.
func listNames(path []*ast.MemberNode) []string {
	list := make([]string, len(path))
	for i, step := range path {
		if name, ok := step.Property.(*ast.StringNode); ok {
			list[i] = name.Value
		}
	}
	return list
}

// lookUp adds the value of the name after a root to found.
func (c *checker) lookUp(n *ast.StringNode, root string, found map[string]any, known []string, value func(string) (any, *Error)) {
	name := n.Value
	if !slices.Contains(known, name) {
		suggestion := "declare it under vars"
		if root == "host" {
			suggestion = "settle knows " + strings.Join(known, ", ")
		}
		if meant := spelling.Suggest(name, known); meant != "" {
			suggestion = fmt.Sprintf("did you mean %s.%s?", root, meant)
		}
		c.refuse(n, fmt.Sprintf("%s.%s is not defined", root, name), suggestion)
		return
	}
	if _, ok := found[name]; ok {
		return
	}
	v, err := value(name)
	if err != nil {
		c.refuse(n, err.Message, err.Suggestion)
		return
	}
	found[name] = v
	c.used = append(c.used, Use{root + "." + name, v})
}

// checkKeys refuses a path to a missing key, as far as the path has plain names.
func (c *checker) checkKeys(value any, path []*ast.MemberNode) {
	for _, step := range path {
		m, isMap := value.(map[string]any)
		key, ok := step.Property.(*ast.StringNode)
		if !isMap || !ok {
			return
		}
		if value, ok = m[key.Value]; !ok && (c.optional > 0 || c.guarded[step.Node.String()]) {
			return
		}
		if !ok {
			var keys []string
			for k := range m {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			suggestion := ""
			if meant := spelling.Suggest(key.Value, keys); meant != "" {
				suggestion = "did you mean " + strconv.Quote(meant) + "?"
			}
			c.refuse(key, fmt.Sprintf("%s has no key %q", step.Node, key.Value), suggestion)
		}
	}
}

// refuseCall refuses a call of an unknown function.
func (c *checker) refuseCall(n *ast.CallNode) {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if ok && callee.Value == "version" && len(n.Arguments) == 1 {
		c.versions = true
		c.visitAll(0, n.Arguments...)
		return
	}
	if !ok {
		c.refuse(n, "a value cannot be called", "")
		return
	}
	suggestion := ""
	switch meant := spelling.Suggest(callee.Value, functions); {
	case slices.Contains([]string{"now", "date", "duration", "timezone"}, callee.Value):
		suggestion = "a condition has no clock, because the time of the plan is not that of the apply"
	case callee.Value == "lookup":
		suggestion = "write var.NAME for data, host.NAME for facts"
		if key, ok := first(n.Arguments).(*ast.StringNode); ok {
			suggestion = cmp.Or(suggestFromCCM(key.Value), suggestion)
		}
	case meant != "":
		suggestion = fmt.Sprintf("did you mean %q?", meant)
	}
	c.refuse(n, fmt.Sprintf("unknown function %q in a condition", callee.Value), suggestion)
}

func first(nodes []ast.Node) ast.Node {
	if len(nodes) == 0 {
		return nil
	}
	return nodes[0]
}

// listTypes returns the types of all values in use.
func (c *checker) listTypes() types.Map {
	return types.Map{"var": typeOf(c.vars), "host": typeOf(c.hosts), "env": types.TypeOf(c.env), "each": typeOf(c.names.Each)}
}

// listValues returns all values in use, by root.
func (c *checker) listValues() map[string]any {
	return map[string]any{"var": c.vars, "host": c.hosts, "env": c.env, "each": c.names.Each}
}

// limitWork refuses a condition that may take too long.
func (c *checker) limitWork() error {
	if c.estimateWork() > maxWork {
		return &Error{Line: 1, Column: 1, Message: "the condition would take too long: it visits every item of long lists", Suggestion: "compute the value outside and set a variable"}
	}
	return nil
}

// estimateWork returns an upper bound of the cost of an evaluation. Each condition
// on the items of a list may read all values, once for each item of the lists
// around it.
func (c *checker) estimateWork() float64 {
	items, size := measure(c.vars)
	moreItems, moreSize := measure(c.hosts)
	itemItems, itemSize := measure(c.names.Each)
	items, size = items+moreItems+itemItems, size+moreSize+itemSize+len(c.text)
	for _, text := range c.env {
		size += len(text)
	}
	if c.split {
		items += size
	}
	work := float64(size)
	for range c.depth {
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
