package proc

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// lineLimit is the longest line that is reported in one piece.
const lineLimit = 16 << 10

// cutMark stands on both sides of the place where a long line was cut.
const cutMark = "..."

// splitter cuts a stream into lines, however it is chunked. A carriage return
// starts the line over, as on a terminal, so only the last state of a progress bar
// is reported. Lines longer than lineLimit come in pieces.
type splitter struct {
	emit func(line []byte)

	line []byte // the line so far, at most lineLimit of it
	cr   bool   // a carriage return came last: what follows replaces the line, or ends it
	cut  bool   // the line's beginning has been told already
	out  []byte // the line as it is told
}

func (s *splitter) write(p []byte) {
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		text := p
		if end >= 0 {
			text = p[:end]
		}
		if end >= 0 && end <= lineLimit && len(s.line) == 0 && !s.cr && !s.cut && countPrintable(text) == end {
			s.emit(text) // the common case
			p = p[end+1:]
			continue
		}
		s.addText(text)
		if end < 0 {
			return
		}
		s.emitLine(false)
		p = p[end+1:]
	}
}

// addText adds bytes without a line feed to the line.
func (s *splitter) addText(p []byte) {
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\r')
		if i == 0 {
			s.cr = true
			p = p[1:]
			continue
		}
		if s.cr {
			s.line, s.cr, s.cut = s.line[:0], false, false
		}
		if i < 0 {
			i = len(p)
		}
		s.addPlain(p[:i])
		p = p[i:]
	}
}

// addPlain adds bytes without line feed and carriage return to the line.
func (s *splitter) addPlain(p []byte) {
	for len(s.line)+len(p) > lineLimit {
		n := lineLimit - len(s.line)
		s.line = append(s.line, p[:n]...)
		p = p[n:]
		var rest [utf8.UTFMax]byte // a rune is not cut in two
		part := copy(rest[:], s.line[len(s.line)-partialRune(s.line):])
		s.line = s.line[:len(s.line)-part]
		s.emitLine(true)
		s.line = append(s.line, rest[:part]...)
	}
	s.line = append(s.line, p...)
}

// emitLine passes the line to the listener. With more set, the line goes on.
func (s *splitter) emitLine(more bool) {
	s.out = s.out[:0]
	if s.cut {
		s.out = append(s.out, cutMark...)
	}
	s.out = appendSafe(s.out, s.line)
	if more {
		s.out = append(s.out, cutMark...)
	}
	s.line, s.cr, s.cut = s.line[:0], false, more
	s.emit(s.out)
}

// close reports an unfinished last line, or ends the output.
func (s *splitter) close() {
	if len(s.line) > 0 {
		s.emitLine(false)
	}
}

const hex = "0123456789abcdef"

// countPrintable returns how many leading bytes of text are ASCII that is safe to
// print. It checks eight bytes at once where it can.
func countPrintable(text []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; len(text)-n >= 8; n += 8 {
		x := binary.LittleEndian.Uint64(text[n:])
		if (x|(x-' '*ones)|(x+ones))&tops != 0 { // outside ASCII, below space, or DEL
			break
		}
	}
	for n < len(text) && (text[n] >= ' ' && text[n] < 0x7f || text[n] == '\t') {
		n++
	}
	return n
}

// appendSafe appends text and escapes invalid UTF-8 and everything that a terminal
// would interpret: control bytes except tabs, and the C1 controls.
func appendSafe(dst, text []byte) []byte {
	for len(text) > 0 {
		n := countPrintable(text)
		dst = append(dst, text[:n]...)
		if text = text[n:]; len(text) == 0 {
			break
		}
		r, size := utf8.DecodeRune(text)
		switch {
		case r < ' ' || r == 0x7f || r == utf8.RuneError && size == 1:
			dst = append(dst, '\\', 'x', hex[text[0]>>4], hex[text[0]&15])
		case r >= 0x80 && r < 0xa0:
			dst = append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			dst = append(dst, text[:size]...)
		}
		text = text[size:]
	}
	return dst
}
