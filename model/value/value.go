// Package value defines the values of expressions (${…}). It splits texts into plain
// text and expressions, follows paths through values, and converts between values
// and texts. Maps are ordered, so that equal input gives equal output. The package
// is pure: it does not know YAML or the sources of values.
package value

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A value is one of string, int, bool, []any (a list of values) and Map.

// Map is a map in the order in which it was written. Each key occurs once.
type Map []Entry

// Entry is one key of a Map with its value.
type Entry struct {
	Key   string
	Value any
}

// At returns the value of a key.
func (m Map) At(key string) (any, bool) {
	for i := range m {
		if m[i].Key == key {
			return m[i].Value, true
		}
	}
	return nil, false
}

// Keys returns the keys of the map.
func (m Map) Keys() []string {
	keys := make([]string, len(m))
	for i := range m {
		keys[i] = m[i].Key
	}
	return keys
}

// With returns a copy of the map with a value at a path of keys. It adds missing
// maps on the path, and does not change maps that the original shares.
func (m Map) With(path []string, v any) Map {
	m = slices.Clone(m)
	at := slices.IndexFunc(m, func(e Entry) bool { return e.Key == path[0] })
	if at < 0 {
		at = len(m)
		m = append(m, Entry{Key: path[0]})
	}
	if len(path) > 1 {
		under, _ := m[at].Value.(Map)
		v = under.With(path[1:], v)
	}
	m[at].Value = v
	return m
}

// Merge returns a copy of the map with another one merged into it: maps are merged
// key by key, all other values are replaced.
func (m Map) Merge(other Map) Map {
	m = slices.Clone(m)
	for _, e := range other {
		above, isMap := e.Value.(Map)
		if below, ok := m.At(e.Key); ok && isMap {
			if under, ok := below.(Map); ok {
				e.Value = under.Merge(above)
			}
		}
		m = m.With([]string{e.Key}, e.Value)
	}
	return m
}

// Merge returns a value with another one merged into it: maps are merged by key, to
// any depth. The items of a list that the first one lacks are appended to it. Any
// other value is replaced.
func Merge(v, other any) any {
	switch above := other.(type) {
	case Map:
		below, ok := v.(Map)
		if !ok {
			return other
		}
		merged := slices.Clone(below)
		at := make(map[string]int, len(below))
		for i, e := range below {
			at[e.Key] = i
		}
		for _, e := range above {
			if i, ok := at[e.Key]; ok {
				merged[i].Value = Merge(merged[i].Value, e.Value)
			} else {
				at[e.Key] = len(merged)
				merged = append(merged, e)
			}
		}
		return merged
	case []any:
		below, ok := v.([]any)
		if !ok {
			return other
		}
		return appendOnce(below, above)
	}
	return other
}

// appendOnce returns a list with the items of another one that it lacks.
func appendOnce(list, more []any) []any {
	seen := make(map[string]bool, len(list))
	for _, item := range list {
		seen[JSON(item)] = true
	}
	list = slices.Clone(list)
	for _, item := range more {
		if key := JSON(item); !seen[key] {
			seen[key] = true
			list = append(list, item)
		}
	}
	return list
}

// At follows a path from a value, with names for maps and numbers for lists. It
// returns the last value that it found, and how many steps lead there: all of them
// when the path exists.
func At(v any, path []string) (found any, steps int) {
	for i, name := range path {
		var next any
		var ok bool
		switch in := v.(type) {
		case Map:
			next, ok = in.At(name)
		case []any:
			n, err := strconv.Atoi(name)
			if ok = err == nil && n >= 0 && n < len(in) && strconv.Itoa(n) == name; ok {
				next = in[n]
			}
		}
		if !ok {
			return v, i
		}
		v = next
	}
	return v, len(path)
}

// Text returns the text of a scalar, and false for a list or a map.
func Text(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int:
		return strconv.Itoa(v), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// Show returns a value as text for the user: the text of a scalar, or JSON. It cuts
// a long text.
func Show(v any) string {
	text, ok := Text(v)
	if !ok {
		text = JSON(v)
	}
	const limit = 1000
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}

// JSON returns a value as JSON, with the order of its maps.
func JSON(v any) string {
	var b strings.Builder
	writeJSON(&b, v)
	return b.String()
}

func writeJSON(b *strings.Builder, v any) {
	switch v := v.(type) {
	case Map:
		for i, e := range v {
			b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
			b.WriteString(quote(e.Key) + ":")
			writeJSON(b, e.Value)
		}
		b.WriteString(map[bool]string{true: "{}", false: "}"}[len(v) == 0])
	case []any:
		for i, item := range v {
			b.WriteString(map[bool]string{true: "[", false: ","}[i == 0])
			writeJSON(b, item)
		}
		b.WriteString(map[bool]string{true: "[]", false: "]"}[len(v) == 0])
	case string:
		b.WriteString(quote(v))
	default:
		text, _ := Text(v) // an int or a bool
		b.WriteString(text)
	}
}

func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil { // Encode accepts every text
		return strconv.Quote(text)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// EachScalar calls yield for every scalar in a value, also for a scalar itself.
func EachScalar(v any, yield func(any)) {
	switch v := v.(type) {
	case Map:
		for _, e := range v {
			EachScalar(e.Value, yield)
		}
	case []any:
		for _, item := range v {
			EachScalar(item, yield)
		}
	default:
		yield(v)
	}
}

// ToNative returns a value with Go's own maps and lists.
func ToNative(v any) any {
	switch v := v.(type) {
	case Map:
		native := make(map[string]any, len(v))
		for _, e := range v {
			native[e.Key] = ToNative(e.Value)
		}
		return native
	case []any:
		native := make([]any, len(v))
		for i, item := range v {
			native[i] = ToNative(item)
		}
		return native
	}
	return v
}

// FromNative returns a value with Go's own maps and lists as one with Map. Maps get
// the order of their keys. Other types become their text.
func FromNative(native any) any {
	switch n := native.(type) {
	case map[string]any:
		m := make(Map, 0, len(n))
		for _, key := range slices.Sorted(maps.Keys(n)) {
			m = append(m, Entry{key, FromNative(n[key])})
		}
		return m
	case []any:
		list := make([]any, len(n))
		for i, item := range n {
			list[i] = FromNative(item)
		}
		return list
	case string, int, bool:
		return n
	case nil:
		return ""
	}
	return fmt.Sprint(native)
}
