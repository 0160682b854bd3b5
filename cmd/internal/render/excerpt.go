package render

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/settle-cm/settle/model"
)

// ProblemText is ProblemLine for somebody who watches: with the line of the
// manifest below it and a mark under the place, where that may be shown.
func ProblemText(p model.Problem, o Options) string {
	text := ProblemLine(p)
	if !o.Excerpts || p.Excerpt == (model.Excerpt{}) {
		return text
	}
	before, after := ends(Escape(p.Excerpt.Before), Escape(strings.TrimRight(p.Excerpt.From, " ")))
	number := strconv.Itoa(p.Line)
	line := strings.TrimRight(o.paint(faint, number+" |")+" "+before+after, " ")
	below := o.paint(faint, strings.Repeat(" ", len(number))+" |") + " " + strings.Repeat(" ", utf8.RuneCountInString(before))
	return text + "\n  " + line + "\n  " + below + o.paint(red, "^")
}

// WarningText is ProblemText of what stops nothing.
func WarningText(p model.Problem, o Options) string {
	return o.paint(yellow, "warning:") + " " + ProblemText(p, o)
}

// How much of a line is shown on either side of a place, so that it fits where
// 80 characters do.
const (
	mostBefore = 40
	mostAfter  = 30
)

// ends keeps of two texts what is near the place where they meet.
func ends(before, after string) (string, string) {
	if b := []rune(before); len(b) > mostBefore {
		before = "…" + string(b[len(b)-mostBefore+1:])
	}
	if a := []rune(after); len(a) > mostAfter {
		after = string(a[:mostAfter-1]) + "…"
	}
	return before, after
}
