package ccm

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/settle-cm/settle/model/spelling"
)

// World is everything that an expression can lead to.
type World struct {
	Facts   map[string]any
	Data    map[string]any
	Environ func(name string) (string, bool)
	// Lenient makes a missing value an empty text: so it is in data, and in the
	// hierarchy.
	Lenient bool
	NoData  bool // the manifest has no data, so that a path into it is empty
}

// Error is a mistake in an expression.
type Error struct{ Message, Suggestion string }

// Error returns the message and the suggestion.
func (e *Error) Error() string { return e.Message + "; " + e.Suggestion }

// Result is the value of an expression.
type Result struct {
	Value    any // nil for none; else as Expr returns it
	Warnings []Error
}

const (
	// maxCode limits the length of an expression in bytes: nested brackets cost stack.
	maxCode = 4096
	// maxDepth limits how deep conditions on the items of lists may be nested.
	maxDepth = 2
)

// refused are functions of CCM that settle does not have, with what to do instead.
var refused = map[string]string{
	"readFile": "write template: FILE, or source: FILE, in place of content", "file": "write template: FILE, or source: FILE, in place of content",
	"template": "write template: FILE in place of content", "jet": "write the text out, or make a resource for each item with for_each and without ccm:",
	"kvGet": "give the value by --var NAME=VALUE, and write lookup('data.NAME')", "registrations": "give the list by --var-file, and write lookup('data.NAME')",
}

// Evaluate returns the value of an expression. Its errors have type *Error.
func (w World) Evaluate(code string) (result Result, err error) {
	defer func() {
		if p := recover(); p != nil { // the library may panic on an odd text
			err = &Error{fmt.Sprintf("invalid expression: %v", p), ""}
		}
	}()
	if len(code) > maxCode {
		return result, &Error{fmt.Sprintf("the expression has more than %d bytes", maxCode), "compute the value outside, and give it by --var"}
	}
	tree, err := parser.Parse(code)
	if err != nil {
		return result, reword(code, err)
	}
	v := visitor{world: w, environ: map[string]string{}}
	v.visit(tree.Node, 0)
	if v.err != nil {
		return result, v.err
	}
	lookup := func(params ...any) (any, error) { return w.lookup(&result, params) }
	env := map[string]any{"Facts": orEmpty(w.Facts), "Data": orEmpty(w.Data), "Environ": v.environ}
	program, err := expr.Compile(code, expr.Env(env), expr.Function("lookup", lookup))
	if err != nil {
		return result, reword(code, err)
	}
	result.Warnings = append(result.Warnings, v.warnings...)
	result.Value, err = expr.Run(program, env)
	if err != nil && strings.Contains(err.Error(), "cannot fetch") { // a step of a path behind a missing one
		return w.explainNothing(code, result)
	}
	if err != nil {
		return result, reword(code, err)
	}
	if result.Value == nil {
		return w.explainNothing(code, result)
	}
	return result, nil
}

// orEmpty returns a map in place of none.
func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// lookup is the function of that name: the value at a path, or the default.
func (w World) lookup(result *Result, params []any) (any, error) {
	if len(params) == 0 || len(params) > 2 {
		return nil, &Error{"lookup wants a path, and maybe a default", "write lookup('data.NAME', 'DEFAULT')"}
	}
	path, ok := params[0].(string)
	if !ok {
		return nil, &Error{"lookup wants a path in quotes", "write lookup('data.NAME')"}
	}
	steps, err := splitPath(path)
	if err != nil {
		return nil, &Error{err.Error(), "name the value itself, or give it by --var"}
	}
	if v, ok := w.at(steps); ok {
		return v, nil
	}
	if len(params) == 2 && params[1] != nil {
		return params[1], nil
	}
	if w.Lenient {
		return "", nil
	}
	e, empty := w.explainMissing(steps)
	if empty {
		result.Warnings = append(result.Warnings, *e)
		return "", nil
	}
	return nil, e
}

