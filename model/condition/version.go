package condition

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
)

// Version is the value of version(text): the parts of a version, in order.
type Version []string

// newVersion splits a version into its numbers and words.
func newVersion(text string) Version {
	var v Version
	kind := func(c byte) int {
		switch {
		case '0' <= c && c <= '9':
			return 1
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '~':
			return 2
		}
		return 0
	}
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && kind(text[end]) == kind(text[i]) {
			end++
		}
		if kind(text[i]) != 0 {
			v = append(v, text[i:end])
		}
		i = end
	}
	return v
}

// compare returns the order of two versions: numbers by value, words by letter. A
// word where the other version ends makes it the earlier one, as in 1.0-rc1 and 1.0.
func (v Version) compare(other Version) int {
	for i := range max(len(v), len(other)) {
		a, b := v.at(i), other.at(i)
		n, errA := strconv.Atoi(a)
		m, errB := strconv.Atoi(b)
		switch {
		case errA == nil && errB == nil && n != m:
			return cmp.Compare(n, m)
		case errA == nil && errB == nil || a == b:
		case a == "":
			return order(errB == nil, -1)
		case b == "":
			return order(errA == nil, 1)
		case errA == nil || errB == nil: // a number is later than a word
			return order(errA == nil, 1)
		default:
			return strings.Compare(a, b)
		}
	}
	return 0
}

func (v Version) at(i int) string {
	if i < len(v) {
		return v[i]
	}
	return ""
}

// order returns n, or the opposite when it is not so.
func order(so bool, n int) int {
	if so {
		return n
	}
	return -n
}

// versionOptions make version() and the comparison of its results known to the library.
func versionOptions() []expr.Option {
	options := []expr.Option{expr.Function("version", func(params ...any) (any, error) {
		text, _ := params[0].(string) // the type below allows nothing else
		return newVersion(text), nil
	}, new(func(string) Version))}
	for operator, holds := range map[string]func(int) bool{
		"<": func(n int) bool { return n < 0 }, "<=": func(n int) bool { return n <= 0 }, ">": func(n int) bool { return n > 0 },
		">=": func(n int) bool { return n >= 0 }, "==": func(n int) bool { return n == 0 }, "!=": func(n int) bool { return n != 0 },
	} {
		name := "version " + operator // no name of a condition has a space
		options = append(options, expr.Operator(operator, name), expr.Function(name, func(params ...any) (any, error) {
			a, _ := params[0].(Version)
			b, _ := params[1].(Version)
			return holds(a.compare(b)), nil
		}, new(func(Version, Version) bool)))
	}
	return options
}

// findOrderedTexts returns the first comparison of two texts by < or >, nil for none.
// It compares letter by letter, so that "10" comes before "9".
func findOrderedTexts(root ast.Node) *ast.BinaryNode {
	v := &orderVisitor{}
	ast.Walk(&root, v)
	return v.found
}

type orderVisitor struct{ found *ast.BinaryNode }

// Visit keeps the first ordering of two texts.
func (v *orderVisitor) Visit(n *ast.Node) {
	b, ok := (*n).(*ast.BinaryNode)
	if !ok || v.found != nil {
		return
	}
	isText := func(n ast.Node) bool { return n.Type() != nil && n.Type().Kind().String() == "string" }
	switch b.Operator {
	case "<", "<=", ">", ">=":
		if isText(b.Left) && isText(b.Right) {
			v.found = b
		}
	}
}
