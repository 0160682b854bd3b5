package eval

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/shape"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/value"
)

// variables are the declared variables.
type variables struct {
	byName map[string]*variable
	list   []*variable // in the order of the files
	names  []string    // the same
}

// variable is one declared variable with its value, once that is known.
type variable struct {
	declaration
	given
	overrides []override // that hold on this machine, in the order of the levels
	deep      bool       // they are merged into the default
	followed  followState
	known     bool // value was evaluated
	wrong     bool // it has no valid value, which was reported or is in missing
	value     any  // nil for none
	number    bool // value is a text that was given as a number
	missing   model.Problems
}

// declaration holds the keys that declare a variable.
type declaration struct {
	name     string
	pos      model.Pos
	file     *parse.File
	typ      value.Type // "" is the type of the default
	fallback *yaml.Node // the default, nil for none
	enum     *yaml.Node
	secret   bool
	required bool
}

// given is the value of a variable from outside.
type given struct {
	value any    // nil for none
	by    string // the source, for messages
	at    model.Pos
}

// declarationKeys are the keys of a declaration that is more than a default.
var declarationKeys = []string{"type", "default", "description", "enum", "secret", "required"}

// declareAll declares the variables of a file.
func (e *Env) declareAll(file *parse.File, n *yaml.Node) {
	f := newFrame(file, "vars")
	if parse.IsNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		_, _ = e.reader(f).RefuseForm(n, model.Vars.String(), "write each on a line of its own: NAME: DEFAULT")
		return
	}
	for key, under := range parse.Pairs(n) {
		first := e.vars.byName[key.Value]
		switch {
		case !value.IsName(key.Value):
			e.refuse(f, key, fmt.Sprintf("%q is no name of a variable", key.Value), "use letters, digits, _ and -")
		case first != nil:
			e.refuse(f, key, fmt.Sprintf("the variable %s is already declared at %s", key.Value, entry.Line(first.pos)), "give one of them another name")
		default:
			e.declare(f, key, under)
		}
	}
}

// declare declares one variable. The text of a secret default is redacted from now
// on, also in problems about the rest of the manifest.
func (e *Env) declare(f Frame, key, under *yaml.Node) {
	v := &variable{declaration: declaration{name: key.Value, pos: f.File.Pos(key), file: f.File}}
	if isDeclaration(under) {
		d, ok := readDeclaration(e.reader(f), v.declaration, under)
		v.declaration, v.wrong = d, !ok
	} else {
		v.fallback = under
	}
	if v.fallback != nil && parse.IsNull(v.fallback) {
		v.fallback = nil
	}
	e.vars.byName = entry.Put(e.vars.byName, v.name, v)
	e.vars.list = append(e.vars.list, v)
	e.vars.names = append(e.vars.names, v.name)
	if v.secret && v.fallback != nil {
		e.hideDefault(plainValue(v.fallback))
	}
}

// isDeclaration reports whether a node declares more than a default: a map with
// keys of a declaration only.
func isDeclaration(n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return false
	}
	for key := range parse.Pairs(n) {
		if !slices.Contains(declarationKeys, key.Value) {
			return false
		}
	}
	return true
}

// readDeclaration adds the keys of a node to a declaration. It returns false after
// reporting one without which the variable has no valid value.
func readDeclaration(r shape.Reader, d declaration, n *yaml.Node) (declaration, bool) {
	all := true
	for key, under := range parse.Pairs(n) {
		switch key.Value {
		case "type":
			types := model.Property{Name: "type", Choices: value.Types}
			read, ok := r.ReadChoice(under, &types)
			if all = all && ok; ok {
				d.typ = value.Type(read.Text)
			}
		case "default":
			d.fallback = under
		case "description":
			_, _ = r.ReadText(under, "a text")
		case "enum":
			if d.enum = under; under.Kind != yaml.SequenceNode || len(under.Content) == 0 {
				_, _ = r.RefuseForm(under, "a list of the values that it may have", "")
				d.enum, all = nil, false
			}
		case "secret":
			read, _ := r.ReadBool(under)
			d.secret = read.Bool
		case "required":
			read, _ := r.ReadBool(under)
			d.required = read.Bool
		}
	}
	if d.required && d.fallback != nil && !parse.IsNull(d.fallback) {
		r.Refuse(d.pos, fmt.Sprintf("the variable %s is required and has a default", d.name), "drop one of them")
		d.required = false
	}
	return d, all
}

// hide redacts the texts and numbers of a value. A bool is not redacted: its two
// values are everywhere.
func (e *Env) hide(v any) {
	value.EachScalar(v, func(scalar any) {
		if _, ok := scalar.(bool); ok || scalar == nil {
			return
		}
		text, _ := value.Text(scalar)
		e.secrets.Add(text)
	})
}

// hideDefault redacts the default of a secret before its expressions are
// evaluated: every text in it, and the text behind ":-" in an expression.
func (e *Env) hideDefault(v any) {
	value.EachScalar(v, func(scalar any) {
		text, isText := scalar.(string)
		if !isText || !value.HasExpression(text) {
			e.hide(scalar)
			return
		}
		parts, _ := value.Parse(text)
		for _, p := range parts {
			if p.Expr != nil && p.Expr.Default != "" {
				e.hide(p.Expr.Default)
			}
		}
	})
}
