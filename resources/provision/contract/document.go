package contract

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/settle-cm/settle/model"
)

// maxDepth is how deep a reply may be nested: far deeper than the contract,
// and far below the limit of the stack.
const maxDepth = 100

// maxValues is how many values a reply may hold: a helper gone wild must not cost
// the memory that they take.
const maxValues = 1 << 20

// maxTwice is how many keys given twice are told.
const maxTwice = 20

// shape is the kind of a JSON value.
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
	count int       // values so far
	twice []Problem // keys given twice

	redact func(text string) string // nil: nothing to redact
}

// read reads exactly one JSON object (or null, which is the empty one).
func read(data []byte, redact func(string) string) (node, []Problem, error) {
	r := &reader{data: data, redact: redact}
	if at := invalid(data); at >= 0 {
		return node{}, nil, fmt.Errorf("the reply is not UTF-8: byte %d is %#02x", at, data[at])
	}
	r.space()
	switch c := r.peek(); {
	case c == '{', r.word("null"):
	case c == '[', c == '"', c == '-', '0' <= c && c <= '9', r.word("true"), r.word("false"):
		if n, err := r.value(nil); err == nil {
			return node{}, nil, fmt.Errorf("the reply is not an object but %s: %s", n.shape, r.begins(0))
		}
		r.at = 0
		fallthrough
	default:
		return node{}, nil, fmt.Errorf("the reply is not exactly one JSON object: it begins with %s; standard output is for the reply alone, a log belongs on standard error", r.begins(0))
	}
	n, err := r.value(nil)
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

// begins shows the bytes from an offset on, escaped. Secrets are redacted before
// the text is cut: a part of one would no longer be recognised.
func (r *reader) begins(at int) string {
	const most = 40
	rest := string(r.data[at:])
	if r.redact != nil {
		rest = r.redact(decodeUnicode(rest))
	}
	if len(rest) <= most {
		return strconv.QuoteToASCII(rest)
	}
	cut := most
	for !utf8.RuneStart(rest[cut]) {
		cut--
	}
	return strconv.QuoteToASCII(rest[:cut]) + "…"
}

var unicodeEscapes = regexp.MustCompile(`(\\u[0-9a-fA-F]{4})+`)

// decodeUnicode replaces \u escapes by their characters, so that a secret that is
// partly escaped is recognised.
func decodeUnicode(text string) string {
	return unicodeEscapes.ReplaceAllStringFunc(text, func(escapes string) string {
		var units []uint16
		for i := 2; i < len(escapes); i += 6 {
			unit, _ := strconv.ParseUint(escapes[i:i+4], 16, 16) // the pattern has hex digits only
			units = append(units, uint16(unit))
		}
		return string(utf16.Decode(units))
	})
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

// wrong returns an error that names the expected value at the reader's position.
func (r *reader) wrong(at *place, expected string) error {
	if r.at >= len(r.data) {
		return fmt.Errorf("the reply ends in the middle of the JSON object, after %d bytes, in %s", len(r.data), at)
	}
	return fmt.Errorf("the reply is not JSON: %s: expected %s at byte %d, got %s", at, expected, r.at, r.begins(r.at))
}

func (r *reader) value(at *place) (node, error) {
	if r.depth++; r.depth > maxDepth {
		return node{}, fmt.Errorf("the reply is nested more than %d deep", maxDepth)
	}
	defer func() { r.depth-- }()
	if r.count++; r.count > maxValues {
		return node{}, fmt.Errorf("the reply holds more than %d values", maxValues)
	}
	r.space()
	switch c := r.peek(); {
	case c == '{':
		return r.object(at)
	case c == '[':
		return r.array(at)
	case c == '"':
		s, err := r.string(at)
		return node{shape: text, text: s}, err
	case c == '-', '0' <= c && c <= '9':
		return r.number(at)
	}
	next := string(r.data[r.at:min(len(r.data), r.at+len("false"))])
	for i, w := range []string{"null", "true", "false"} {
		switch {
		case strings.HasPrefix(next, w):
			r.at += len(w)
			return []node{{}, {shape: boolean, truth: true}, {shape: boolean}}[i], nil
		case next != "" && strings.HasPrefix(w, next):
			r.at = len(r.data) // the rest of the word is missing
		}
	}
	return node{}, r.wrong(at, "a value")
}

func (r *reader) object(at *place) (node, error) {
	n := node{shape: object}
	seen := map[string]bool{}
	for r.at++; ; r.at++ {
		r.space()
		if r.peek() == '}' && len(n.fields) == 0 {
			break
		}
		if r.peek() != '"' {
			return n, r.wrong(at, "a key in double quotes")
		}
		key, err := r.string(at)
		if err != nil {
			return n, err
		}
		inner := &place{up: at, key: key}
		if seen[key] && len(r.twice) < maxTwice {
			r.twice = append(r.twice, Problem{inner.String(), model.Advice{Message: "is given twice"}})
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
		return n, r.wrong(at, "a comma or a closing brace")
	}
	r.at++
	return n, nil
}

func (r *reader) array(at *place) (node, error) {
	n := node{shape: array}
	for r.at++; ; r.at++ {
		r.space()
		if r.peek() == ']' && len(n.items) == 0 {
			break
		}
		v, err := r.value(&place{up: at, index: len(n.items), item: true})
		if err != nil {
			return n, err
		}
		n.items = append(n.items, v)
		if r.space(); r.peek() != ',' {
			break
		}
	}
	if r.peek() != ']' {
		return n, r.wrong(at, "a comma or a closing bracket")
	}
	r.at++
	return n, nil
}

// number takes what the grammar of JSON calls a number.
func (r *reader) number(at *place) (node, error) {
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
	ok := digits() && (!zero || r.at-first == 1)
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
		return node{}, r.wrong(at, "a number")
	}
	return node{shape: number, text: string(r.data[start:r.at])}, nil
}

// string takes a string literal, from its opening quote on.
func (r *reader) string(at *place) (string, error) {
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
			return "", r.wrong(at, "a control character to be escaped")
		case c == '\\':
			s, err := r.escape(at)
			if err != nil {
				return "", err
			}
			out = append(out, s...)
		default:
			out = append(out, c)
			r.at++
		}
	}
	return "", r.wrong(at, "")
}

// escape takes one escape sequence, or the two that make one character.
func (r *reader) escape(at *place) (string, error) {
	if r.at+1 >= len(r.data) {
		r.at = len(r.data)
		return "", r.wrong(at, "")
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
		return "", r.wrong(at, "an escape sequence")
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
	return "", r.wrong(at, "both halves of a surrogate pair")
}

// hex reads \uXXXX at an offset.
func (r *reader) hex(at int) (rune, bool) {
	if at+6 > len(r.data) || r.data[at] != '\\' || r.data[at+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(r.data[at+2:at+6]), 16, 32)
	return rune(n), err == nil
}

// place is where a value stands; its text is made only when there is something to say.
type place struct {
	up    *place
	key   string
	index int
	item  bool // of an array
}

// String returns the path from the root, $.
func (p *place) String() string {
	switch {
	case p == nil:
		return "$"
	case p.item:
		return p.up.String() + "[" + strconv.Itoa(p.index) + "]"
	}
	return join(p.up.String(), p.key)
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
