package ccm

import (
	"fmt"
	"strconv"
	"strings"
)

// follow follows a path of lookup() from a value: names and numbers with dots
// between them, and # for the length of a list or, before more steps, for those
// steps in each of its items. It returns false for a path that leads to nothing.
func follow(v any, steps []string) (any, bool) {
	for i, step := range steps {
		switch in := v.(type) {
		case map[string]any:
			next, ok := in[step]
			if !ok {
				return nil, false
			}
			v = next
		case map[string]string:
			next, ok := in[step]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			if step == "#" {
				return followEach(in, steps[i+1:]), true
			}
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(in) {
				return nil, false
			}
			v = in[n]
		default:
			return nil, false
		}
	}
	return v, true
}

// followEach returns the length of a list when no steps are left, else a list of
// what the steps lead to in each item that has them.
func followEach(list []any, steps []string) any {
	if len(steps) == 0 {
		return len(list)
	}
	found := []any{}
	for _, item := range list {
		if v, ok := follow(item, steps); ok {
			found = append(found, v)
		}
	}
	return found
}

// splitPath splits a path at its dots. A backslash takes the next character as it
// is. It fails for the parts of the path syntax that settle does not have.
func splitPath(path string) ([]string, error) {
	var steps []string
	var step strings.Builder
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\' && i+1 < len(path):
			i++
			step.WriteByte(path[i])
		case c == '.':
			steps = append(steps, step.String())
			step.Reset()
		case strings.IndexByte("|*?(){}[]@!", c) >= 0:
			return nil, fmt.Errorf("lookup(%q) has a %q, and settle knows names, numbers and # only", path, string(c))
		default:
			step.WriteByte(c)
		}
	}
	return append(steps, step.String()), nil
}
