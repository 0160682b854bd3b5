package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes a text safe to show on a terminal, on one line: control
// characters, invisible ones and invalid UTF-8 are spelled out (\x1b, \n,
// \u202e). Backslashes stay as they are, so that escaping twice is escaping once.
func Escape(text string) string { return escape(text, "") }

// EscapeLine is Escape for a line of output, in which tabs are wanted.
func EscapeLine(text string) string { return escape(text, "\t") }

// AppendLine appends a line of output as EscapeLine returns it.
func AppendLine(to, line []byte) []byte {
	for _, c := range line {
		if (c < ' ' || c > '~') && c != '\t' {
			return append(to, EscapeLine(string(line))...)
		}
	}
	return append(to, line...)
}

func escape(text, keep string) string {
	if plain(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case unicode.IsPrint(r) || strings.ContainsRune(keep, r):
			b.WriteString(text[:size])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		text = text[size:]
	}
	return b.String()
}

// plain is the quick answer for nearly every text: printable ASCII only.
func plain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}
