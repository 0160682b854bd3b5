package eval

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/ccm"
	"github.com/settle-cm/settle/model/value"
)

// ccmRoot is the root of an expression in CCM's language. Its path is one step, the
// code between the braces.
const ccmRoot = "ccm"

// splitCCM cuts a text of a CCM manifest into parts: CCM's expressions, and those of
// settle, which have a root and a dot right behind the brace.
func splitCCM(text string) ([]value.Part, []value.Problem) {
	var parts []value.Part
	var problems []value.Problem
	from := 0
	literal := func(end int) {
		if end > from {
			parts = append(parts, value.Part{Text: text[from:end]})
		}
	}
	for _, m := range ccm.Find(text) {
		written := text[m.Start:m.End]
		if !isOurs(written) {
			literal(m.Start)
			parts = append(parts, value.Part{Text: written, At: m.Start, Expr: &value.Expr{Text: written, Root: ccmRoot, Path: []string{m.Code}}})
			from = m.End
			continue
		}
		if m.Start > from && text[m.Start-1] == '$' { // escaped
			literal(m.Start - 1)
			from = m.Start
			continue
		}
		literal(m.Start)
		ours, wrong := value.Parse(written)
		parts, problems = append(parts, ours...), append(problems, wrong...)
		from = m.End
	}
	literal(len(text))
	return parts, problems
}

// isOurs reports whether an expression in a CCM manifest is one of settle.
func isOurs(written string) bool {
	word, _, ok := strings.Cut(strings.TrimPrefix(written, "${"), ".")
	return ok && strings.HasPrefix(written, "${") && (word == "raw" || slices.Contains(value.Roots, word))
}

// nativeScalar returns the value of an unquoted scalar: a number, a bool or a text.
func nativeScalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!int", "!!float", "!!bool":
		var v any
		if n.Decode(&v) == nil {
			return ccm.Normalize(v)
		}
	}
	return n.Value
}

// textOf returns the text of a value, "" for nil.
func textOf(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// plainCharacters mean the same with and without quotes.
const plainCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=.,:/@%"

// isInQuotes reports whether the nth placeholder of a command is between quotes.
func isInQuotes(template string, n int) bool {
	var quote byte
	for i := 0; i < len(template); i++ {
		switch c := template[i]; {
		case c == model.PlaceholderByte[0] && n == 0:
			return quote != 0
		case c == model.PlaceholderByte[0]:
			n--
		case c == '\\' && quote != '\'':
			i++
		case quote == c:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		}
	}
	return false
}
