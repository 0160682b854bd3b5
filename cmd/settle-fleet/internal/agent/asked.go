package agent

import (
	"context"
	"encoding/json"
	"path/filepath"
	"sync"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/runner"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/status"
	"github.com/settle-cm/settle/model"
)

// recent is how long a run counts as the one that was asked for.
const recent = 10 * time.Second

// Desk answers the requests of operators for an agent and keeps the accepted one.
// Answers come from a goroutine of the connection, rounds from the agent's own.
type Desk struct {
	Machine  string
	Labels   map[string]string
	Requests chan status.Request // holds one

	mu           sync.Mutex
	began, ended time.Time // began is zero between rounds
	exit         int
}

// NewDesk returns the desk of an agent.
func NewDesk(a *Agent) *Desk {
	return &Desk{Machine: a.Config.Machine, Labels: a.Labels, Requests: make(chan status.Request, 1)}
}

// Began notes that a round begins.
func (d *Desk) Began() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.began = time.Now()
}

// Ended notes that a round has ended with an exit code.
func (d *Desk) Ended(exit int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.began, d.ended, d.exit = time.Time{}, time.Now(), exit
}

// Answer returns the answer to a request, nil for one that is not for this machine or
// cannot be understood.
func (d *Desk) Answer(request []byte) []byte {
	var r status.Request
	if len(request) > status.MaxText || json.Unmarshal(request, &r) != nil || r.Op != status.OpRun && r.Op != status.OpPlan {
		return nil
	}
	selector, err := release.ParseSelector(r.Selector)
	if err != nil || !selector.Matches(d.Machine, d.Labels) {
		return nil
	}
	text, err := json.Marshal(d.take(r))
	if err != nil {
		return nil
	}
	return text
}

func (d *Desk) take(r status.Request) status.Answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := status.Answer{Machine: d.Machine}
	switch {
	case !d.began.IsZero():
		a.State, a.Since = status.Busy, d.began
	case r.Op == status.OpRun && time.Since(d.ended) < recent:
		a.State, a.Since, a.Exit = status.Recent, d.ended, d.exit
	default:
		a.State = status.Accepted
		select {
		case d.Requests <- r:
		default: // another request waits for its turn
			a.State, a.Since = status.Busy, time.Now()
		}
	}
	return a
}

// SpreadOf returns how long this machine waits before it begins with a request.
func SpreadOf(r status.Request, machine string) time.Duration {
	spread, err := model.ParseDuration(r.Spread)
	if err != nil {
		return 0
	}
	return Splay(machine, min(spread, time.Hour))
}

// Do runs or plans as requested and tells the end in the status. It returns the exit code.
func (a *Agent) Do(ctx context.Context, r status.Request) int {
	if r.Op == status.OpPlan {
		return a.planNow(ctx, r)
	}
	a.asked = &status.Asked{ID: r.ID, Op: r.Op}
	return a.Round(ctx)
}

// planNow plans every release in force. It changes nothing but the answer in the
// status: the states of the releases stay those of the last run.
func (a *Agent) planNow(ctx context.Context, r status.Request) int {
	s := a.newStatus(ctx)
	asked := &status.Asked{ID: r.ID, Op: r.Op, Plans: map[string]status.Plan{}}
	for _, followed := range a.Config.Releases {
		inForce, err := a.State.InForce(followed.Name)
		if err == nil && inForce == nil {
			continue
		}
		var plan status.Plan
		if err == nil {
			plan.Version = inForce.Release.Version
			err = a.plan(ctx, followed.Name, inForce.Dir, &plan)
		}
		if err != nil {
			plan.Exit, plan.Why = 1, shorten(err.Error())
		}
		asked.Plans[followed.Name] = plan
		asked.Exit = worse(asked.Exit, plan.Exit)
	}
	s.Asked, s.Seen = asked, a.Now().UTC().Truncate(time.Second)
	if err := a.State.WriteJSON(statusFile, s); err != nil {
		a.Log.Error(err)
	}
	if a.Teller != nil {
		a.Teller.Tell(ctx, a, s)
	}
	return asked.Exit
}

func (a *Agent) plan(ctx context.Context, name, dir string, plan *status.Plan) error {
	m, err := a.manifest(dir)
	if err != nil {
		return err
	}
	code, report, err := a.Settle.Walk(ctx, "plan", m, filepath.Join(a.State.Dir, "releases", name, "plan.json"), "--quiet")
	if err != nil || report == nil {
		plan.Exit = code
		return err
	}
	plan.Exit, plan.Why, plan.Summary, plan.Changes = code, shorten(report.Error), counted(report.Summary), changes(report)
	return nil
}

// changes lists the resources that would act, as `id status: reason`.
func changes(report *runner.Report) (all []string) {
	for _, outcome := range report.Resources {
		switch outcome.Status {
		case "would_run", "would_refresh", "may_run", "failed":
			if len(all) < maxListed {
				all = append(all, shorten(outcome.ID+" "+outcome.Status+": "+outcome.Reason))
			}
		}
	}
	return all
}
