package render

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/settle-cm/settle/model"
)

// Text is the report for people: what is not stable, a line that sums up the
// rest, and what a person needs to know of each failure.
func Text(reports []model.Report, o Options) []byte {
	t := text{Options: o, titled: o.Titled || len(reports) > 1}
	for i := range reports {
		t.report(&reports[i])
	}
	return t.b.Bytes()
}

type text struct {
	Options
	titled bool
	b      bytes.Buffer
}

func (t *text) report(r *model.Report) {
	if t.Quiet && (r.ExitCode == 0 || r.ExitCode == 2) {
		return
	}
	valid := len(r.Problems) == 0
	if r.Error != "" && len(r.Resources) == 0 && (valid || r.Mode != "validate") {
		return // nothing was done: the caller says why, on standard error
	}
	if t.titled {
		if t.b.Len() > 0 {
			t.b.WriteByte('\n')
		}
		t.line("%s:", Escape(r.Manifest))
	}
	if !valid {
		t.problems(r)
		return
	}
	t.rows(t.table(r))
	if !t.Quiet {
		t.warnings(r)
	}
	t.line("%s", summary(r))
	for i := range r.Resources {
		if o := &r.Resources[i]; o.Status == model.Failed || o.Status == model.Interrupted {
			t.failure(r, o)
		}
	}
}

func (t *text) line(format string, args ...any) {
	fmt.Fprintf(&t.b, format+"\n", args...)
}

// problems are the result of a validation.
func (t *text) problems(r *model.Report) {
	for _, p := range r.Problems {
		t.line("%s", ProblemText(p, t.Options))
	}
	if !t.Quiet {
		t.warnings(r)
	}
	t.line("%s", count(len(r.Problems), "problem"))
}

func (t *text) warnings(r *model.Report) {
	o := t.Options
	o.Excerpts = o.Excerpts && r.Mode == "validate" // a run has more to tell
	for _, w := range warnings(r) {
		t.line("%s", WarningText(w, o))
	}
}

// warnings returns those of the manifest and then those of its resources.
func warnings(r *model.Report) []model.Problem {
	all := r.Warnings
	for i := range r.Resources {
		all = append(all[:len(all):len(all)], r.Resources[i].Warnings...)
	}
	return all
}

// ProblemLine is a problem as one line that is safe on a terminal, except that
// a message of several lines (a cycle) keeps them, indented.
func ProblemLine(p model.Problem) string {
	lines := strings.Split(p.String(), "\n")
	for i, line := range lines {
		lines[i] = Escape(line)
	}
	return strings.Join(lines, "\n  ")
}

// row is one line of the table, with what stands below it.
type row struct {
	marker, id, status, note string
	below                    []string
	diff                     []string
}

// Columns are as wide as their widest entry needs, within these bounds: one
// very long name must not push everything off the screen.
const (
	idWidth     = 16
	idWidthMost = 44
	statusWidth = 16
)

func (t *text) rows(rows []row) {
	width := idWidth
	for _, r := range rows {
		if n := utf8.RuneCountInString(r.id) + 3; n > width && n <= idWidthMost {
			width = n
		}
	}
	for _, r := range rows {
		head := t.paint(colors[r.marker], r.marker) + " " + pad(r.id, width)
		if r.note == "" {
			t.line("%s%s", head, t.paint(colors[r.marker], r.status))
		} else {
			t.line("%s%s%s", head, t.paint(colors[r.marker], r.status)+padding(r.status, statusWidth), r.note)
		}
		for _, line := range r.below {
			t.line("%s%s", strings.Repeat(" ", width+2), line)
		}
		for _, line := range r.diff { // long lines: not as far to the right
			t.line("    %s", line)
		}
	}
}

// pad fills a text up to a width, and never lets it touch what follows.
func pad(s string, width int) string { return s + padding(s, width) }

func padding(s string, width int) string {
	return strings.Repeat(" ", max(width-utf8.RuneCountInString(s), 2))
}

// The colours are the terminal's own first eight, which every theme has made readable.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
	faint  = "2"
)

var colors = map[string]string{"+": green, "~": cyan, "?": yellow, "!": red, "-": yellow, "=": faint}

func (o Options) paint(color, s string) string {
	if !o.Color || color == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// count returns "1 problem", "2 problems".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Duration shows milliseconds as people read them: 0.4s, 1m05s, 2h03m.
func Duration(ms int64) string {
	tenths := (ms + 50) / 100
	seconds := (ms + 500) / 1000
	switch {
	case tenths < 600:
		return fmt.Sprintf("%d.%ds", tenths/10, tenths%10)
	case seconds < 3600:
		return fmt.Sprintf("%dm%02ds", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%dh%02dm", seconds/3600, seconds%3600/60)
}
