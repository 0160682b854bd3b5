package manifests

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

// variable is one variable that a manifest declares.
type variable struct {
	name     string
	pos      model.Pos
	file     *file      // that declares it
	typ      value.Type // "" is that of the default
	fallback *yaml.Node // the default, nil for none
	enum     *yaml.Node
	secret   bool
	required bool

	given  any    // from outside, nil for nothing
	by     string // who gave it
	at     model.Pos
	chased int  // 1: what its default leads to is being looked at, 2: it was
	known  bool // its value was found out
	value  any  // nil for none
	wrong  bool // which was said
}

// declaration are the keys of a variable that is declared with more than a default.
var declaration = []string{"type", "default", "description", "enum", "secret", "required"}

// takeValues reads what the files of a manifest declare and what is given to
// it, before anything that may use it.
func (l *loader) takeValues(main *file) {
	l.giveFacts()
	for _, f := range l.files {
		l.enter(f)
		if f.Root == nil {
			continue
		}
		if under := parse.Lookup(f.Root, "vars"); under != nil && parse.Lookup(f.Root, "ccm") == nil {
			l.declare(under)
		}
	}
	l.enter(main)
	l.give()
}

// declare reads the variables of a manifest.
func (l *loader) declare(n *yaml.Node) {
	s := scope{l: l, property: "vars"}
	if parse.IsNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		_, _ = s.want(n, model.Vars.String(), "write each on a line of its own: NAME: DEFAULT")
		return
	}
	for key, under := range parse.Pairs(n) {
		if !value.IsName(key.Value) {
			s.refuse(l.pos(key), fmt.Sprintf("%q is no name of a variable", key.Value), "use letters, digits, _ and -")
			continue
		}
		if first := l.vars[key.Value]; first != nil {
			s.refuse(l.pos(key), fmt.Sprintf("the variable %s is already declared at %s", key.Value, entry.Line(first.pos)), "give one of them another name")
			continue
		}
		v := &variable{name: key.Value, pos: l.pos(key), file: l.file}
		if !s.declared(v, under) {
			v.fallback = under
		}
		if v.fallback != nil && parse.IsNull(v.fallback) {
			v.fallback = nil
		}
		if l.vars == nil {
			l.vars = map[string]*variable{}
		}
		l.vars[v.name] = v
		l.varNames = append(l.varNames, v.name)
		if v.secret && v.fallback != nil {
			l.hideDefault(plainValue(v.fallback))
		}
	}
}

// declared reads a variable that is declared with more than its default. It
// returns false for any other value.
func (s scope) declared(v *variable, n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return false
	}
	for key := range parse.Pairs(n) {
		if !slices.Contains(declaration, key.Value) {
			return false
		}
	}
	for key, under := range parse.Pairs(n) {
		switch key.Value {
		case "type":
			types := model.Property{Name: "type", Choices: value.Types}
			if read, ok := s.choice(under, &types); ok {
				v.typ = value.Type(read.Text)
			} else {
				v.wrong = true
			}
		case "default":
			v.fallback = under
		case "description":
			_, _ = s.text(under, "a text")
		case "enum":
			if v.enum = under; under.Kind != yaml.SequenceNode || len(under.Content) == 0 {
				_, _ = s.want(under, "the list of what it may be", "")
				v.enum, v.wrong = nil, true
			}
		case "secret":
			read, _ := s.boolean(under, model.Bool)
			v.secret = read.Bool
		case "required":
			read, _ := s.boolean(under, model.Bool)
			v.required = read.Bool
		}
	}
	if v.required && v.fallback != nil && !parse.IsNull(v.fallback) {
		s.refuse(v.pos, fmt.Sprintf("the variable %s is required and has a default", v.name), "drop one of them")
		v.required = false
	}
	return true
}

// chase follows a default that is made of other variables, and says what is
// wrong with its expressions without finding out what they lead to.
func (l *loader) chase(v *variable) {
	switch {
	case v.chased == 2 || v.given != nil || v.fallback == nil:
		return
	case v.chased == 1:
		loop := l.chain[slices.Index(l.chain, v.name):]
		scope{l: l, property: "vars"}.refuse(v.pos, "these variables wait for each other: "+strings.Join(append(slices.Clone(loop), v.name), ", "), "give one of them a value of its own")
		for _, name := range loop {
			l.vars[name].wrong = true
		}
		return
	}
	v.chased = 1
	was := l.file
	l.enter(v.file)
	l.chain = append(l.chain, v.name)
	scope{l: l, property: "vars"}.chaseNode(v.fallback)
	l.enter(was)
	l.chain = l.chain[:len(l.chain)-1]
	v.chased = 2
}

