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

func planSummary(r *model.Report) string {
	parts := []string{fmt.Sprintf("%d to do", r.Pending())}
	if checks := countDue(r) - r.Pending(); checks > 0 {
		parts = append(parts, fmt.Sprintf("%d to check", checks))
	}
	parts = append(parts, statusCounts(r, model.Failed, model.Skipped, model.Interrupted, model.NotReached, model.Stable)...)
	return strings.Join(parts, ", ") + owedText(r) + stateText(r)
}

// countDue counts the resources that would or may run, checks included.
func countDue(r *model.Report) int {
	n := &r.Summary.Count
	return n[model.WouldRun] + n[model.WouldRefresh] + n[model.MayRun]
}

func applySummary(r *model.Report) string {
	parts := []string{fmt.Sprintf("%d changed", r.Summary.Count[model.Changed])}
	parts = append(parts, statusCounts(r, model.Failed, model.Skipped, model.Deferred, model.Shutdown,
		model.Interrupted, model.NotReached, model.Stable)...)
	return strings.Join(parts, ", ") + owedText(r) + " in " + Duration(r.DurationMS)
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
