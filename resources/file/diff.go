package file

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

// The bounds of a diff. A diff is for people: beyond them a summary says more.
const (
	diffBytes = 256 << 10 // of either side; larger files are not compared by line
	diffLines = 200       // lines that are shown
	diffWidth = 500       // bytes of a line that are shown
)

// Unified returns the difference of two texts in the unified format. It shows
// at most diffLines lines of diffWidth bytes, and is "" when the texts are equal.
func Unified(from, to string, before, after []byte) string {
	if bytes.Equal(before, after) {
		return ""
	}
	header := fmt.Sprintf("--- %s\n+++ %s\n", from, to)
	if isBinary(before) || isBinary(after) {
		return header + fmt.Sprintf("binary: %d → %d bytes\n", len(before), len(after))
	}
	// the names are replaced: one with a line break would break the header
	text := string(diff.Diff("a", before, "b", after))
	text = strings.TrimPrefix(text, "diff a b\n--- a\n+++ b\n")
	var b strings.Builder
	b.WriteString(header)
	shown, omitted := 0, 0
	for line := range strings.Lines(text) {
		isHunk := strings.HasPrefix(line, "@@ ")
		if isHunk {
			line = strings.ReplaceAll(line, ",1 ", " ") // as GNU diff writes a count of one
		}
		switch {
		case shown < diffLines:
			b.WriteString(boundLine(line))
			if !isHunk {
				shown++
			}
		case !isHunk:
			omitted++
		}
	}
	if omitted > 0 {
		fmt.Fprintf(&b, "… %d more lines\n", omitted)
	}
	return b.String()
}

// isBinary reports whether a content is unfit to be shown as text.
func isBinary(content []byte) bool { return bytes.IndexByte(content, 0) >= 0 }

// boundLine shortens one line of a diff to diffWidth bytes behind its marker,
// and replaces bytes that are not UTF-8.
func boundLine(line string) string {
	const marker = 1 // the space, '-' or '+' in front
	text := strings.TrimSuffix(line, "\n")
	if len(text) > marker+diffWidth {
		cut := marker + diffWidth
		for !utf8.RuneStart(text[cut]) && cut > marker+diffWidth-utf8.UTFMax {
			cut--
		}
		text = fmt.Sprintf("%s… %d more bytes", text[:cut], len(text)-cut)
	}
	return strings.ToValidUTF8(text, "\uFFFD") + "\n"
}