func (s scope) chaseNode(n *yaml.Node) {
	if n = parse.Target(n); n.Kind == yaml.ScalarNode && value.Has(n.Value) {
		parts, _ := s.parse(n)
		s.cooked(n, parts)
		for _, p := range parts {
			if p.Expr != nil {
				s.chaseExpr(n, p.Expr)
			}
		}
	}
	for _, child := range n.Content {
		s.chaseNode(child)
	}
}

// chaseExpr says what is wrong with an expression whatever it leads to.
func (s scope) chaseExpr(n *yaml.Node, e *value.Expr) {
	switch e.Root {
	case "var":
		if v := s.variable(n, e); v != nil {
			s.l.chase(v)
		}
	case "host":
		s.fact(n, e)
	case "self":
		_, _ = s.ofSelf(n, e)
	case "each":
		_, _ = s.ofItem(n, e)
	}
}

// find finds out the value of a variable, once. It returns false after saying
// what is wrong with it; the value is nil when there is none.
func (l *loader) find(v *variable) (any, bool) {
	if v.known || v.wrong {
		return v.value, !v.wrong
	}
	v.known = true
	was := l.file
	l.enter(v.file)
	defer l.enter(was)
	found, ok := l.findOut(scope{l: l, property: "vars"}, v)
	if v.wrong = !ok; v.wrong {
		return nil, false
	}
	v.value = found
	if v.secret {
		l.hide(found)
	}
	return found, true
}

// findOut takes what was given, else the default, as what the variable is
// declared to be.
func (l *loader) findOut(s scope, v *variable) (any, bool) {
	typ, found, pos, err := v.typ, v.given, v.pos, error(nil)
	if typ == "" && v.fallback != nil && !expressive(v.fallback) {
		typ = typeOf(v.fallback)
	}
	text, isText := found.(string)
	switch {
	case found == nil && v.fallback == nil:
		return nil, true
	case found == nil:
		pos = l.pos(v.fallback)
		var ok bool
		if found, ok = s.evaluate(v.fallback); !ok {
			return nil, false
		}
		if text, isText = found.(string); isText && typ != "" && expressive(v.fallback) {
			found, err = readText(text, typ)
		}
	case isText && typ != "":
		pos = v.at
		found, err = readText(text, typ)
	default:
		pos = v.at
	}
	if err == nil && typ != "" {
		found, err = value.As(found, typ)
	}
	if err != nil {
		s.refuse(pos, v.name+": "+err.Error(), "")
		return nil, false
	}
	return found, v.enum == nil || s.among(v, found, pos)
}

// readText makes a value of a text from outside; a list may be written as YAML does.
func readText(text string, typ value.Type) (any, error) {
	if typ == value.List && strings.HasPrefix(strings.TrimSpace(text), "[") {
		if list, ok := parse.ParseList(text); ok {
			return plainValue(list), nil
		}
		return nil, fmt.Errorf("want a list, got %q", text)
	}
	return value.Read(text, typ)
}

// among says whether a value is one of those that a variable may have.
func (s scope) among(v *variable, found any, pos model.Pos) bool {
	var allowed []string
	for _, item := range v.enum.Content {
		allowed = append(allowed, value.Show(plainValue(parse.Target(item))))
	}
	items, isList := found.([]any)
	if !isList {
		items = []any{found}
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
		s.refuse(pos, fmt.Sprintf("%s: %s is not in its enum", v.name, parse.Quote(text)), suggestion)
		return false
	}
	return true
}

// hide keeps the texts and numbers of a value out of everything that is said.
// Whether a bool is true is no secret that could be kept.
func (l *loader) hide(v any) {
	value.Scalars(v, func(scalar any) {
		if _, ok := scalar.(bool); ok || scalar == nil {
			return
		}
		text, _ := value.Text(scalar)
		l.reveal(text)
	})
}

// hideDefault hides the default of a secret as far as it is known before its
// expressions lead anywhere: how they are written is no secret, but the text
// behind :- is.
func (l *loader) hideDefault(v any) {
	value.Scalars(v, func(scalar any) {
		text, isText := scalar.(string)
		if !isText || !value.Has(text) {
			l.hide(scalar)
			return
		}
		parts, _ := value.Parse(text)
		for _, p := range parts {
			if p.Expr != nil && p.Expr.Default != "" {
				l.hide(p.Expr.Default)
			}
		}
	})
}

// reveal notes a value that is a secret.
func (l *loader) reveal(text string) {
	if !l.revealed[text] {
		l.revealed[text] = true
		l.m.SecretValues = append(l.m.SecretValues, text)
	}
}
