package eval

import (
	"fmt"
	"strings"

	"github.com/settle-cm/settle/model/value"
)

// walk follows a path in a value. It returns nil when the path leads to nothing.
func walk(v any, path []string) any {
	if v == nil {
		return nil
	}
	found, steps := value.At(v, path)
	if steps < len(path) {
		return nil
	}
	return found
}

// withName writes an expression with another first name in its path.
func withName(x *value.Expr, name string) string {
	return "${" + strings.Join(append([]string{x.Root, name}, x.Path[1:]...), ".") + "}"
}

// listKeys lists the keys of a map in a sentence, the first twenty of many.
func listKeys(keys []string) string {
	const most = 20
	more := ""
	if n := len(keys) - most; n > 0 {
		keys, more = keys[:most], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(keys, ", ") + more
}

// nameAt returns the name at the start of a text, up to the end of an expression or
// the next step of its path.
func nameAt(text string) string {
	end := strings.IndexAny(text, ".}[:\n")
	if end < 0 {
		return ""
	}
	return text[:end]
}
