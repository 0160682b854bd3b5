package eval

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/value"
)

// HasExpression reports whether a node or one of its children contains ${…}.
func HasExpression(n *yaml.Node) bool {
	n = parse.Target(n)
	return n.Kind == yaml.ScalarNode && value.HasExpression(n.Value) || slices.ContainsFunc(n.Content, HasExpression)
}

// VariesByResource reports whether a node contains an expression that leads to
// another value for each resource: ${self.…} or ${each.…}.
func VariesByResource(n *yaml.Node) bool {
	n = parse.Target(n)
	if n.Kind == yaml.ScalarNode && value.HasExpression(n.Value) {
		parts, _ := value.Parse(n.Value)
		return slices.ContainsFunc(parts, func(p value.Part) bool {
			return p.Expr != nil && variesByResource(p.Expr)
		})
	}
	return slices.ContainsFunc(n.Content, VariesByResource)
}

// variesByResource reports whether an expression, or one in its brackets, leads to
// another value for each resource.
func variesByResource(x *value.Expr) bool {
	for x := range x.All() {
		if x.Root == "self" || x.Root == "each" {
			return true
		}
	}
	return false
}

// parseParts cuts a scalar into parts. It returns false after reporting mistakes
// in its expressions.
func (e *Env) parseParts(f Frame, n *yaml.Node) ([]value.Part, bool) {
	parse := value.Parse
	if e.ccm {
		parse = splitCCM
	}
	parts, faults := parse(n.Value)
	for _, fault := range faults {
		e.refuse(f, n, fault.Message, fault.Suggestion)
	}
	return parts, len(faults) == 0
}

// refuseRaw refuses raw expressions, which only the text of a command may have. It
// returns true when the parts contain no raw expression.
func (e *Env) refuseRaw(f Frame, n *yaml.Node, parts []value.Part) bool {
	none := true
	for _, p := range parts {
		if p.Expr != nil && p.Expr.Raw {
			e.refuse(f, n, fmt.Sprintf("%q stands outside of shell text", p.Text), "write "+strings.Replace(p.Text, "raw.", "", 1)+": nothing is quoted here")
			none = false
		}
	}
	return none
}

// refuseKey refuses an expression in a key of a map. It returns true when the key
// has no expression.
func (e *Env) refuseKey(f Frame, key *yaml.Node) bool {
	if !e.hasExpression(key.Value) {
		return true
	}
	e.refuse(f, key, fmt.Sprintf("an expression in the key %s", parse.Quote(key.Value)), "write the key out: only values can have expressions")
	return false
}

// lookupParts returns the values of the expressions among the parts of a scalar,
// nil for parts that are text. It returns false after reporting mistakes.
func (e *Env) lookupParts(f Frame, n *yaml.Node, parts []value.Part, found *Found) ([]any, bool) {
	all := true
	values := make([]any, len(parts))
	for i, p := range parts {
		if p.Expr == nil {
			continue
		}
		v, ok := e.lookup(f, n, p.Expr, found)
		if ok && len(parts) > 1 {
			if _, isText := value.Text(v); !isText {
				e.refuse(f, n, fmt.Sprintf("%s is %s, which cannot stand in a text", p.Text, value.Describe(v)), "write it as the whole value, or name one value in it")
				ok = false
			}
		}
		if all = all && ok && e.put(f, n, p, v, found); all {
			values[i] = v
		}
	}
	return values, all
}

// put notes that a value goes into a node: for the hash, for reports, and against
// the limit. It returns false when the limit is exceeded, which it reports once.
func (e *Env) put(f Frame, n *yaml.Node, p value.Part, v any, found *Found) bool {
	if !e.tally.add(p.Text, v) {
		if !e.tally.reported {
			e.tally.reported = true
			e.refuse(f, n, "the values that are put in have more than 64 MiB together", "")
		}
		return false
	}
	found.Uses = append(found.Uses, model.ValueUse{Expression: p.Text, Value: value.Show(v), From: e.levelsOf(p.Expr), Pos: f.File.Pos(n)})
	return true
}
