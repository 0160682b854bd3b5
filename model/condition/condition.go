// Package condition decides whether a resource is for this machine. It compiles the
// condition of when, in the language of github.com/expr-lang/expr, and evaluates it
// over variables, environment variables and facts of the host. It does no IO: the
// caller passes functions that return the values which a condition names.
//
// A condition is a pure function of those values. It has no clock, no definitions
// and no loops of its own, and its cost is bounded before it is evaluated.
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

// Names are the names that a condition can use: var.NAME, env.NAME, host.NAME, and
// each.key and each.value within for_each. The functions are called only for the
// names that the condition uses. Values are strings, bools, ints, float64s, []any
// and map[string]any.
type Names struct {
	Vars  []string                        // all declared variables
	Facts []string                        // all known facts
	Var   func(name string) (any, *Error) // the place in the error is ignored
	Host  func(name string) (any, *Error)
	Env   func(name string) string // "" when unset
	Each  map[string]any           // key and value of an item; nil without for_each
}

// Condition is a compiled condition with the values that it uses.
type Condition struct {
	program *vm.Program
	checker *checker // has the values
}

// Use is a value that a condition uses.
type Use struct {
	Name  string // var.NAME, env.NAME or host.NAME
	Value any
}

// Uses returns the values that the condition uses, in the order of the text.
func (c *Condition) Uses() []Use { return c.checker.used }

// WithEach returns the condition for another item of for_each. Its key and value
// must have the Shape of those that the condition was compiled with. The error is
// an *Error.
func (c *Condition) WithEach(each map[string]any) (*Condition, error) {
	checker := *c.checker
	checker.names.Each = each
	if err := checker.limitWork(); err != nil {
		return nil, err
	}
	return &Condition{c.program, &checker}, nil
}

// Error is a mistake in a condition with its place in the text.
type Error struct {
	Line, Column int // from 1, in characters
	Message      string
	Suggestion   string // "" without a suggestion
	Next         *Error // the next mistake; nil for the last one
}

// Error returns the place, the message and the suggestion as one line.
func (e *Error) Error() string {
	text := fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message)
	if e.Suggestion != "" {
		text += "; " + e.Suggestion
	}
	return text
}

const (
	// maxText limits the length of a condition in bytes: nested brackets cost stack.
	maxText = 4096
	// maxWork limits the number of bytes and values that an evaluation may read.
	maxWork = 1e10
)

// functions are the functions that a condition may call. Each depends on its
// arguments only, and returns nothing much larger than them.
var functions = []string{
	"all", "any", "count", "filter", "find", "first", "float", "get", "hasPrefix", "hasSuffix", "int", "keys", "last",
	"len", "lower", "map", "max", "min", "none", "one", "split", "string", "trim", "trimPrefix", "trimSuffix", "upper", "values",
}

// Compile parses a condition and checks its names and types. The error is an *Error.
func Compile(text string, names Names) (c *Condition, err error) {
	defer func() {
		if p := recover(); p != nil { // the library may panic on an odd text
			c, err = nil, &Error{Line: 1, Column: 1, Message: fmt.Sprintf("invalid condition: %v", p)}
		}
	}()
	if problem := checkText(text); problem != nil {
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
		return nil, rewordError(text, err)
	}
	checker := newChecker(text, names)
	checker.visit(tree.Node, 0)
	if checker.err != nil {
		return nil, checker.err
	}
	if err := checker.limitWork(); err != nil {
		return nil, err
	}
	if checker.versions {
		options = append(options, versionOptions()...)
	}
	program, err := expr.Compile(text, append(options, expr.Env(checker.listTypes()))...)
	if err != nil {
		return nil, rewordError(text, err)
	}
	if n := findOrderedTexts(program.Node()); n != nil {
		line, column := placeOf(text, n.Location().From)
		return nil, &Error{line, column, fmt.Sprintf("%q compares two texts letter by letter", n.Operator), "write version(…) for versions, or int(…) for numbers, around both", nil}
	}
	return &Condition{program, checker}, nil
}

// Holds evaluates the condition. The error is an *Error, such as that of int() with
// a text that is not a number.
func (c *Condition) Holds() (bool, error) {
	text := c.program.Source().String()
	result, err := expr.Run(c.program, c.checker.listValues())
	if err != nil {
		return false, rewordError(text, err)
	}
	holds, ok := result.(bool)
	if !ok {
		return false, rewordError(text, fmt.Errorf("expected bool, but got %T", result))
	}
	return holds, nil
}

// typeOf returns the type of a value. The type of a map has exactly the map's keys,
// so that other keys are mistakes. The type of a list is that of all its items.
// Values of one Shape have one type.
func typeOf(value any) types.Type {
	switch v := value.(type) {
	case map[string]any:
		m := types.Map{types.Extra: types.Any} // a missing key is nothing; the checker refuses it unless a guard precedes it
		for key, item := range v {
			m[key] = typeOf(item)
		}
		return m
	case []any:
		if sharedShape(v) == "" {
			return types.Array(types.Any)
		}
		return types.Array(typeOf(v[0]))
	case nil:
		return types.Any
	}
	return types.TypeOf(value)
}

// Shape describes the type of a value as text. A compiled condition can be used for
// every value of the same Shape.
func Shape(value any) string {
	switch v := value.(type) {
	case map[string]any:
		var b strings.Builder
		for _, key := range slices.Sorted(maps.Keys(v)) {
			fmt.Fprintf(&b, "%q:%s,", key, Shape(v[key]))
		}
		return "{" + b.String() + "}"
	case []any:
		return "[" + sharedShape(v) + "]"
	}
	return fmt.Sprintf("%T", value)
}

// sharedShape returns the shape of all items of a list, "" when they differ.
func sharedShape(list []any) string {
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

// placeOf returns the line and column, from 1, of the character with this index.
func placeOf(text string, at int) (line, column int) {
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

// locateError returns the place and the message of an error of the library.
func locateError(text string, err error) (line, column int, message string) {
	var found *file.Error
	if !errors.As(err, &found) {
		return 1, 1, err.Error()
	}
	line, column = placeOf(text, found.From)
	return line, column, found.Message
}
