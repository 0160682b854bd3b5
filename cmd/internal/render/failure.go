package render

import (
	"fmt"
	"strings"

	"github.com/settle-cm/settle/model"
)

// outputTail is how many of the last lines of a failed command's output are
// shown without -v.
const outputTail = 20

// placeColumn is where the place of a failure stands, if its reason leaves room.
const placeColumn = 49

// failure is the block that tells a person what to look at, and where.
func (t *text) failure(r *model.Report, o *model.ResourceReport) {
	head := Escape(o.ID) + " " + words(o.Status)
	if o.Reason != "" {
		head += ": " + Escape(o.Reason)
	}
	switch {
	case o.Exit != nil && o.Expects != "" && strings.HasPrefix(o.Reason, "exit "):
		head += " (" + o.Expects + ")"
	case o.Reason == "killed by SIGKILL": // not by us: then it says why
		head += " (out of memory?)"
	}
	if o.Ignored {
		head += " (ignored)"
	}
	t.b.WriteByte('\n')
	t.line("%s%s:%d", t.paint(red, head)+padding(head, placeColumn), Escape(o.File), o.Line)
	t.field("command", lines(o.Command))
	t.field("cwd", lines(o.Cwd))
	if o.Attempts == 0 {
		for _, g := range o.Guards {
			t.field(g.Property, lines(strings.TrimPrefix(guard(g), g.Property+": ")))
		}
	}
	if !o.Quiet {
		t.field("output", t.tail(o.Output))
	}
	t.field("skipped", skippedFor(r, o))
}

// field writes a labelled text, its further lines below its first.
func (t *text) field(label string, lines []string) {
	for i, line := range lines {
		if i > 0 {
			label = ""
		}
		t.line("%s", strings.TrimRight(fmt.Sprintf("  %-9s%s", label, EscapeLine(line)), " "))
	}
}

// lines splits a text that may have several, without the empty ones at its end.
func lines(text string) []string {
	text = strings.TrimRight(text, "\r\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func (t *text) tail(output string) []string {
	all := lines(output)
	for i, line := range all {
		all[i] = strings.TrimSuffix(line, "\r")
	}
	if cut := len(all) - outputTail; cut > 0 && !t.Verbose {
		return append([]string{fmt.Sprintf("(%s before these: -v)", count(cut, "line"))}, all[cut:]...)
	}
	return all
}

// skippedFor says how many resources were skipped because of a failure.
func skippedFor(r *model.Report, o *model.ResourceReport) []string {
	n := 0
	for i := range r.Resources {
		if r.Resources[i].Status == model.Skipped && r.Resources[i].RootCause == o.ID {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{count(n, "resource") + " because of this"}
}
