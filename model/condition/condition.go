// Package condition decides whether a resource is for this machine: it compiles
// what when says, in the language of github.com/expr-lang/expr, and evaluates it
// over variables, the environment and facts of the host. It touches nothing: the
// values are handed in, one by one as a condition names them.
//
// A condition is a pure function of those values, and a small one: there is no
// clock in it, nothing is defined or repeated at will, and what it may cost is
// bounded before it is evaluated.
package condition

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"
)

// Names are what a condition can speak of: var.NAME, env.NAME, host.NAME, and
// each.key and each.value where it is one of several for the items of a list. The
// functions are called only for what it does speak of. Values are texts, bools,
// ints, float64s, []any and map[string]any.
type Names struct {
	Vars  []string                        // declared; anything else is a mistake
	Facts []string                        // known; anything else is a mistake
	Var   func(name string) (any, *Error) // the place in the error is not looked at
	Host  func(name string) (any, *Error)
	Env   func(name string) string // "" when unset
	Each  map[string]any           // key and value of an item; nil where there is none
}

// Condition is a condition that can be evaluated.
type Condition struct {
	program *vm.Program
	walk    *walk // what it speaks of
}

// Use is a value that a condition speaks of.
type Use struct {
	Name  string // var.NAME, env.NAME or host.NAME
	Value any
}

// Used returns what the condition speaks of, in the order of the text.
func (c *Condition) Used() []Use { return c.walk.used }

// For returns the condition for another item, whose each has the Shape of that
// which the condition was compiled with. The error is an *Error.
func (c *Condition) For(each map[string]any) (*Condition, error) {
	w := *c.walk
	w.names.Each = each
	if err := w.affordable(); err != nil {
		return nil, err
	}
	return &Condition{c.program, &w}, nil
}

// Error is what is wrong with a condition, and where in its text.
type Error struct {
	Line, Column int // from 1, in characters
	Message      string
	Suggestion   string // "" when there is none
	Next         *Error // what else is wrong; nil for nothing
}

// Error returns the message and what to do.
func (e *Error) Error() string {
	text := fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message)
	if e.Suggestion != "" {
		text += "; " + e.Suggestion
	}
	return text
}

const (
	// maxText is how long a condition may be: nested brackets cost stack.
	maxText = 4096
	// maxWork is how many bytes and values evaluating it may look at.
	maxWork = 1e10
)

// functions are those that a condition may call: none depends on anything but
// its arguments, and none makes much out of little.
var functions = []string{
	"all", "any", "count", "filter", "find", "first", "float", "get", "hasPrefix", "hasSuffix", "int", "keys", "last",
	"len", "lower", "map", "max", "min", "none", "one", "split", "string", "trim", "trimPrefix", "trimSuffix", "upper", "values",
}

// Compile checks a condition: its words, its names and its types. The error is
// an *Error.
func Compile(text string, names Names) (c *Condition, err error) {
	defer func() {
		if p := recover(); p != nil { // of the library, whatever the text is
			c, err = nil, &Error{Line: 1, Column: 1, Message: fmt.Sprintf("no condition: %v", p)}
		}
	}()
	if problem := unreadable(text); problem != nil {
		return nil, problem
	}
	options := []expr.Option{expr.AsBool(), expr.DisableAllBuiltins()}
	for _, name := range functions {
		options = append(options, expr.EnableBuiltin(name))
	}
	config := conf.CreateNew()
	for _, option := range options {
		option(config)
	}
	for name := range config.Disabled {
		delete(config.Builtins, name)
	}
	tree, err := parser.ParseWithConfig(text, config)
	if err != nil {
		return nil, inWords(text, err)
	}
	w := newWalk(text, names)
	w.walk(tree.Node, 0)
	if w.err != nil {
		return nil, w.err
	}
	if err := w.affordable(); err != nil {
		return nil, err
	}
	program, err := expr.Compile(text, append(options, expr.Env(w.types()))...)
	if err != nil {
		return nil, inWords(text, err)
	}
	return &Condition{program, w}, nil
}

// Holds evaluates the condition. The error is an *Error: of a text that is no
// number, say.
func (c *Condition) Holds() (bool, error) {
	text := c.program.Source().String()
	result, err := expr.Run(c.program, c.walk.values())
	if err != nil {
		return false, inWords(text, err)
	}
	holds, ok := result.(bool)
	if !ok {
		return false, inWords(text, fmt.Errorf("expected bool, but got %T", result))
	}
	return holds, nil
}

// typeOf is the type of a value: a map has the keys that it has, so that others
// are mistakes; a list has the type that all its items have. Values of one Shape
// have one type.
func typeOf(value any) types.Type {
	switch v := value.(type) {
	case map[string]any:
		m := types.Map{}
		for key, item := range v {
			m[key] = typeOf(item)
		}
		return m
	case []any:
		if common(v) == "" {
			return types.Array(types.Any)
		}
		return types.Array(typeOf(v[0]))
	case nil:
		return types.Any
	}
	return types.TypeOf(value)
}

// Shape tells values that a compiled condition cannot tell apart by their types
// from others.
func Shape(value any) string {
	switch v := value.(type) {
	case map[string]any:
		var b strings.Builder
		for _, key := range slices.Sorted(maps.Keys(v)) {
			fmt.Fprintf(&b, "%q:%s,", key, Shape(v[key]))
		}
		return "{" + b.String() + "}"
	case []any:
		return "[" + common(v) + "]"
	}
	return fmt.Sprintf("%T", value)
}

// common is the shape that all items of a list have, "" when there is none.
func common(list []any) string {
	shape := ""
	for i, item := range list {
		switch s := Shape(item); {
		case i == 0:
			shape = s
		case s != shape:
			return ""
		}
	}
	return shape
}

// place is the line and column of a character of a text, all from 1 but the
// character's number.
func place(text string, at int) (line, column int) {
	line, column = 1, 1
	for n, r := range []rune(text) {
		if n == at {
			break
		}
		column++
		if r == '\n' {
			line, column = line+1, 1
		}
	}
	return line, column
}

// located is where the library says that an error is.
func located(text string, err error) (line, column int, message string) {
	var found *file.Error
	if !errors.As(err, &found) {
		return 1, 1, err.Error()
	}
	line, column = place(text, found.From)
	return line, column, found.Message
}
