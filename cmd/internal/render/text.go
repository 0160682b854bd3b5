package render

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/settle-cm/settle/model"
)

// Text returns reports for people: the resources that are not stable, a summary
// line, and the details of each failure.
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
	t.line("%s", summaryLine(r))
	for i := range r.Resources {
		if o := &r.Resources[i]; isUnresolved(o) {
			t.failure(r, o)
		}
	}
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
		if n := utf8.RuneCountInString(r.id) + 3; n > width && n <= idWidthMost {
			width = n
		}
	}
	for _, r := range rows {
		head := t.paint(symbolColors[r.marker], r.marker) + " " + r.id + padding(r.id, width)
		if r.note == "" {
			t.line("%s%s", head, t.paint(symbolColors[r.marker], r.status))
		} else {
			t.line("%s%s%s", head, t.paint(symbolColors[r.marker], r.status)+padding(r.status, statusWidth), r.note)
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
	return strings.Repeat(" ", max(width-utf8.RuneCountInString(s), 2))
}

// outputTail is how many of the last lines of a failed command's output are
// shown without -v.
const outputTail = 20

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
	}
	if o.Ignored {
		head += " (ignored)"
	}
	t.b.WriteByte('\n')
	t.line("%s%s%s:%d", t.paint(red, head), padding(head, placeColumn), Escape(o.File), o.Line)
	t.field("command", splitLines(o.Command))
	t.field("cwd", splitLines(o.Cwd))
	if o.Attempts == 0 {
		for _, g := range o.Guards {
			t.field(g.Property, splitLines(guardAnswer(g)))
		}
	}
	if !o.Quiet {
		t.field("output", t.outputLines(o.Output))
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

// outputLines returns the last lines of an output, or all with -v.
func (t *textReport) outputLines(output string) []string {
	all := splitLines(output)
	for i, line := range all {
		all[i] = strings.TrimSuffix(line, "\r")
	}
	if cut := len(all) - outputTail; cut > 0 && !t.Verbose {
		return append([]string{fmt.Sprintf("(%s before these: -v)", countOf(cut, "line"))}, all[cut:]...)
	}
	return all
}
