package value

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// path is a scanned path: a root, and the names and keys after it.
type path struct {
	names   []string      // a key that an expression names stands as it is written
	keys    map[int]*Expr // of the names that stand for an expression in brackets
	end     int           // offset behind the path
	problem *Problem      // a mistake in brackets; nil without one
}

// maxKeys limits how deep brackets may be nested.
const maxKeys = 10

// scanPath scans the path that begins at an offset: a name, and then names after
// dots and keys in brackets. depth counts the brackets around it.
func scanPath(text string, at, depth int) path {
	var p path
	for dot := true; ; {
		if dot {
			end := at
			for end < len(text) && isNameByte(text[end]) {
				end++
			}
			p.names = append(p.names, text[at:end])
			at = end
		}
		p.end = at
		switch {
		case at < len(text) && text[at] == '.':
			dot = true
			at++
		case at < len(text) && text[at] == '[' && len(p.names) > 1:
			dot = false
			if at = p.scanKey(text, at, depth); p.problem != nil {
				return p
			}
		default:
			return p
		}
	}
}

// scanKey scans one key in brackets: a quoted text, a number, or the path of an
// expression. It returns the offset behind the closing bracket.
func (p *path) scanKey(text string, at, depth int) int {
	refuse := func(end int, suggestion string) int {
		p.problem = &Problem{Message: fmt.Sprintf("%q has a wrong key", Short(text[:min(end, len(text))])), Suggestion: suggestion}
		return end
	}
	const write = "write a value as in [host.family], a text as in ['a'], or a number as in [0]"
	inner := at + 1
	if depth == maxKeys {
		return refuse(inner, fmt.Sprintf("nest keys at most %d deep", maxKeys))
	}
	if inner < len(text) && (text[inner] == '\'' || text[inner] == '"') {
		length := strings.IndexByte(text[inner+1:], text[inner])
		end := inner + length + 2
		if length < 0 || end >= len(text) || text[end] != ']' {
			return refuse(inner, write)
		}
		p.names = append(p.names, text[inner+1:end-1])
		return end + 1
	}
	key := scanPath(text, inner, depth+1)
	end := key.end
	if key.problem != nil {
		p.problem = key.problem
		return end
	}
	if end >= len(text) || text[end] != ']' {
		return refuse(end, write)
	}
	name := key.names[0]
	switch {
	case len(key.names) == 1 && name != "" && strings.Trim(name, "0123456789") == "":
		p.names = append(p.names, name)
	case len(key.names) == 1 && IsName(name):
		return refuse(end+1, fmt.Sprintf("write ['%s'] for the text, or [var.%s] for the variable", name, name))
	case !slices.Contains(Roots, name) || slices.Contains(key.names, ""):
		return refuse(end+1, write)
	default:
		if p.keys == nil {
			p.keys = map[int]*Expr{}
		}
		p.keys[len(p.names)] = &Expr{Text: "${" + text[inner:end] + "}", Root: name, Path: key.names[1:], Keys: shift(key.keys)}
		p.names = append(p.names, text[at:end+1])
	}
	return end + 1
}

// shift returns the keys of a path by their index after the root.
func shift(keys map[int]*Expr) map[int]*Expr {
	if keys == nil {
		return nil
	}
	shifted := map[int]*Expr{}
	for i, key := range keys {
		shifted[i-1] = key
	}
	return shifted
}

// All yields the expression itself and every expression in its brackets.
func (e *Expr) All() iter.Seq[*Expr] {
	return func(yield func(*Expr) bool) { e.yieldAll(yield) }
}

func (e *Expr) yieldAll(yield func(*Expr) bool) bool {
	if !yield(e) {
		return false
	}
	for i := range e.Path {
		if key := e.Keys[i]; key != nil && !key.yieldAll(yield) {
			return false
		}
	}
	return true
}
