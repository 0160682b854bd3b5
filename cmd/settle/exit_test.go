package main

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
		interrupted = ending{cause: &proc.Signalled{Signal: syscall.SIGINT}, report: reported(false, model.Interrupted, model.Failed)}
		limit       = ending{cause: tooLong{1}, report: reported(false, model.Interrupted)}
		locked      = ending{refused: &refusal{exitLater, errors.New("locked")}}
		invalid     = ending{refused: &refusal{exitInvalid, errors.New("invalid")}}
		denied      = ending{refused: &refusal{exitDenied, errors.New("denied")}}
		lost        = ending{unwritten: errors.New("disk full")}
		fails       = ending{report: reported(false, model.Changed, model.Failed), detailed: true}
		defers      = ending{report: reported(false, model.Changed, model.Deferred, model.Skipped), detailed: true}
		changes     = ending{report: reported(false, model.Changed, model.Stable)}
		changesTold = ending{report: reported(false, model.Changed, model.Stable), detailed: true}
		converged   = ending{report: reported(false, model.Stable), detailed: true}
		plans       = ending{report: reported(true, model.MayRun), detailed: true}
		shutdown    = ending{report: reported(false, model.Shutdown, model.Skipped)}
		checks      = reported(true, model.WouldRun)
		ignored     = []model.ResourceReport{{Status: model.Failed, Ignored: true}}
	)
	checks.Resources[0].Action = model.ActionCheck
	for _, row := range []struct {
		name    string
		endings []ending
		want    int
	}{
		{"nothing happened", nil, 0},
		{"all is as declared", []ending{converged}, 0},
		{"changed is as good as stable", []ending{changes}, 0},
		{"changed, and asked for", []ending{changesTold}, 2},
		{"a plan with something that may run", []ending{plans}, 2},
		{"a check is nothing to do", []ending{{report: checks, detailed: true}}, 0},
		{"a failure", []ending{fails}, 1},
		{"an ignored failure", []ending{{report: &model.Report{Summary: model.Summarize(false, ignored, 0)}}}, 0},
		{"a shut-down server and what it skips are done", []ending{shutdown}, 0},
		{"deferred goes before changed", []ending{defers}, 75},
		{"failed goes before deferred", []ending{defers, fails}, 1},
		{"a report that was not written goes before failed", []ending{fails, lost}, 73},
		{"refused goes before a report that was not written", []ending{lost, locked}, 75},
		{"of two refusals the first in the table", []ending{denied, invalid, locked}, 65},
		{"a bug goes before a refusal", []ending{invalid, {bug: errors.New("a bug")}}, 70},
		{"a signal goes before everything", []ending{{bug: errors.New("a bug")}, invalid, interrupted}, 130},
		{"TERM", []ending{{cause: &proc.Signalled{Signal: syscall.SIGTERM}}}, 143},
		{"HUP", []ending{{cause: &proc.Signalled{Signal: syscall.SIGHUP}}}, 129},
		{"the run timeout is a failure", []ending{limit}, 1},
	} {
		if got := exitCode(row.endings...); got != row.want {
			t.Errorf("%s: exit %d, want %d", row.name, got, row.want)
		}
	}
}
