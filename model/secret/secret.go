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
	"strconv"
	"strings"
)

const (
	// shortest is how long a value must be: hiding shorter ones would hide
	// ordinary words, and so give the value away.
	minLength = 4
	// shortestLine is how long a line of a value of several lines must be to be
	// hidden by itself.
	minLineLength = 8
)

const replacement = "***"

// Redactor hides a set of values. The nil Redactor hides nothing.
type Redactor struct {
	nodes []node
	roots [256]int32 // the first step of every value, 0 for none
}

// node is a state: the text so far is the longest beginning of a value that the
// input ends with.
type node struct {
	char    byte
	depth   int32 // how long that beginning is
	child   int32 // the first of the longer ones, 0 for none
	sibling int32 // the next with the same parent
	fail    int32 // the next shorter beginning that the input ends with as well
	found   int32 // the length of the longest value that the input ends with
}

// New makes the mask of some values, nil when there is nothing to hide, and
// returns those that are too short to be hidden. Of a value of several lines
// each line is hidden by itself too, unless it is short. Space around a value
// or a line does not count: a shell may well drop it. What settle itself quotes,
// in a message or a command line, is hidden as well.
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
			if line = strings.TrimSpace(line); len(line) >= minLineLength {
				texts = append(texts, quotedForms(line)...)
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

// spellings returns a text as it is, and as it stands within the quotes of a
// message (%q) and of a word of a command line, where quotes are escaped.
func quotedForms(text string) []string {
	quoted := strconv.Quote(text)
	return []string{text, quoted[1 : len(quoted)-1], strings.ReplaceAll(text, "'", `'\''`)}
}

// add puts a value into the tree.
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

// step returns the state one byte further down the tree, 0 for none.
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

// Redact returns text with every value hidden.
func (m *Redactor) Redact(text string) string {
	if m == nil {
		return text
	}
	f := filter{redactor: m}
	return string(f.write([]byte(text), true))
}

// Stream starts a filter for one stream; it is a model.Masker. What may be the
// beginning of a value is held back until a byte decides, or the stream ends,
// and nothing else is.
func (m *Redactor) Stream() func(chunk []byte, end bool) []byte {
	if m == nil {
		return func(chunk []byte, _ bool) []byte { return chunk }
	}
	f := filter{redactor: m}
	return f.write
}