// at returns the value at a path that begins with data, facts or environ.
func (w World) at(steps []string) (any, bool) {
	switch steps[0] {
	case "data":
		return follow(w.Data, steps[1:])
	case "facts":
		return follow(w.Facts, steps[1:])
	case "environ":
		if len(steps) == 2 && w.Environ != nil {
			return fromPair(w.Environ(steps[1]))
		}
	}
	return nil, false
}

func fromPair(text string, ok bool) (any, bool) { return text, ok }

// explainMissing describes a path that leads to nothing. It returns true when that
// is only a warning.
func (w World) explainMissing(steps []string) (e *Error, empty bool) {
	path := strings.Join(steps, ".")
	name := strings.Join(steps[1:], ".")
	const fallback = "a default as in lookup('%s', 'TEXT')"
	switch steps[0] {
	case "environ":
		return &Error{fmt.Sprintf("the environment has no %s", name), "settle does not read .env: set the variable, or write " + fmt.Sprintf(fallback, path)}, false
	case "facts":
		return &Error{fmt.Sprintf("no fact %s", path), suggest("facts.", name, w.Facts) + "; or give it with --fact " + name + "=…"}, false
	case "data":
		if w.NoData {
			return &Error{fmt.Sprintf("%s is empty: the manifest has no data", path), "add data: with " + name}, true
		}
		return &Error{fmt.Sprintf("data has no %s", name), suggest("data.", name, w.Data) + "; or write " + fmt.Sprintf(fallback, path)}, false
	}
	return &Error{fmt.Sprintf("lookup(%q) leads to nothing", path), "a path begins with data, facts or environ"}, false
}

// suggest returns the paths in a map that are close to a missing one, else the first
// of them all.
func suggest(prefix, name string, m map[string]any) string {
	all := Paths(m)
	last := name[strings.LastIndexByte(name, '.')+1:]
	var near []string
	for _, p := range all {
		if p[strings.LastIndexByte(p, '.')+1:] == last && len(near) < 3 {
			near = append(near, prefix+p)
		}
	}
	if len(near) == 0 {
		if meant := spelling.Suggest(name, all); meant != "" {
			near = append(near, prefix+meant)
		}
	}
	if len(near) > 0 {
		return "did you mean " + strings.Join(near, " or ") + "?"
	}
	if len(all) == 0 {
		return "there are none"
	}
	const most = 12
	listed := strings.Join(all[:min(most, len(all))], ", ")
	if len(all) > most {
		listed += ", …"
	}
	return "there are " + listed
}

// pathPattern matches the paths that an expression names.
var pathPattern = regexp.MustCompile(`\b(Data|Facts)((?:\??\.\w+)+)`)

// explainNothing returns the error for an expression whose value is nothing, or an
// empty text where that is allowed.
func (w World) explainNothing(code string, result Result) (Result, error) {
	result.Value = ""
	if w.Lenient {
		return result, nil
	}
	for _, m := range pathPattern.FindAllStringSubmatch(code, -1) {
		steps := strings.Split(strings.ToLower(m[1])+strings.ReplaceAll(m[2], "?", ""), ".")
		if _, ok := w.at(steps); ok {
			continue
		}
		e, empty := w.explainMissing(steps)
		if empty {
			result.Warnings = append(result.Warnings, *e)
			return result, nil
		}
		return result, e
	}
	return result, &Error{"the expression leads to nothing", "write ?? 'TEXT' behind it for a default"}
}

// visitor looks through the tree of an expression before it is compiled.
type visitor struct {
	world    World
	environ  map[string]string // the variables that the expression names
	warnings []Error
	err      *Error
}

