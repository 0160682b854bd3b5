package render

import (
	"fmt"
	"strings"

	"github.com/settle-cm/settle/model"
)

// summaryLine returns the line that sums a report up.
func summaryLine(r *model.Report) string {
	switch {
	case r.Mode == "validate" && r.Summary.Total == 0:
		return "valid: no resources"
	case r.Mode == "validate":
		return "valid: " + countOf(r.Summary.Total, "resource")
	case r.Summary.Total == 0:
		return "no resources" + owedText(r)
	case r.Mode == "plan":
		return planSummary(r)
	}
	return applySummary(r)
}

func planSummary(r *model.Report) string { return planCounts(r) + owedText(r) + stateText(r) }

// planCounts counts the resources of a plan by the kind of their change.
func planCounts(r *model.Report) string {
	n := countKinds(r)
	var parts []string
	for _, kind := range []struct {
		count int
		text  string
	}{
		{n.create, "to create"}, {n.change, "to change"}, {n.remove, "to remove"}, {n.run, "to run"},
		{n.refresh, "to refresh"}, {n.may, "may run"}, {n.check, "to check"},
	} {
		if kind.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", kind.count, kind.text))
		}
	}
	if r.Pending() == 0 {
		parts = append([]string{"nothing to do"}, parts...)
	}
	parts = append(parts, statusCounts(r, model.Failed, model.Skipped, model.Interrupted, model.NotReached)...)
	parts = append(parts, fmt.Sprintf("%d unchanged", r.Summary.Count[model.Stable]))
	return strings.Join(parts, ", ")
}

// kindCounts counts the resources of a plan that would or may run.
type kindCounts struct{ create, change, remove, run, refresh, may, check int }

func countKinds(r *model.Report) kindCounts {
	var n kindCounts
	for i := range r.Resources {
		o := &r.Resources[i]
		switch {
		case !isDue(o):
		case o.Action == model.ActionCheck:
			n.check++
		case o.Status == model.WouldRefresh:
			n.refresh++
		case o.Status == model.MayRun:
			n.may++
		case o.Action == model.ActionCreate:
			n.create++
		case o.Action == model.ActionChange:
			n.change++
		case o.Action == model.ActionRemove:
			n.remove++
		default:
			n.run++
		}
	}
	return n
}

// outcomeColor returns the colour that sums a report up: red for a failure,
// yellow for work that is left to do, green for success.
func outcomeColor(r *model.Report) string {
	n := &r.Summary.Count
	switch {
	case r.Error != "" || len(r.Problems) > 0 || n[model.Failed]+n[model.Interrupted]+n[model.NotReached] > 0:
		return red
	case r.Pending()+n[model.Deferred]+n[model.Skipped]+r.Summary.Owed+r.Summary.Ignored > 0:
		return yellow
	}
	return green
}

func applySummary(r *model.Report) string {
	return applyCounts(r) + owedText(r) + " in " + Duration(r.DurationMS)
}

// applyCounts counts the resources of an apply by status.
func applyCounts(r *model.Report) string {
	parts := []string{fmt.Sprintf("%d changed", r.Summary.Count[model.Changed])}
	parts = append(parts, statusCounts(r, model.Failed, model.Skipped, model.Deferred, model.Shutdown,
		model.Interrupted, model.NotReached, model.Stable)...)
	return strings.Join(parts, ", ")
}

// statusCounts returns the count of each status that occurs, and always that of
// Stable.
func statusCounts(r *model.Report, statuses ...model.Status) []string {
	var parts []string
	for _, s := range statuses {
		if n := r.Summary.Count[s]; n > 0 || s == model.Stable {
			parts = append(parts, fmt.Sprintf("%d %s", n, statusText(s)))
		}
		if s == model.Failed && r.Summary.Ignored > 0 {
			parts = append(parts, fmt.Sprintf("%d failed and ignored", r.Summary.Ignored))
		}
	}
	return parts
}

func owedText(r *model.Report) string {
	switch n := r.Summary.Owed; n {
	case 0:
		return ""
	case 1:
		return ", 1 refresh owed"
	default:
		return fmt.Sprintf(", %d refreshes owed", n)
	}
}

func stateText(r *model.Report) string {
	switch {
	case r.State.Dir == "":
		return " (no state)"
	case !r.State.Found:
		return " (state: none yet in " + Escape(r.State.Dir) + ")"
	}
	return " (state: " + Escape(r.State.Dir) + ")"
}
