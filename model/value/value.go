// Package value holds what stands behind ${…}: the texts that have expressions
// in them, cut into parts; the values that they lead to, ordered so that nothing
// depends on chance; and how a value becomes text, and a text a value of a type.
// It is pure, and knows neither YAML nor where values come from.
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

// Map is a map in the order in which it was written. Each key is there once.
type Map []Entry

// Entry is one key of a Map with its value.
type Entry struct {
	Key   string
	Value any
}

// At returns what the map holds under a key.
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

// With returns the map with a value at a path of keys, maps made on the way
// where there are none. What the map shares with others stays as it is.
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

// Over returns the map with another one laid over it: maps are joined key by
// key, everything else is replaced.
func (m Map) Over(other Map) Map {
	m = slices.Clone(m)
	for _, e := range other {
		above, isMap := e.Value.(Map)
		if below, ok := m.At(e.Key); ok && isMap {
			if under, ok := below.(Map); ok {
				e.Value = under.Over(above)
			}
		}
		m = m.With([]string{e.Key}, e.Value)
	}
	return m
}

// At follows a path from a value: names lead into maps, numbers into lists. It
// returns how many steps it went, all of them when the path leads to something.
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

// Text returns the text of a scalar; false for lists and maps, which have none.
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

// Show is a value as text for people: that of a scalar, JSON of anything else,
// and of a long one the beginning.
func Show(v any) string {
	text, ok := Text(v)
	if !ok {
		text = JSON(v)
	}
	const enough = 1000
	if len(text) > enough {
		text = strings.ToValidUTF8(text[:enough], "") + "…"
	}
	return text
}

// JSON returns a value as JSON, its maps in their order.
func JSON(v any) string {
	var b strings.Builder
	show(&b, v)
	return b.String()
}

func show(b *strings.Builder, v any) {
	switch v := v.(type) {
	case Map:
		for i, e := range v {
			b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
			b.WriteString(quote(e.Key) + ":")
			show(b, e.Value)
		}
		b.WriteString(map[bool]string{true: "{}", false: "}"}[len(v) == 0])
	case []any:
		for i, item := range v {
			b.WriteString(map[bool]string{true: "[", false: ","}[i == 0])
			show(b, item)
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
	if e.Encode(text) != nil { // which no text is refused
		return strconv.Quote(text)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Scalars yields the scalars in a value, a scalar itself too.
func Scalars(v any, yield func(any)) {
	switch v := v.(type) {
	case Map:
		for _, e := range v {
			Scalars(e.Value, yield)
		}
	case []any:
		for _, item := range v {
			Scalars(item, yield)
		}
	default:
		yield(v)
	}
}

// Native returns a value as Go's own maps and lists.
func Native(v any) any {
	switch v := v.(type) {
	case Map:
		native := make(map[string]any, len(v))
		for _, e := range v {
			native[e.Key] = Native(e.Value)
		}
		return native
	case []any:
		native := make([]any, len(v))
		for i, item := range v {
			native[i] = Native(item)
		}
		return native
	}
	return v
}

// Of returns what Go's own maps and lists hold as a value: maps in the order of
// their keys, what is no value as its text.
func Of(native any) any {
	switch n := native.(type) {
	case map[string]any:
		m := make(Map, 0, len(n))
		for _, key := range slices.Sorted(maps.Keys(n)) {
			m = append(m, Entry{key, Of(n[key])})
		}
		return m
	case []any:
		list := make([]any, len(n))
		for i, item := range n {
			list[i] = Of(item)
		}
		return list
	case string, int, bool:
		return n
	case nil:
		return ""
	}
	return fmt.Sprint(native)
}
