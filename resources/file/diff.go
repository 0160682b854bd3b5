package file

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of a diff. It is for people: beyond them a summary says more.
const (
	diffBytes = 256 << 10 // of either side; larger files are not compared by line
	diffEdits = 500       // lines that differ; beyond, all between the first and the last
	diffLines = 200       // lines that are shown
	diffWidth = 500       // bytes of a line that are shown
	context3  = 3         // equal lines around a change
)

// edit is one line of a diff: ' ', '-' or '+' and the line.
type edit struct {
	op   byte
	line string
}

// unified returns the difference of two texts in the unified format, bounded;
// "" when they are equal.
func unified(from, to string, before, after []byte) string {
	if bytes.Equal(before, after) {
		return ""
	}
	head := fmt.Sprintf("--- %s\n+++ %s\n", from, to)
	if binary(before) || binary(after) {
		return head + fmt.Sprintf("binary: %d → %d bytes\n", len(before), len(after))
	}
	var b strings.Builder
	b.WriteString(head)
	shown, hidden := 0, 0
	for _, h := range hunks(edits(lines(before), lines(after))) {
		if shown < diffLines {
			fmt.Fprintf(&b, "@@ -%s +%s @@\n", span(h.from, h.edits, '+'), span(h.to, h.edits, '-'))
		}
		for _, e := range h.edits {
			if shown >= diffLines {
				hidden++
				continue
			}
			shown++
			b.WriteByte(e.op)
			b.WriteString(printable(e.line))
		}
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "… %d more lines\n", hidden)
	}
	return b.String()
}

// binary says whether a content is not for reading.
func binary(content []byte) bool { return bytes.IndexByte(content, 0) >= 0 }

// printable bounds a line and makes it valid UTF-8, with a newline at its end.
func printable(line string) string {
	text, ended := strings.CutSuffix(line, "\n")
	if len(text) > diffWidth {
		cut := diffWidth
		for !utf8.RuneStart(text[cut]) && cut > diffWidth-utf8.UTFMax {
			cut--
		}
		text = fmt.Sprintf("%s… %d more bytes", text[:cut], len(text)-cut)
	}
	text = strings.ToValidUTF8(text, "\uFFFD") + "\n"
	if !ended {
		text += "\\ No newline at end of file\n"
	}
	return text
}

// lines splits a text after each newline.
func lines(text []byte) []string {
	var list []string
	for line := range strings.Lines(string(text)) {
		list = append(list, line)
	}
	return list
}

// hunk is a run of edits with the number of the first line on both sides.
type hunk struct {
	from, to int
	edits    []edit
}

// span is one side of a hunk's head: what does not have the other side's op.
func span(first int, edits []edit, other byte) string {
	n := 0
	for _, e := range edits {
		if e.op != other {
			n++
		}
	}
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", first-1)
	case 1:
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d,%d", first, n)
}

// hunks groups edits so that each change stands among a few equal lines.
func hunks(all []edit) []hunk {
	type stretch struct{ start, end int }
	var stretches []stretch
	for i, e := range all {
		if e.op == ' ' {
			continue
		}
		s := stretch{max(0, i-context3), min(len(all), i+context3+1)}
		if n := len(stretches); n > 0 && s.start <= stretches[n-1].end {
			stretches[n-1].end = s.end
		} else {
			stretches = append(stretches, s)
		}
	}
	var list []hunk
	at, from, to := 0, 1, 1
	pass := func(end int) {
		for ; at < end; at++ {
			if all[at].op != '+' {
				from++
			}
			if all[at].op != '-' {
				to++
			}
		}
	}
	for _, s := range stretches {
		pass(s.start)
		list = append(list, hunk{from, to, all[s.start:s.end]})
		pass(s.end)
	}
	return list
}

// edits returns how before becomes after: the shortest way, unless it is longer
// than diffEdits.
func edits(before, after []string) []edit {
	head := 0
	for head < len(before) && head < len(after) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < len(before)-head && tail < len(after)-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	var all []edit
	add := func(op byte, lines []string) {
		for _, line := range lines {
			all = append(all, edit{op, line})
		}
	}
	add(' ', before[:head])
	a, b := before[head:len(before)-tail], after[head:len(after)-tail]
	if middle, ok := shortest(a, b); ok {
		all = append(all, middle...)
	} else {
		add('-', a)
		add('+', b)
	}
	add(' ', before[len(before)-tail:])
	return all
}

// shortest is Myers' algorithm: it looks for the path with the fewest edits by
// how far one gets with d of them on each diagonal. False: more than diffEdits.
func shortest(a, b []string) ([]edit, bool) {
	limit := min(len(a)+len(b), diffEdits)
	far := make([]int, 2*limit+2) // by diagonal, shifted by limit: the furthest x
	var trace [][]int
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			x := 0
			switch {
			case d == 0:
			case k == -d || k != d && far[limit+k-1] < far[limit+k+1]:
				x = far[limit+k+1]
			default:
				x = far[limit+k-1] + 1
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			far[limit+k] = x
			if x >= len(a) && x-k >= len(b) {
				return retrace(a, b, trace), true
			}
		}
		trace = append(trace, slices.Clone(far[limit-d:limit+d+1]))
	}
	return nil, false
}

// retrace walks back the path that shortest found. trace[d] holds the furthest
// x of the diagonals -d to d.
func retrace(a, b []string, trace [][]int) []edit {
	x, y := len(a), len(b)
	var back []edit
	for d := len(trace); d > 0; d-- {
		k := x - y
		far := func(k int) int {
			if i := k + d - 1; i >= 0 && i < len(trace[d-1]) {
				return trace[d-1][i]
			}
			return -1
		}
		down := k == -d || k != d && far(k-1) < far(k+1)
		px, pk := far(k-1), k-1
		if down {
			px, pk = far(k+1), k+1
		}
		py := px - pk
		fromX := px
		if !down {
			fromX++
		}
		for x > fromX {
			x--
			y--
			back = append(back, edit{' ', a[x]})
		}
		if down {
			back = append(back, edit{'+', b[py]})
		} else {
			back = append(back, edit{'-', a[px]})
		}
		x, y = px, py
	}
	for x > 0 {
		x--
		back = append(back, edit{' ', a[x]})
	}
	slices.Reverse(back)
	return back
}

// Unified returns the difference of two texts for other types, as bounded as
// that of a file; "" when they are equal.
func Unified(from, to string, before, after []byte) string { return unified(from, to, before, after) }
