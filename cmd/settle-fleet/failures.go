package main

import (
	"slices"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/rollout"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/status"
)

// isFailed reports whether a release needs a person on its machine.
func isFailed(r *status.Release) bool {
	return r.State == status.Failed || r.State == status.Blocked || r.Refused != nil
}

// reasonsOf returns why a release fails, nothing for one that does not. Equal causes
// have equal texts on all machines, so that machines can be grouped by them.
func reasonsOf(r *status.Release) []string {
	switch {
	case r.Refused != nil:
		return []string{"refused: " + r.Refused.Why}
	case !isFailed(r):
		return nil
	case len(r.Failure) > 0:
		return r.Failure
	}
	return []string{r.Why}
}

// machineFailures returns why the releases of a machine fail.
func machineFailures(m *machineStatus) []string {
	var all []string
	for _, name := range sortedNames(m.Releases) {
		r := m.Releases[name]
		for _, reason := range reasonsOf(&r) {
			if !slices.Contains(all, reason) {
				all = append(all, reason)
			}
		}
	}
	return all
}

// groupFailures groups the machines that fail by resource and reason.
func groupFailures(machines []machineStatus) []rollout.Group {
	failures := map[string][]string{}
	for i := range machines {
		if reasons := machineFailures(&machines[i]); reasons != nil {
			failures[machines[i].Machine] = reasons
		}
	}
	return rollout.GroupFailures(failures)
}
