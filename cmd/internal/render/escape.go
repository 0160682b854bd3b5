package render

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns a text that is safe to show on a terminal, on one line: control
// characters, invisible ones and invalid UTF-8 are spelled out (\x1b, \n,
// \u202e). Backslashes stay as they are, so that escaping twice changes nothing.
func Escape(text string) string { return escape(text, "") }

// EscapeLine is Escape for a line of output: it keeps tabs.
func EscapeLine(text string) string { return escape(text, "\t") }

// AppendLine appends a line of output to a buffer, escaped as by EscapeLine.
func AppendLine(to, line []byte) []byte {
	for _, c := range line {
		if (c < ' ' || c > '~') && c != '\t' {
			return append(to, EscapeLine(string(line))...)
		}
	}
	return append(to, line...)
}

func escape(text, keep string) string {
	if isPlain(text) {
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

// isPlain reports whether a text is printable ASCII, which needs no escaping. It
// is true for nearly every text and costs a tenth of the loop in escape.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// colorCodes matches the escape sequences that set colours. A report is as
// readable without them.
var colorCodes = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// escapeLines returns a text of several lines that is safe in every format: its
// colours are removed, and line ends and tabs are the only control characters left.
func escapeLines(text string) string {
	all := splitLines(colorCodes.ReplaceAllString(text, ""))
	for i, line := range all {
		all[i] = EscapeLine(strings.TrimSuffix(line, "\r"))
	}
	return strings.Join(all, "\n")
}

// splitLines returns the lines of a text, without the empty ones at its end.
func splitLines(text string) []string {
	text = strings.TrimRight(text, "\r\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
