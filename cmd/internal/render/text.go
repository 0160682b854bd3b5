package render

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/settle-cm/settle/model"
)

// Text returns reports for people: the resources that are not stable, the details
// of each failure, and a summary as the last line.
func Text(reports []model.Report, o Options) []byte {
	t := textReport{Options: o}
	t.Titled = t.Titled || len(reports) > 1
	for i := range reports {
		t.report(&reports[i])
	}
	return t.b.Bytes()
}

// textReport is a text report that is being written.
type textReport struct {
	Options
	b bytes.Buffer
}

func (t *textReport) report(r *model.Report) {
	if t.Quiet && (r.ExitCode == 0 || r.ExitCode == 2) {
		return
	}
	valid := len(r.Problems) == 0
	if r.Error != "" && len(r.Resources) == 0 && (valid || r.Mode != "validate") {
		return // nothing ran: the caller writes the reason to standard error
	}
	if t.Titled {
		if t.b.Len() > 0 {
			t.b.WriteByte('\n')
		}
		t.line("%s:", Escape(r.Manifest))
	}
	if !valid {
		t.problems(r)
		return
	}
	t.rows(tableRows(r, t.Options))
	if !t.Quiet {
		t.warnings(r)
	}
	t.failures(r)
	if t.Verbose && r.Mode == "plan" && len(r.Resources) > 0 {
		t.line("%s", t.legendLine())
	}
	t.line("%s", t.paint(outcomeColor(r), summaryLine(r)))
}

// failures writes the details of every failure. Ignored failures come first, so
// that those which count stand nearer to the summary.
func (t *textReport) failures(r *model.Report) {
	before := t.b.Len()
	for _, ignored := range []bool{true, false} {
		for _, o := range listUnresolved(r) {
			if o.Ignored == ignored {
				t.failure(r, o)
			}
		}
	}
	if t.b.Len() > before {
		t.b.WriteByte('\n')
	}
}

// symbol returns a symbol as the reader's terminal can show it.
func (t *textReport) symbol(s string) string {
	if ascii, ok := asciiSymbols[s]; ok && t.ASCII {
		return ascii
	}
	return s
}

func (t *textReport) legendLine() string {
	var parts []string
	for _, l := range legend {
		parts = append(parts, t.paint(symbolColors[l.symbol], t.symbol(l.symbol))+" "+l.text)
	}
	return strings.Join(parts, "  ")
}

func (t *textReport) line(format string, args ...any) {
	fmt.Fprintf(&t.b, format+"\n", args...)
}

// problems writes the result of a validation.
func (t *textReport) problems(r *model.Report) {
	for _, p := range r.Problems {
		t.line("%s", ProblemText(p, t.Options))
	}
	if !t.Quiet {
		t.warnings(r)
	}
	t.line("%s", countOf(len(r.Problems), "problem"))
}

func (t *textReport) warnings(r *model.Report) {
	o := t.Options
	o.Excerpts = o.Excerpts && r.Mode == "validate" // a run has enough other lines to read
	for _, w := range allWarnings(r) {
		t.line("%s", WarningText(w, o))
	}
}

// Columns are as wide as their widest entry needs, within these bounds: one very
// long name must not push the other columns off the screen.
const (
	idWidth     = 16
	idWidthMost = 44
	statusWidth = 16
)

func (t *textReport) rows(rows []row) {
	width := idWidth
	for _, r := range rows {
		if n := Cells(r.id) + 3; n <= idWidthMost {
			width = max(width, n)
		}
	}
	for _, r := range rows {
		head := t.paint(r.color, t.symbol(r.symbol)) + " " + r.id
		if Cells(r.id)+2 > width { // the other columns stay aligned on a line of their own
			t.line("%s", head)
			head = strings.Repeat(" ", width+2)
		} else {
			head += padding(r.id, width)
		}
		if r.note == "" {
			t.line("%s%s", head, t.paint(r.color, r.status))
		} else {
			t.line("%s%s%s", head, t.paint(r.color, r.status)+padding(r.status, statusWidth), r.note)
		}
		for _, line := range r.below {
			t.line("%s%s", strings.Repeat(" ", width+2), line)
		}
		for _, line := range r.diff { // diff lines are long: less indentation
			t.line("    %s", line)
		}
	}
}

// padding returns the spaces that fill a text up to a width, at least two, so that
// it never touches the next column.
func padding(s string, width int) string {
	return strings.Repeat(" ", max(width-Cells(s), 2))
}

// maxTail is how many of the last lines of a failed command's output are shown
// without -v.
const maxTail = 20

// placeColumn is the column of a failure's file and line, if the reason leaves room.
const placeColumn = 49

// failure writes the block that shows what failed, where it is declared, and its
// output.
func (t *textReport) failure(r *model.Report, o *model.ResourceReport) {
	head := Escape(o.ID) + " " + statusText(o.Status)
	if o.Reason != "" {
		head += ": " + Escape(o.Reason)
	}
	switch {
	case o.Exit != nil && o.Expects != "" && strings.HasPrefix(o.Reason, "exit "):
		head += " (" + o.Expects + ")"
	case o.Reason == "killed by SIGKILL": // settle's own kills have a longer reason
		head += " (out of memory?)"
	case ignoredSignal(o):
		head += " (killed by SIGKILL)"
	}
	color := red
	if o.Ignored {
		color = yellow
		head += " (ignored)"
	}
	t.b.WriteByte('\n')
	t.line("%s%s%s:%d", t.paint(color, head), padding(head, placeColumn), Escape(o.File), o.Line)
	t.field("command", splitLines(o.Command))
	t.field("cwd", splitLines(o.Cwd))
	if o.Attempts == 0 {
		for _, g := range o.Guards {
			t.field(g.Property, splitLines(guardAnswer(g)))
		}
	}
	if !o.Quiet {
		t.field("output", t.outputTail(o))
	}
	t.field("skipped", splitLines(skippedBecause(r, o)))
}

// field writes a labelled text, its further lines below its first.
func (t *textReport) field(label string, lines []string) {
	for i, line := range lines {
		if i > 0 {
			label = ""
		}
		t.line("%s", strings.TrimRight(fmt.Sprintf("  %-9s%s", label, EscapeLine(line)), " "))
	}
}

// outputTail returns the last lines of an output, or all with -v.
func (t *textReport) outputTail(o *model.ResourceReport) []string {
	all := outputLines(o)
	cut := len(all) - maxTail
	if cut <= 0 || t.Verbose {
		return all
	}
	note := fmt.Sprintf("(%s before these: -v)", countOf(cut, "line"))
	if dropped := countDropped(o, all[:cut]); dropped > 0 {
		note = fmt.Sprintf("(%s before these: -v; between them %d bytes were not kept)", countOf(cut-1, "line"), dropped)
	}
	return append([]string{note}, all[cut:]...)
}