// visit reports functions that settle does not have, and conditions that are nested
// too deep. It collects the variables of the environment.
func (v *visitor) visit(n ast.Node, depth int) {
	if depth > maxDepth && v.err == nil {
		v.err = &Error{"conditions on the items of lists are nested too deep", "compute the value outside, and give it by --var"}
	}
	switch n := n.(type) {
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok && refused[callee.Value] != "" && v.err == nil {
			v.err = &Error{fmt.Sprintf("settle has no %s()", callee.Value), refused[callee.Value]}
		}
	case *ast.BuiltinNode:
		if refused[n.Name] != "" && v.err == nil {
			v.err = &Error{fmt.Sprintf("settle has no %s()", n.Name), refused[n.Name]}
		}
	case *ast.MemberNode:
		root, isName := n.Node.(*ast.IdentifierNode)
		if key, ok := n.Property.(*ast.StringNode); ok && isName && root.Value == "Environ" {
			v.addEnviron(key.Value)
		}
	}
	for _, child := range children(n) {
		_, nested := child.(*ast.PredicateNode)
		if nested {
			v.visit(child, depth+1)
		} else {
			v.visit(child, depth)
		}
	}
}

// addEnviron adds a variable of the environment. A missing one is empty, as in CCM.
func (v *visitor) addEnviron(name string) {
	text, ok := "", false
	if v.world.Environ != nil {
		text, ok = v.world.Environ(name)
	}
	if !ok && !v.world.Lenient {
		v.warnings = append(v.warnings, Error{fmt.Sprintf("the environment has no %s, so the value is empty", name), "settle does not read .env: set the variable"})
	}
	v.environ[name] = text
}

// children returns the nodes directly below a node.
func children(n ast.Node) []ast.Node {
	switch n := n.(type) {
	case *ast.UnaryNode:
		return []ast.Node{n.Node}
	case *ast.BinaryNode:
		return []ast.Node{n.Left, n.Right}
	case *ast.ChainNode:
		return []ast.Node{n.Node}
	case *ast.MemberNode:
		return []ast.Node{n.Node, n.Property}
	case *ast.SliceNode:
		return slices.DeleteFunc([]ast.Node{n.Node, n.From, n.To}, func(n ast.Node) bool { return n == nil })
	case *ast.CallNode:
		return n.Arguments
	case *ast.BuiltinNode:
		return n.Arguments
	case *ast.PredicateNode:
		return []ast.Node{n.Node}
	case *ast.ConditionalNode:
		return []ast.Node{n.Cond, n.Exp1, n.Exp2}
	case *ast.VariableDeclaratorNode:
		return []ast.Node{n.Value, n.Expr}
	case *ast.SequenceNode:
		return n.Nodes
	case *ast.ArrayNode:
		return n.Nodes
	case *ast.MapNode:
		return n.Pairs
	case *ast.PairNode:
		return []ast.Node{n.Key, n.Value}
	}
	return nil
}

var unknownName = regexp.MustCompile(`^unknown name (\S+)$`)

// reword turns an error of the library into an *Error.
func reword(code string, err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	message := firstLine(err).Error()
	var found *file.Error
	if errors.As(err, &found) {
		message, _, _ = strings.Cut(found.Message, "\n")
	}
	if m := unknownName.FindStringSubmatch(message); m != nil {
		suggestion := "an expression has Data, Facts, Environ and lookup(); a shell variable is $" + m[1] + ", without braces"
		if meant := spelling.Suggest(m[1], []string{"Data", "Facts", "Environ", "lookup"}); meant != "" {
			suggestion = fmt.Sprintf("did you mean %s?", meant)
		}
		return &Error{fmt.Sprintf("unknown name %q", m[1]), suggestion}
	}
	message, _, _ = strings.Cut(message, " (unexpected token")
	if rest, ok := strings.CutPrefix(message, "unexpected token "); ok {
		message = "unexpected " + rest
		if rest == "EOF" {
			message = "the expression ends too early"
		}
	}
	return &Error{"invalid expression: " + message, "see expr-lang.org for the language; text in braces is an expression below ccm:"}
}

// firstLine returns the first line of an error's text: the library draws the place
// below it.
func firstLine(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(line)
}
