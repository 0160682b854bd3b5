package render

import (
	"fmt"
	"strings"

	"github.com/settle-cm/settle/model"
)

// A failure early in a long chain skips hundreds: more than this many skips
// with one root cause become a few and a count.
const (
	skipsListed = 3
	skipsAll    = 5
)

// table returns the rows that the reader asked for, in the order of the manifest.
func (t *text) table(r *model.Report) []row {
	var rows []row
	folded := t.fold(r)
	listed := map[string]int{}
	for i := range r.Resources {
		o := &r.Resources[i]
		switch {
		case !t.listed(o):
			continue
		case folded[cause(o)] > 0:
			if listed[cause(o)]++; listed[cause(o)] > skipsListed {
				if listed[cause(o)] == folded[cause(o)] {
					rows = append(rows, foldedRow(o, folded[cause(o)]-skipsListed))
				}
				continue
			}
		}
		rows = append(rows, t.row(r, o))
	}
	return rows
}

func (t *text) listed(o *model.ResourceReport) bool {
	switch {
	case t.Quiet:
		return o.Status == model.Failed || o.Status == model.Interrupted
	case o.Status == model.Stable:
		return t.Verbose
	}
	return true
}

// cause is what folds rows together: the status, and the failure it goes back to.
func cause(o *model.ResourceReport) string {
	if o.Status == model.Skipped || o.Status == model.NotReached {
		return o.Status.String() + " " + o.RootCause
	}
	return ""
}

// fold counts the rows of each cause that has too many of them to list.
func (t *text) fold(r *model.Report) map[string]int {
	n := map[string]int{}
	if t.Verbose || t.Quiet {
		return n
	}
	for i := range r.Resources {
		if c := cause(&r.Resources[i]); c != "" {
			n[c]++
		}
	}
	for c, many := range n {
		if many <= skipsAll {
			delete(n, c)
		}
	}
	return n
}

func foldedRow(o *model.ResourceReport, n int) row {
	note := Escape(o.Reason)
	if o.RootCause != "" {
		note = "because of " + Escape(o.RootCause)
	}
	return row{marker: "-", id: fmt.Sprintf("%d more", n), status: words(o.Status), note: note}
}

func (t *text) row(r *model.Report, o *model.ResourceReport) row {
	line := row{marker: marker(o), id: Escape(o.ID), status: words(o.Status), note: t.note(o)}
	planned := r.Mode == "plan"
	if o.Description != "" && (planned || t.Verbose) {
		line.below = append(line.below, t.paint(faint, Escape(o.Description)))
	}
	if t.Verbose && len(o.Tags) > 0 {
		line.below = append(line.below, "tags: "+Escape(strings.Join(o.Tags, ", ")))
	}
	if t.Verbose && o.Command != "" && o.Command != o.Name {
		line.below = append(line.below, "command: "+Escape(o.Command))
	}
	if t.Verbose {
		for _, value := range valueLines(o) {
			line.below = append(line.below, "value  "+value)
		}
	}
	if planned || t.Verbose {
		for _, g := range o.Guards {
			line.below = append(line.below, guard(g))
		}
		line.diff = t.diff(o.Diff)
	}
	return line
}

// diff shows what of a text changes.
func (t *text) diff(diff string) []string {
	colors := map[byte]string{'-': red, '+': green, '@': cyan}
	all := lines(diff)
	for i, line := range all {
		if line != "" {
			all[i] = t.paint(colors[line[0]], EscapeLine(line))
		}
	}
	return all
}

func guard(g model.GuardResult) string {
	answer := "no exit code"
	if g.Exit != nil {
		answer = fmt.Sprintf("exit %d", *g.Exit)
	}
	return fmt.Sprintf("%s: %s (%s)", g.Property, Escape(g.Command), answer)
}

func marker(o *model.ResourceReport) string {
	switch o.Status {
	case model.WouldRun:
		return "+"
	case model.WouldRefresh:
		return "~"
	case model.MayRun:
		return "?"
	case model.Failed, model.Interrupted:
		return "!"
	case model.Stable:
		if strings.HasPrefix(o.Reason, "skipped (") { // it is not for this machine
			return "-"
		}
		return "="
	case model.Changed:
		if refreshed(o) {
			return "~"
		}
		return "+"
	}
	return "-"
}

// refreshed says whether a resource acted because of a refresh: one of this
// run, or one that an earlier run left owed.
func refreshed(o *model.ResourceReport) bool {
	return len(o.RefreshedBy) > 0 || strings.HasPrefix(o.Reason, "refresh ")
}

// words is a status as people write it.
func words(s model.Status) string { return strings.ReplaceAll(s.String(), "_", " ") }

func (t *text) note(o *model.ResourceReport) string {
	reason := Escape(o.Reason)
	took := ""
	if o.Attempts > 0 {
		took = Duration(o.DurationMS)
	}
	switch o.Status {
	case model.WouldRefresh:
		return strings.TrimPrefix(strings.TrimPrefix(reason, "refreshed "), "refresh ")
	case model.Changed, model.Stable:
		switch {
		case took != "" && o.Command == "" && reason != "" && !t.Verbose:
			return reason // without a command it is what was done
		case took != "" && (reason == "" || !t.Verbose && !refreshed(o)):
			return took
		case took != "" && t.Verbose:
			return took + ", " + reason
		}
	case model.Failed:
		return failed(o, reason, took)
	case model.Interrupted:
		return lasted(reason, took)
	}
	return reason
}

// lasted adds to how a command ended how long that took; but not to a reason
// that speaks of a time already (a timeout), or of something else than the end.
func lasted(reason, took string) string {
	for _, how := range []string{"exit ", "killed by ", "interrupted by "} {
		if took != "" && strings.HasPrefix(reason, how) {
			return reason + " after " + took
		}
	}
	return reason
}

// failed adds what a reason must not hold, because it differs from run to run.
func failed(o *model.ResourceReport, reason, took string) string {
	reason = lasted(reason, took)
	if o.Attempts > 1 {
		reason += fmt.Sprintf(", %d attempts", o.Attempts)
	}
	if o.Ignored {
		reason += " (ignored)"
	}
	return reason
}
