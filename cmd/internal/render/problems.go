package render

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/settle-cm/settle/model"
)

// ProblemLine returns a problem as one line that is safe on a terminal. The
// further lines of a message (a cycle) follow it, indented.
func ProblemLine(p model.Problem) string {
	lines := strings.Split(p.String(), "\n")
	for i, line := range lines {
		lines[i] = Escape(line)
	}
	return strings.Join(lines, "\n  ")
}

// ProblemText returns a problem for a person at a terminal: ProblemLine, and
// below it the line of the manifest with a mark under the place, if the options
// allow it.
func ProblemText(p model.Problem, o Options) string {
	text := ProblemLine(p)
	if !o.Excerpts || p.Excerpt == (model.Excerpt{}) {
		return text
	}
	before, after := cutExcerpt(Escape(p.Excerpt.Before), Escape(strings.TrimRight(p.Excerpt.From, " ")))
	number := strconv.Itoa(p.Line)
	line := strings.TrimRight(o.paint(faint, number+" |")+" "+before+after, " ")
	below := o.paint(faint, strings.Repeat(" ", len(number))+" |") + " " + strings.Repeat(" ", utf8.RuneCountInString(before))
	return text + "\n  " + line + "\n  " + below + o.paint(red, "^")
}

// WarningText is ProblemText for a warning.
func WarningText(p model.Problem, o Options) string {
	return o.paint(yellow, "warning:") + " " + ProblemText(p, o)
}

// allWarnings returns the warnings of the manifest, and then those of its resources.
func allWarnings(r *model.Report) []model.Problem {
	all := r.Warnings
	for i := range r.Resources {
		all = append(all[:len(all):len(all)], r.Resources[i].Warnings...)
	}
	return all
}

// The number of characters that an excerpt shows on either side of its place, so
// that it fits in 80 columns.
const (
	maxBefore = 40
	maxAfter  = 30
)

// cutExcerpt keeps of two texts the ends where they meet.
func cutExcerpt(before, after string) (string, string) {
	if b := []rune(before); len(b) > maxBefore {
		before = "…" + string(b[len(b)-maxBefore+1:])
	}
	if a := []rune(after); len(a) > maxAfter {
		after = string(a[:maxAfter-1]) + "…"
	}
	return before, after
}
