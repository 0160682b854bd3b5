// Package exit holds how a command ends, and derives the exit code of settle from it.
package exit

import (
	"errors"
	"syscall"
	"testing"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/providers/proc"
)

func reported(plan bool, statuses ...model.Status) *model.Report {
	var outcomes []model.ResourceReport
	for _, s := range statuses {
		outcomes = append(outcomes, model.ResourceReport{Status: s})
	}
	return &model.Report{Resources: outcomes, Summary: model.Summarize(plan, outcomes, 0)}
}

func TestExitCode(t *testing.T) {
	var (
		interrupted = Ending{Cause: &proc.Signalled{Signal: syscall.SIGINT}, Report: reported(false, model.Interrupted, model.Failed)}
		limit       = Ending{Cause: errors.New("the run took longer than 1s"), Report: reported(false, model.Interrupted)}
		locked      = Ending{Refused: &Refusal{Later, errors.New("locked")}}
		invalid     = Ending{Refused: &Refusal{Invalid, errors.New("invalid")}}
		denied      = Ending{Refused: &Refusal{Denied, errors.New("denied")}}
		lost        = Ending{Unwritten: errors.New("disk full")}
		fails       = Ending{Report: reported(false, model.Changed, model.Failed), Detailed: true}
		lacksRights = Ending{Report: reported(false, model.Failed, model.Skipped), Denied: true}
		defers      = Ending{Report: reported(false, model.Changed, model.Deferred, model.Skipped), Detailed: true}
		changes     = Ending{Report: reported(false, model.Changed, model.Stable)}
		changesTold = Ending{Report: reported(false, model.Changed, model.Stable), Detailed: true}
		converged   = Ending{Report: reported(false, model.Stable), Detailed: true}
		plans       = Ending{Report: reported(true, model.MayRun), Detailed: true}
		shutdown    = Ending{Report: reported(false, model.Shutdown, model.Skipped)}
		checks      = reported(true, model.WouldRun)
		ignored     = []model.ResourceReport{{Status: model.Failed, Ignored: true}}
	)
	checks.Resources[0].Action = model.ActionCheck
	for _, row := range []struct {
		name    string
		endings []Ending
		want    int
	}{
		{"nothing happened", nil, 0},
		{"all is as declared", []Ending{converged}, 0},
		{"changed is as good as stable", []Ending{changes}, 0},
		{"changed, and asked for", []Ending{changesTold}, 2},
		{"a plan with something that may run", []Ending{plans}, 2},
		{"a check is nothing to do", []Ending{{Report: checks, Detailed: true}}, 0},
		{"a failure", []Ending{fails}, 1},
		{"an ignored failure", []Ending{{Report: &model.Report{Summary: model.Summarize(false, ignored, 0)}}}, 0},
		{"a shut-down server and what it skips are done", []Ending{shutdown}, 0},
		{"deferred goes before changed", []Ending{defers}, 75},
		{"failed goes before deferred", []Ending{defers, fails}, 1},
		{"a report that was not written goes before failed", []Ending{fails, lost}, 73},
		{"refused goes before a report that was not written", []Ending{lost, locked}, 75},
		{"of two refusals the first in the table", []Ending{denied, invalid, locked}, 65},
		{"a bug goes before a refusal", []Ending{invalid, {Bug: errors.New("a bug")}}, 70},
		{"a signal goes before everything", []Ending{{Bug: errors.New("a bug")}, invalid, interrupted}, 130},
		{"TERM", []Ending{{Cause: &proc.Signalled{Signal: syscall.SIGTERM}}}, 143},
		{"HUP", []Ending{{Cause: &proc.Signalled{Signal: syscall.SIGHUP}}}, 129},
		{"the run timeout is a failure", []Ending{limit}, 1},
		{"every failure needs more rights", []Ending{lacksRights}, 77},
		{"a failure of another manifest does not", []Ending{lacksRights, fails}, 1},
		{"a stopped run is a failure", []Ending{{Cause: limit.Cause, Denied: true, Report: lacksRights.Report}}, 1},
	} {
		if got := Code(row.endings...); got != row.want {
			t.Errorf("%s: exit %d, want %d", row.name, got, row.want)
		}
	}
}
