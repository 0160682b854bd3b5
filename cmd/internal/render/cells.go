package render

import (
	"slices"
	"strings"
)

// wideRanges are the characters that take two columns of a terminal: East Asian
// scripts and pictures.
var wideRanges = [][2]rune{
	{0x1100, 0x115f},
	{0x2e80, 0xa4cf},
	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},
	{0xfe30, 0xfe6f},
	{0xff00, 0xff60},
	{0x1f300, 0x1faff},
	{0x20000, 0x3ffff},
}

// Cells returns the number of columns that a text takes in a monospaced font.
func Cells(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r >= wideRanges[0][0] && slices.ContainsFunc(wideRanges, func(w [2]rune) bool { return w[0] <= r && r <= w[1] }) {
			n++
		}
	}
	return n
}

// Shorten returns a text of at most this many cells. A text that was cut ends
// with "…".
func Shorten(text string, most int) string {
	if Cells(text) <= most {
		return text
	}
	var b strings.Builder
	n := 1
	for _, r := range text {
		if n += Cells(string(r)); n > most {
			break
		}
		b.WriteRune(r)
	}
	return b.String() + "…"
}
