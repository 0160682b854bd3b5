package eval

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/value"
)

// expand returns a node with values in place of its expressions. Nodes without
// expressions are shared with the tree. It returns false after reporting what is
// wrong, with the valid rest of a list or a map, nil for no rest.
func (e *Env) expand(f Frame, n *yaml.Node, kind model.Kind, g *graft) (*yaml.Node, bool) {
	switch {
	case !e.mayExpand(n):
		return n, true
	case n.Kind == yaml.ScalarNode:
		return e.expandText(f, n, kind, g)
	case n.Kind == yaml.MappingNode:
		return e.expandMap(f, n, kind, g)
	}
	return e.expandList(f, n, kind, g)
}

// mayExpand reports whether a node may contain an expression. It is fast: most
// nodes of most manifests contain none.
func (e *Env) mayExpand(n *yaml.Node) bool {
	n = parse.Target(n)
	if n.Kind == yaml.ScalarNode {
		return strings.Contains(n.Value, "${") || e.ccm && strings.Contains(n.Value, "{")
	}
	return slices.ContainsFunc(n.Content, e.mayExpand)
}

// kindOfItem returns the kind of the items of a value. The words of a command are
// texts: nothing splits them again.
func kindOfItem(kind model.Kind) model.Kind {
	switch kind {
	case model.CommandLine:
		return model.Text
	case model.CommandLines:
		return model.CommandLine
	}
	return kind
}

// expandList returns a copy of a list with values in place of expressions.
func (e *Env) expandList(f Frame, n *yaml.Node, kind model.Kind, g *graft) (*yaml.Node, bool) {
	all := true
	made := make([]*yaml.Node, 0, len(n.Content))
	for _, child := range n.Content {
		child = parse.Target(child)
		if kind == model.Environment && !e.refuseVariableName(f, child) {
			all = false
			continue
		}
		expanded, ok := e.expand(f, child, kindOfItem(kind), g)
		all = all && ok
		if expanded != nil {
			made = append(made, expanded)
		}
	}
	return copyOf(n, made), all
}

// expandMap returns a copy of a map with values in place of expressions. Merged
// keys become keys of its own.
func (e *Env) expandMap(f Frame, n *yaml.Node, kind model.Kind, g *graft) (*yaml.Node, bool) {
	all := true
	made := make([]*yaml.Node, 0, len(n.Content))
	for key, child := range parse.Pairs(n) {
		all = e.refuseKey(f, key) && all
		expanded, ok := e.expand(f, child, kindOfItem(kind), g)
		all = all && ok
		if expanded != nil {
			made = append(made, key, expanded)
		}
	}
	return copyOf(n, made), all
}

func copyOf(n *yaml.Node, content []*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Line: n.Line, Column: n.Column, Content: content}
}

// refuseVariableName refuses an expression in the name of a variable, KEY=VALUE. It
// returns true when the name has no expression.
func (e *Env) refuseVariableName(f Frame, n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || !strings.Contains(n.Value, "${") {
		return true
	}
	if key, _, _ := strings.Cut(n.Value, "="); e.hasExpression(key) {
		e.refuse(f, n, "an expression in the name of a variable", "write NAME= and the expression behind it")
		return false
	}
	return true
}

// expandText puts values into one scalar.
func (e *Env) expandText(f Frame, n *yaml.Node, kind model.Kind, g *graft) (*yaml.Node, bool) {
	e.warnDoubleBraces(f, n)
	if !e.hasExpression(n.Value) {
		return n, true
	}
	parts, valid := e.parseParts(f, n)
	if !isCommand(kind) && !g.allowRaw {
		valid = e.refuseRaw(f, n, parts) && valid
	}
	values, ok := e.lookupParts(f, n, parts, &g.found) // also with a mistake in the text: there may be more
	if !ok || !valid {
		return nil, false
	}
	if len(parts) == 1 && parts[0].Expr != nil {
		if _, isText := value.Text(values[0]); !isText || kind == model.AnyValue {
			return g.addValue(n, parts[0], values[0], kind), true
		}
	}
	made := g.addText(n, parts, values, kind)
	if fill := g.nodes[made]; fill != nil && len(parts) == 1 {
		fill.Number = e.isNumber(parts[0].Expr, values[0])
	}
	return made, true
}

// doubleBraces matches an expression in the form of other tools. ${{ env. is left out:
// files for GitHub's workflows are full of it.
var doubleBraces = entry.Pattern(`\$+\{\{ *((?:var|host|self|each)\.[A-Za-z0-9_.-]+) *\}\}`)

// warnDoubleBraces warns of ${{ var.x }}, which stays text.
func (e *Env) warnDoubleBraces(f Frame, n *yaml.Node) {
	if e.ccm || !strings.Contains(n.Value, "${{") {
		return
	}
	m := doubleBraces().FindStringSubmatch(n.Value)
	if m == nil || strings.HasPrefix(m[0], "$$") {
		return
	}
	e.sink.Warn(f.Problem(f.File.Pos(n), fmt.Sprintf("%q is not an expression and stays as it is", m[0]),
		fmt.Sprintf("write ${%s}, or $%s for the text itself", m[1], m[0])))
}

// isNumber reports whether the value of an expression is a number, or a text that
// was given as a number for a variable of texts. A mode must not be either.
func (e *Env) isNumber(x *value.Expr, v any) bool {
	if _, ok := v.(int); ok || x == nil {
		return ok
	}
	if x.Root != "var" || len(x.Path) != 1 {
		return false
	}
	variable := e.vars.byName[x.Path[0]]
	return variable != nil && variable.number
}

func isCommand(kind model.Kind) bool {
	return kind == model.CommandLine || kind == model.CommandLines
}
