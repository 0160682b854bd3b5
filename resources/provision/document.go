package provision

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep a reply may be nested: far beyond what the contract has,
// and far below what a stack bears.
const maxDepth = 100

// shape is what a JSON value is.
type shape int

const (
	null shape = iota
	boolean
	number
	text
	array
	object
)

// String names the shape with its article.
func (s shape) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[s]
}

// node is one JSON value as it was read.
type node struct {
	shape  shape
	text   string // of a string its value, of a number its digits
	truth  bool
	fields []field // of an object, in their order
	items  []node
}

type field struct {
	key string
	node
}

// reader reads JSON more strictly than encoding/json: a key given twice is told,
// broken text is refused and not mended, and so is whatever stands around the
// one value.
type reader struct {
	data  []byte
	at    int
	depth int
	twice []Finding // keys given twice
}

// read reads exactly one JSON object (or null, which is the empty one).
func read(data []byte) (node, []Finding, error) {
	r := &reader{data: data}
	if at := invalid(data); at >= 0 {
		return node{}, nil, fmt.Errorf("the reply is not UTF-8: byte %d is %#02x", at, data[at])
	}
	r.space()
	switch c := r.peek(); {
	case c == '{', r.word("null"):
	case c == '[', c == '"', c == '-', '0' <= c && c <= '9', r.word("true"), r.word("false"):
		if n, err := r.value("$"); err == nil {
			return node{}, nil, fmt.Errorf("the reply is not an object but %s: %s", n.shape, r.begins(0))
		}
		r.at = 0
		fallthrough
	default:
		return node{}, nil, fmt.Errorf("the reply is not exactly one JSON object: it begins with %s; standard output is for the reply alone, a log belongs on standard error", r.begins(0))
	}
	n, err := r.value("$")
	if err != nil {
		return node{}, nil, err
	}
	end := r.at
	if r.space(); r.at == len(data) {
		return n, r.twice, nil
	}
	if c := r.peek(); c == '{' || c == '[' {
		return node{}, nil, fmt.Errorf("the reply is more than one JSON object: another value begins at byte %d: %s", r.at, r.begins(r.at))
	}
	return node{}, nil, fmt.Errorf("the reply does not end with its JSON object: after byte %d comes %s", end, r.begins(r.at))
}

