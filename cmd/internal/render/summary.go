package render

import (
	"fmt"
	"strings"

	"github.com/settle-cm/settle/model"
)

// summary is the one line that everyone reads.
func summary(r *model.Report) string {
	switch {
	case r.Mode == "validate" && r.Summary.Total == 0:
		return "valid: no resources"
	case r.Mode == "validate":
		return "valid: " + count(r.Summary.Total, "resource")
	case r.Summary.Total == 0:
		return "no resources" + owed(r)
	case r.Mode == "plan":
		return planned(r)
	}
	return applied(r)
}

func planned(r *model.Report) string {
	parts := []string{fmt.Sprintf("%d to do", r.Pending())}
	if checks := due(r) - r.Pending(); checks > 0 {
		parts = append(parts, fmt.Sprintf("%d to check", checks))
	}
	parts = append(parts, counts(r, model.Failed, model.Skipped, model.Interrupted, model.NotReached, model.Stable)...)
	return strings.Join(parts, ", ") + owed(r) + state(r)
}

// due counts what would or may run, checks among them.
func due(r *model.Report) int {
	n := &r.Summary.Count
	return n[model.WouldRun] + n[model.WouldRefresh] + n[model.MayRun]
}

func applied(r *model.Report) string {
	parts := []string{fmt.Sprintf("%d changed", r.Summary.Count[model.Changed])}
	parts = append(parts, counts(r, model.Failed, model.Skipped, model.Deferred, model.Shutdown,
		model.Interrupted, model.NotReached, model.Stable)...)
	return strings.Join(parts, ", ") + owed(r) + " in " + Duration(r.DurationMS)
}

// counts returns what there is of each status; of stable also when there is none.
func counts(r *model.Report, statuses ...model.Status) []string {
	var parts []string
	for _, s := range statuses {
		if n := r.Summary.Count[s]; n > 0 || s == model.Stable {
			parts = append(parts, fmt.Sprintf("%d %s", n, words(s)))
		}
		if s == model.Failed && r.Summary.Ignored > 0 {
			parts = append(parts, fmt.Sprintf("%d failed and ignored", r.Summary.Ignored))
		}
	}
	return parts
}

func owed(r *model.Report) string {
	switch n := r.Summary.Owed; n {
	case 0:
		return ""
	case 1:
		return ", 1 refresh owed"
	default:
		return fmt.Sprintf(", %d refreshes owed", n)
	}
}

func state(r *model.Report) string {
	switch {
	case r.State.Dir == "":
		return " (no state)"
	case !r.State.Found:
		return " (state: none yet in " + Escape(r.State.Dir) + ")"
	}
	return " (state: " + Escape(r.State.Dir) + ")"
}
