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
	case v.followed == followed || v.given.value != nil:
		return
	case v.followed == following:
		loop := chain[slices.Index(chain, v.name):]
		e.sink.Refuse(newFrame(v.file, "vars").Problem(v.pos, "these variables wait for each other: "+strings.Join(append(slices.Clone(loop), v.name), ", "), "give one of them a value of its own"))
		for _, name := range loop {
			e.vars.byName[name].wrong = true
		}
		return
	}
	v.followed = following
	for _, s := range v.sources() {
		e.followNode(newFrame(s.file, "vars"), s.node, append(chain, v.name))
	}
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
	for i := range x.Path {
		if key := x.Keys[i]; key != nil {
			e.followExpression(f, n, key, chain)
		}
	}
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

// sources returns the nodes that the value of a variable is made of, where it is
// not given from outside: the default, the override in its place, or all of them
// where overrides are merged.
func (v *variable) sources() []override {
	switch {
	case len(v.overrides) > 0 && !v.deep:
		return v.overrides
	case v.fallback == nil:
		return v.overrides
	}
	return append([]override{{file: v.file, node: v.fallback}}, v.overrides...)
}

// hasExpression reports whether the value of a variable depends on expressions.
func (v *variable) hasExpression() bool {
	return slices.ContainsFunc(v.sources(), func(s override) bool { return HasExpression(s.node) })
}

// readVariable returns the given value of a variable, else that of its default and
// its overrides, as a value of its declared type.
func (e *Env) readVariable(v *variable, found *Found) (result any, ok bool) {
	if v.given.value != nil {
		return e.convert(newFrame(v.file, "vars"), v, v.given.value, v.at, true, nil)
	}
	for i, s := range v.sources() {
		raw, ok := e.evaluateNode(newFrame(s.file, "vars"), s.node, found)
		if !ok {
			return nil, false
		}
		one, ok := e.convert(newFrame(s.file, "vars"), v, raw, s.file.Pos(s.node), HasExpression(s.node), found.Uses)
		if !ok {
			return nil, false
		}
		if i == 0 {
			result = one
		} else {
			result = value.Merge(result, one)
		}
	}
	return result, true
}

// typeOfValues returns the type that every value of a variable must have, "" for any.
func (v *variable) typeOfValues() value.Type {
	if v.typ == "" && v.fallback != nil && !HasExpression(v.fallback) {
		return typeOf(v.fallback)
	}
	return v.typ
}

// convert returns a value as one that a variable may have. fromText says that a text
// stands for a value of any type, as it does on the command line. It returns false
// after reporting a value of another type or outside of the enum.
func (e *Env) convert(f Frame, v *variable, raw any, pos model.Pos, fromText bool, uses []model.ValueUse) (result any, ok bool) {
	typ := v.typeOfValues()
	var err error
	result = raw
	if text, isText := raw.(string); isText && typ != "" && fromText {
		result, err = readTyped(text, typ)
	}
	if err == nil && typ != "" {
		_, v.number = result.(int)
		result, err = value.Convert(result, typ)
	}
	if err != nil {
		p := f.Problem(pos, v.name+": "+err.Error(), "")
		e.sink.Refuse(entry.Attribute(p, uses))
		return nil, false
	}
	if v.enum != nil {
		return result, e.checkEnum(f, v, result, pos, uses)
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
func (e *Env) checkEnum(f Frame, v *variable, result any, pos model.Pos, uses []model.ValueUse) bool {
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
		p := f.Problem(pos, fmt.Sprintf("%s: %s is not in its enum", v.name, parse.Quote(text)), suggestion)
		e.sink.Refuse(entry.Attribute(p, uses))
		return false
	}
	return true
}
