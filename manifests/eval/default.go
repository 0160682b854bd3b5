package eval

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/spelling"
	"github.com/settle-cm/settle/model/value"
)

// followState is how far a default has been searched for mistakes.
type followState uint8

const (
	notFollowed followState = iota
	following
	followed
)

// followDefault reports mistakes in the expressions of a default, and in those of
// the variables it uses, without evaluating them. chain holds the variables that
// led to this one.
func (e *Env) followDefault(v *variable, chain []string) {
	switch {
	case v.followed == followed || v.given.value != nil || v.fallback == nil:
		return
	case v.followed == following:
		loop := chain[slices.Index(chain, v.name):]
		e.sink.Refuse(varsFrame(v.file).Problem(v.pos, "these variables wait for each other: "+strings.Join(append(slices.Clone(loop), v.name), ", "), "give one of them a value of its own"))
		for _, name := range loop {
			e.vars.byName[name].wrong = true
		}
		return
	}
	v.followed = following
	e.followNode(varsFrame(v.file), v.fallback, append(chain, v.name))
	v.followed = followed
}

// followNode searches a node and its children for mistakes in expressions.
func (e *Env) followNode(f Frame, n *yaml.Node, chain []string) {
	if n = parse.Target(n); n.Kind == yaml.ScalarNode && value.HasExpression(n.Value) {
		parts, _ := e.parseParts(f, n)
		e.refuseRaw(f, n, parts)
		for _, p := range parts {
			if p.Expr != nil {
				e.followExpression(f, n, p.Expr, chain)
			}
		}
	}
	for _, child := range n.Content {
		e.followNode(f, child, chain)
	}
}

// followExpression reports an expression that can never lead anywhere, whatever the
// values are.
func (e *Env) followExpression(f Frame, n *yaml.Node, x *value.Expr, chain []string) {
	switch x.Root {
	case "var":
		if v := e.findVariable(f, n, x); v != nil {
			e.followDefault(v, chain)
		}
	case "host":
		e.checkFactName(f, n, x)
	case "self":
		_, _ = e.lookupSelf(f, n, x)
	case "each":
		_, _ = e.lookupItem(f, n, x)
	}
}

// evaluateVariable returns the value of a variable, nil for none. It returns false
// after reporting why the value is wrong. The uses are those of a default that is
// evaluated by this call.
func (e *Env) evaluateVariable(v *variable) (any, Found, bool) {
	if v.known || v.wrong {
		return v.value, Found{Missing: v.missing}, !v.wrong
	}
	v.known = true
	var found Found
	result, ok := e.readVariable(v, &found)
	v.missing = found.Missing
	if v.wrong = !ok; v.wrong {
		return nil, found, false
	}
	v.value = result
	if v.secret {
		e.hide(result)
	}
	return result, found, true
}

// readVariable returns the given value of a variable, else its default, as a value
// of its declared type.
func (e *Env) readVariable(v *variable, found *Found) (any, bool) {
	if v.given.value == nil && v.fallback == nil {
		return nil, true
	}
	typ, result, pos, isText := v.typ, v.given.value, v.at, false
	if typ == "" && v.fallback != nil && !HasExpression(v.fallback) {
		typ = typeOf(v.fallback)
	}
	fromText := true // a text of the command line or environment stands for any type
	if result == nil {
		pos, fromText = v.file.Pos(v.fallback), HasExpression(v.fallback)
		var ok bool
		if result, ok = e.evaluateNode(varsFrame(v.file), v.fallback, found); !ok {
			return nil, false
		}
	}
	var err error
	var text string
	if text, isText = result.(string); isText && typ != "" && fromText {
		result, err = readTyped(text, typ)
	}
	if err == nil && typ != "" {
		result, err = value.Convert(result, typ)
	}
	if err == nil && v.enum != nil {
		return result, e.checkEnum(v, result, pos, found.Uses)
	}
	if err != nil {
		p := varsFrame(v.file).Problem(pos, v.name+": "+err.Error(), "")
		e.sink.Refuse(entry.Attribute(p, found.Uses))
		return nil, false
	}
	return result, true
}

// readTyped reads a text from outside as a value of a type. A list may be written
// in brackets as in YAML.
func readTyped(text string, typ value.Type) (any, error) {
	if typ == value.List && strings.HasPrefix(strings.TrimSpace(text), "[") {
		if list, ok := parse.ParseList(text); ok {
			return plainValue(list), nil
		}
		return nil, fmt.Errorf("want a list, got %q", text)
	}
	return value.ParseAs(text, typ)
}

// checkEnum refuses a value, or an item of a list, that the enum of a variable lacks.
func (e *Env) checkEnum(v *variable, result any, pos model.Pos, uses []model.ValueUse) bool {
	var allowed []string
	for _, item := range v.enum.Content {
		allowed = append(allowed, value.Show(plainValue(item)))
	}
	items, isList := result.([]any)
	if !isList {
		items = []any{result}
	}
	for _, item := range items {
		text := value.Show(item)
		if slices.Contains(allowed, text) {
			continue
		}
		suggestion := "give one of " + strings.Join(allowed, ", ")
		if meant := spelling.Suggest(text, allowed); meant != "" {
			suggestion = entry.DidYouMean(meant)
		}
		p := varsFrame(v.file).Problem(pos, fmt.Sprintf("%s: %s is not in its enum", v.name, parse.Quote(text)), suggestion)
		e.sink.Refuse(entry.Attribute(p, uses))
		return false
	}
	return true
}
