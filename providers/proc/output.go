package proc

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// sink processes the output of a command: it redacts secrets, keeps head and tail,
// and passes lines to the listener.
type sink struct {
	redact func(chunk []byte, end bool) []byte // nil: nothing to hide
	kept   capture
	lines  *splitter // nil: no listener
}

// write takes a chunk; the last call has end set.
func (s *sink) write(p []byte, end bool) {
	if s.redact != nil {
		p = s.redact(p, end)
	}
	s.kept.write(p)
	if s.lines != nil {
		s.lines.write(p)
		if end {
			s.lines.close()
		}
	}
}

// keptBytes is how much of the head, and how much of the tail, of an output is kept.
const keptBytes = 32 << 10

// capture keeps the head and the tail of its input.
type capture struct {
	head, tail []byte
	dropped    int64 // between them
}

func (c *capture) write(p []byte) {
	if n := min(keptBytes-len(c.head), len(p)); n > 0 {
		c.head = append(c.head, p[:n]...)
		p = p[n:]
	}
	if len(p) >= keptBytes {
		c.dropped += int64(len(c.tail) + len(p) - keptBytes)
		c.tail = append(c.tail[:0], p[len(p)-keptBytes:]...)
		return
	}
	if len(c.tail)+len(p) > 2*keptBytes { // move seldom, so that a byte is moved once at most
		c.drop()
	}
	c.tail = append(c.tail, p...)
}

// drop shortens the tail to its limit.
func (c *capture) drop() {
	if n := len(c.tail) - keptBytes; n > 0 {
		c.dropped += int64(n)
		c.tail = append(c.tail[:0], c.tail[n:]...)
	}
}

// text returns the kept bytes as valid UTF-8, and whether bytes were dropped.
func (c *capture) text() (string, bool) {
	c.drop()
	if c.dropped == 0 {
		return strings.ToValidUTF8(string(c.head)+string(c.tail), "\uFFFD"), false
	}
	head, tail := c.head, c.tail
	head = head[:len(head)-partialRune(head)]
	for i := 0; i < utf8.UTFMax-1 && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
		tail = tail[1:]
	}
	n := c.dropped + int64(len(c.head)-len(head)+len(c.tail)-len(tail))
	mark := fmt.Sprintf("... %d bytes dropped ...\n", n)
	if !bytes.HasSuffix(head, []byte("\n")) {
		mark = "\n" + mark
	}
	return strings.ToValidUTF8(string(head)+mark+string(tail), "\uFFFD"), true
}

// partialRune returns how many bytes at the end of p begin a rune that more bytes would complete.
func partialRune(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if c := p[len(p)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(p[len(p)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
