// Package secret hides secret values in text: every occurrence becomes ***, in
// a whole text or in a stream that comes in pieces. It is pure.
//
// All values are looked for at once (Aho and Corasick, 1975), so the cost is
// linear in the text however many there are. Occurrences that overlap are
// hidden as one, so that the longest always wins and no part of one shows
// beside another.
package secret

import (
	"slices"
	"strings"
)

// minLength is how long a value, or a line of a multi-line value, must be to be
// redacted. Redacting shorter ones would replace ordinary words, and so give the
// value away.
const minLength = 4

const replacement = "***"

// Redactor replaces a set of values. The nil Redactor changes nothing.
type Redactor struct {
	nodes []node
	roots [256]int32 // the first step of every value, 0 for none
}

// node is a state: the longest beginning of a value that the input ends with.
type node struct {
	char    byte
	depth   int32 // how long that beginning is
	child   int32 // the first of the longer ones, 0 for none
	sibling int32 // the next with the same parent
	fail    int32 // the next shorter beginning that the input ends with as well
	found   int32 // the length of the longest value that the input ends with
}

// New returns the redactor of some values, nil without any, and the values and
// lines of values that are too short to be redacted. Each line of a multi-line
// value is redacted by itself too. Space around a value or a line does not count,
// because a shell may drop it.
func New(values []string) (m *Redactor, short []string) {
	var texts []string
	for _, v := range values {
		whole := strings.TrimSpace(v)
		switch {
		case whole == "":
			continue
		case len(whole) < minLength:
			short = append(short, v)
			continue
		}
		texts = append(texts, quotedForms(whole)...)
		if !strings.ContainsAny(whole, "\r\n") {
			continue
		}
		for line := range strings.FieldsFuncSeq(whole, func(r rune) bool { return r == '\n' || r == '\r' }) {
			switch line = strings.TrimSpace(line); {
			case len(line) >= minLength:
				texts = append(texts, quotedForms(line)...)
			case line != "":
				short = append(short, line)
			}
		}
	}
	if len(texts) == 0 {
		return nil, short
	}
	m = &Redactor{nodes: make([]node, 1)}
	slices.Sort(texts)
	for _, t := range slices.Compact(texts) {
		m.add(t)
	}
	m.link()
	return m, short
}

// add adds a value or a match. A match ends after all earlier ones and is merged
// with those that it overlaps.
func (m *Redactor) add(text string) {
	at := int32(0)
	for i := range len(text) {
		next := m.step(at, text[i])
		if next == 0 {
			next = int32(len(m.nodes))
			m.nodes = append(m.nodes, node{char: text[i], depth: int32(i + 1), sibling: m.nodes[at].child})
			m.nodes[at].child = next
			if at == 0 {
				m.roots[text[i]] = next
			}
		}
		at = next
	}
	m.nodes[at].found = int32(len(text))
}

// step returns the state one byte further down the tree, 0 without one.
func (m *Redactor) step(at int32, c byte) int32 {
	if at == 0 {
		return m.roots[c]
	}
	n := m.nodes[at].child
	for n != 0 && m.nodes[n].char != c {
		n = m.nodes[n].sibling
	}
	return n
}

// link finds the fail state of each state, the shallow ones first.
func (m *Redactor) link() {
	queue := []int32{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for n := m.nodes[at].child; n != 0; n = m.nodes[n].sibling {
			queue = append(queue, n)
			if at != 0 {
				m.nodes[n].fail = m.next(m.nodes[at].fail, m.nodes[n].char)
			}
			m.nodes[n].found = max(m.nodes[n].found, m.nodes[m.nodes[n].fail].found)
		}
	}
}

// next returns the state after one more byte.
func (m *Redactor) next(at int32, c byte) int32 {
	for {
		if n := m.step(at, c); n != 0 || at == 0 {
			return n
		}
		at = m.nodes[at].fail
	}
}

// Redact returns text with every value replaced.
func (m *Redactor) Redact(text string) string {
	if m == nil {
		return text
	}
	f := filter{redactor: m}
	return string(f.write([]byte(text), true))
}

// Stream returns a filter for one stream, as model.Redactor wants it. It holds
// back only bytes that may be the beginning of a value, until a later byte or the
// end of the stream decides.
func (m *Redactor) Stream() func(chunk []byte, end bool) []byte {
	if m == nil {
		return func(chunk []byte, _ bool) []byte { return chunk }
	}
	f := filter{redactor: m}
	return f.write
}
