package agent

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/machine"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/runner"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/status"
)

// keepRuns is how many runs settle's journal keeps for an agent: they are the
// reports that wait while the network is down.
const keepRuns = 500

// apply has settle apply, or plan, the release in force and puts the end into
// the status. It returns settle's exit code.
func (a *Agent) apply(ctx context.Context, in *machine.InForce, s *status.Release) int {
	r := in.Release
	if s.Version != r.Version || s.Digest != r.Digest {
		*s = status.Release{Refused: s.Refused, News: s.News, N: s.N, Since: a.Now().UTC().Truncate(time.Second)}
	}
	s.Version, s.Digest, s.Signer, s.Stale = r.Version, r.Digest, in.Signer, r.Expired(a.Now())
	m, err := a.manifest(in.Dir)
	if err != nil {
		return a.notStarted(s, err)
	}
	code, report, err := a.Settle.Walk(ctx, a.Config.Mode, m, filepath.Join(a.State.Dir, "releases", r.Name, "report.json"), a.flags(r.String())...)
	if err != nil {
		return a.notStarted(s, err)
	}
	a.note(s, code, report)
	if s.State != status.OK && s.State != status.Planned {
		a.Log.Warn("applied", "release", r.String(), "state", s.State, "exit", code, "why", s.Why)
	} else {
		a.Log.Info("applied", "release", r.String(), "state", s.State, "exit", code)
	}
	return code
}

func (a *Agent) flags(release string) []string {
	var flags []string
	if a.Config.Mode == "apply" {
		flags = append(flags, "--keep", strconv.Itoa(keepRuns), "--label", "release="+release)
	}
	if a.Quiet {
		flags = append(flags, "--quiet")
	}
	return flags
}

func (a *Agent) notStarted(s *status.Release, err error) int {
	a.Log.Error(err)
	s.State, s.Why = status.Failed, shorten(err.Error())
	return 1
}

// note puts the end of a run into the status.
func (a *Agent) note(s *status.Release, code int, report *runner.Report) {
	s.Failure, s.Why = nil, ""
	s.State = a.stateOf(code)
	s.Run = &status.Run{Exit: code}
	if report != nil {
		s.Run.ID, s.Run.Started, s.Run.Summary = report.Run, report.Started, counted(report.Summary)
		s.Why = shorten(report.Error)
		s.Failure = failures(report)
	}
	if code != runner.ExitOK {
		if code != runner.ExitLater {
			s.Good = time.Time{}
		}
		if s.Why == "" {
			s.Why = fmt.Sprintf("settle exits %d", code)
		}
		return
	}
	if a.Config.Mode != "apply" || report == nil {
		return
	}
	if s.Good.IsZero() {
		s.Good = a.Now().UTC().Truncate(time.Second)
	}
	if s.Applied && report.Summary["changed"] > 0 {
		s.Drift = drift(report)
	}
	s.Applied = true
}

func (a *Agent) stateOf(code int) string {
	switch {
	case code == runner.ExitOK && a.Config.Mode != "apply":
		return status.Planned
	case code == runner.ExitOK:
		return status.OK
	case code == runner.ExitLater:
		return status.Later
	case code == runner.ExitBlocked:
		return status.Blocked
	}
	return status.Failed
}

// counted drops the statuses that no resource has: a status is small.
func counted(summary runner.Summary) map[string]int {
	counts := map[string]int{}
	for key, n := range summary {
		if n > 0 {
			counts[key] = n
		}
	}
	return counts
}

// maxListed bounds how many resources a status lists.
const maxListed = 5

// failures lists what failed, as `id failed: reason`, so that machines can be
// grouped by it.
func failures(report *runner.Report) (all []string) {
	for _, outcome := range report.Resources {
		if (outcome.Status == "failed" || outcome.Status == "interrupted") && !outcome.Ignored && len(all) < maxListed {
			all = append(all, shorten(outcome.ID+" "+outcome.Status+": "+outcome.Reason))
		}
	}
	return all
}

func drift(report *runner.Report) *status.Drift {
	d := &status.Drift{Run: report.Run, At: report.Started, Count: report.Summary["changed"]}
	for _, outcome := range report.Resources {
		if outcome.Status == "changed" && len(d.Resources) < maxListed {
			d.Resources = append(d.Resources, outcome.ID)
		}
	}
	return d
}
