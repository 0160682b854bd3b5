package render

import (
	"fmt"
	"strings"

	"github.com/settle-cm/settle/model"
)

// A failure early in a long chain skips hundreds of resources. More skips with one
// root cause than skipsAll are shown as the first skipsListed and a count.
const (
	skipsListed = 3
	skipsAll    = 5
)

// row is one line of the table, with the lines below it.
type row struct {
	symbol, id, status, note string
	color                    string // of symbol and status
	below                    []string
	diff                     []string
}

// tableRows returns the rows that the options ask for, in the order of the manifest.
func tableRows(r *model.Report, opts Options) []row {
	var rows []row
	folded := countFolded(r, opts)
	listed := map[string]int{}
	for i := range r.Resources {
		o := &r.Resources[i]
		key := foldKey(o)
		switch {
		case !isListed(o, opts):
			continue
		case folded[key] > 0:
			if listed[key]++; listed[key] > skipsListed {
				if listed[key] == folded[key] {
					rows = append(rows, foldedRow(o, folded[key]-skipsListed))
				}
				continue
			}
		}
		rows = append(rows, resourceRow(r, o, opts))
	}
	return rows
}

func isListed(o *model.ResourceReport, opts Options) bool {
	switch {
	case opts.Quiet:
		return isUnresolved(o)
	case o.Status == model.Stable:
		return opts.Verbose
	}
	return true
}

// foldKey returns the key that rows share which may be folded: their status and
// root cause. It is "" for a row that is never folded.
func foldKey(o *model.ResourceReport) string {
	if o.Status == model.Skipped || o.Status == model.NotReached {
		return o.Status.String() + " " + o.RootCause
	}
	return ""
}

// countFolded returns the number of rows of each key that has too many to list.
func countFolded(r *model.Report, opts Options) map[string]int {
	n := map[string]int{}
	if opts.Verbose || opts.Quiet {
		return n
	}
	for i := range r.Resources {
		if key := foldKey(&r.Resources[i]); key != "" {
			n[key]++
		}
	}
	for key, many := range n {
		if many <= skipsAll {
			delete(n, key)
		}
	}
	return n
}

func foldedRow(o *model.ResourceReport, n int) row {
	note := Escape(o.Reason)
	if o.RootCause != "" {
		note = "because of " + Escape(o.RootCause)
	}
	return row{symbol: skippedSymbol, color: symbolColors[skippedSymbol], id: fmt.Sprintf("%d more", n), status: statusText(o.Status), note: note}
}

func resourceRow(r *model.Report, o *model.ResourceReport, opts Options) row {
	line := row{symbol: symbol(o), id: Escape(o.ID), status: resultText(o), note: noteText(o, opts.Verbose)}
	line.color = symbolColors[line.symbol]
	if o.Ignored {
		line.color = yellow
	}
	planned := r.Mode == "plan"
	if o.Description != "" && (planned || opts.Verbose) {
		line.below = append(line.below, opts.paint(faint, Escape(o.Description)))
	}
	if opts.Verbose && len(o.Tags) > 0 {
		line.below = append(line.below, "tags: "+Escape(strings.Join(o.Tags, ", ")))
	}
	if opts.Verbose && o.Command != "" && o.Command != o.Name {
		line.below = append(line.below, "command: "+Escape(o.Command))
	}
	if opts.Verbose {
		for _, value := range valueLines(o) {
			line.below = append(line.below, "value  "+value)
		}
	}
	if planned || opts.Verbose {
		for _, g := range o.Guards {
			line.below = append(line.below, guardText(g))
		}
		line.diff = paintDiff(o.Diff, opts)
	}
	return line
}

// paintDiff returns the lines of a diff, escaped and coloured.
func paintDiff(diff string, opts Options) []string {
	colors := map[byte]string{'-': red, '+': green, '@': cyan}
	all := splitLines(diff)
	for i, line := range all {
		if line != "" {
			all[i] = opts.paint(colors[line[0]], EscapeLine(line))
		}
	}
	return all
}

// noteText returns what the last column says of a resource: its reason, how long
// it took, or both.
func noteText(o *model.ResourceReport, verbose bool) string {
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
		case took != "" && o.Command == "" && o.Action == model.ActionCreate && reason == "missing":
			return took // it was created: the reason says no more
		case took != "" && o.Command == "" && reason != "" && !verbose:
			return reason // without a command the reason describes the change
		case took != "" && (reason == "" || !verbose && !isRefreshed(o)):
			return took
		case took != "" && verbose:
			return took + ", " + reason
		}
	case model.Failed:
		return failureNote(o, reason, took)
	case model.Interrupted:
		return addDuration(reason, took)
	}
	return reason
}

// addDuration appends to a reason how long the command ran, if the reason says
// how the command ended. Other reasons (a timeout) speak of a time already.
func addDuration(reason, took string) string {
	for _, how := range []string{"exit ", "killed by ", "interrupted by "} {
		if took != "" && strings.HasPrefix(reason, how) {
			return reason + " after " + took
		}
	}
	return reason
}

// failureNote adds to a reason the facts that a reason must not hold, because
// they differ from run to run.
func failureNote(o *model.ResourceReport, reason, took string) string {
	reason = addDuration(reason, took)
	if o.Attempts > 1 {
		reason += fmt.Sprintf(", %d attempts", o.Attempts)
	}
	if o.Ignored {
		reason += " (ignored)"
	}
	return reason
}