// invalid returns where the first byte stands that is not UTF-8, or -1.
func invalid(data []byte) int {
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

// begins shows the bytes from an offset on, escaped.
func (r *reader) begins(at int) string {
	const most = 40
	rest := r.data[at:]
	if len(rest) <= most {
		return strconv.QuoteToASCII(string(rest))
	}
	cut := most
	for !utf8.RuneStart(rest[cut]) {
		cut--
	}
	return strconv.QuoteToASCII(string(rest[:cut])) + "…"
}

func (r *reader) space() {
	for r.at < len(r.data) && strings.IndexByte(" \t\r\n", r.data[r.at]) >= 0 {
		r.at++
	}
}

// peek returns the next byte, 0 at the end: no JSON begins with one.
func (r *reader) peek() byte {
	if r.at < len(r.data) {
		return r.data[r.at]
	}
	return 0
}

func (r *reader) word(w string) bool {
	return strings.HasPrefix(string(r.data[r.at:min(len(r.data), r.at+len(w))]), w)
}

// wrong says what was expected where the reader stands.
func (r *reader) wrong(path, expected string) error {
	if r.at >= len(r.data) {
		return fmt.Errorf("the reply ends in the middle of the JSON object, after %d bytes, in %s", len(r.data), path)
	}
	return fmt.Errorf("the reply is not JSON: %s: expected %s at byte %d, got %s", path, expected, r.at, r.begins(r.at))
}

func (r *reader) value(path string) (node, error) {
	if r.depth++; r.depth > maxDepth {
		return node{}, fmt.Errorf("the reply is nested more than %d deep", maxDepth)
	}
	defer func() { r.depth-- }()
	r.space()
	switch c := r.peek(); {
	case c == '{':
		return r.object(path)
	case c == '[':
		return r.array(path)
	case c == '"':
		s, err := r.string(path)
		return node{shape: text, text: s}, err
	case c == '-', '0' <= c && c <= '9':
		return r.number(path)
	}
	for _, w := range []struct {
		text string
		node node
	}{{"null", node{}}, {"true", node{shape: boolean, truth: true}}, {"false", node{shape: boolean}}} {
		if r.word(w.text) {
			r.at += len(w.text)
			return w.node, nil
		}
		if rest := string(r.data[r.at:]); rest != "" && strings.HasPrefix(w.text, rest) {
			r.at = len(r.data)
			break
		}
	}
	return node{}, r.wrong(path, "a value")
}

func (r *reader) object(path string) (node, error) {
	n := node{shape: object}
	seen := map[string]bool{}
	for r.at++; ; r.at++ {
		r.space()
		if r.peek() == '}' && len(n.fields) == 0 {
			break
		}
		if r.peek() != '"' {
			return n, r.wrong(path, "a key in double quotes")
		}
		key, err := r.string(path)
		if err != nil {
			return n, err
		}
		inner := join(path, key)
		if seen[key] {
			r.twice = append(r.twice, Finding{Path: inner, Message: "is given twice"})
		}
		seen[key] = true
		if r.space(); r.peek() != ':' {
			return n, r.wrong(inner, "a colon")
		}
		r.at++
		v, err := r.value(inner)
		if err != nil {
			return n, err
		}
		n.fields = append(n.fields, field{key, v})
		if r.space(); r.peek() != ',' {
			break
		}
	}
	if r.peek() != '}' {
		return n, r.wrong(path, "a comma or a closing brace")
	}
	r.at++
	return n, nil
}

func (r *reader) array(path string) (node, error) {
	n := node{shape: array}
	for r.at++; ; r.at++ {
		r.space()
		if r.peek() == ']' && len(n.items) == 0 {
			break
		}
		v, err := r.value(path + "[" + strconv.Itoa(len(n.items)) + "]")
		if err != nil {
			return n, err
		}
		n.items = append(n.items, v)
		if r.space(); r.peek() != ',' {
			break
		}
	}
	if r.peek() != ']' {
		return n, r.wrong(path, "a comma or a closing bracket")
	}
	r.at++
	return n, nil
}

// number takes what the grammar of JSON calls a number.
func (r *reader) number(path string) (node, error) {
	start := r.at
	digits := func() bool {
		from := r.at
		for c := r.peek(); '0' <= c && c <= '9'; c = r.peek() {
			r.at++
		}
		return r.at > from
	}
	if r.peek() == '-' {
		r.at++
	}
	zero := r.peek() == '0'
	first := r.at
	ok := digits() && !(zero && r.at-first > 1)
	if ok && r.peek() == '.' {
		r.at++
		ok = digits()
	}
	if ok && (r.peek() == 'e' || r.peek() == 'E') {
		r.at++
		if r.peek() == '+' || r.peek() == '-' {
			r.at++
		}
		ok = digits()
	}
	if !ok {
		if r.at < len(r.data) {
			r.at = start
		}
		return node{}, r.wrong(path, "a number")
	}
	return node{shape: number, text: string(r.data[start:r.at])}, nil
}

// string takes a string literal, from its opening quote on.
func (r *reader) string(path string) (string, error) {
	r.at++
	rest := r.data[r.at:]
	if end := slices.IndexFunc(rest, func(c byte) bool { return c == '"' || c == '\\' || c < ' ' }); end >= 0 && rest[end] == '"' {
		r.at += end + 1
		return string(rest[:end]), nil
	}
	var out []byte
	for r.at < len(r.data) {
		c := r.data[r.at]
		switch {
		case c == '"':
			r.at++
			return string(out), nil
		case c < ' ':
			return "", r.wrong(path, "a control character to be escaped")
		case c == '\\':
			s, err := r.escape(path)
			if err != nil {
				return "", err
			}
			out = append(out, s...)
		default:
			out = append(out, c)
			r.at++
		}
	}
	return "", r.wrong(path, "")
}

// escape takes one escape sequence, or the two that make one character.
func (r *reader) escape(path string) (string, error) {
	if r.at+1 >= len(r.data) {
		r.at = len(r.data)
		return "", r.wrong(path, "")
	}
	c := r.data[r.at+1]
	if at := strings.IndexByte(`"\/bfnrt`, c); at >= 0 {
		r.at += 2
		return "\"\\/\b\f\n\r\t"[at : at+1], nil
	}
	if c == 'u' && r.at+6 > len(r.data) {
		r.at = len(r.data)
	}
	high, ok := r.hex(r.at)
	if !ok {
		return "", r.wrong(path, "an escape sequence")
	}
	if !utf16.IsSurrogate(high) {
		r.at += 6
		return string(high), nil
	}
	low, ok := r.hex(r.at + 6)
	if c := utf16.DecodeRune(high, low); ok && c != utf8.RuneError {
		r.at += 12
		return string(c), nil
	}
	return "", r.wrong(path, "both halves of a surrogate pair")
}

// hex reads \uXXXX at an offset.
func (r *reader) hex(at int) (rune, bool) {
	if at+6 > len(r.data) || r.data[at] != '\\' || r.data[at+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(r.data[at+2:at+6]), 16, 32)
	return rune(n), err == nil
}

// join makes the path of a key: $.configuration.loglevel, and
// $.configuration["plugin.yaml"] where a point would mislead.
func join(path, key string) string {
	for i, c := range key {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return path + "[" + strconv.QuoteToASCII(key) + "]"
		}
	}
	if key == "" {
		return path + `[""]`
	}
	return path + "." + key
}
