package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bus"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/rollout"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/status"
	"github.com/settle-cm/settle/model"
)

// answerLimit is how long machines may take to say that they heard a request.
const answerLimit = 5 * time.Second

type runCommand struct {
	Selector string `arg:"" optional:"" help:"Which machines: NAME, NAME*, LABEL=VALUE, joined by commas, ! for not. Default: all."`
	fleetFlags
	Plan   bool   `help:"Only plan: say what a run would do, and do nothing."`
	Spread string `default:"0s" placeholder:"TIME" help:"Spread the beginnings over this time. Default: 0s."`
	Wait   string `default:"10m" placeholder:"TIME" help:"How long to wait for the ends; 0s only asks. Default: 10m."`
}

func (c *runCommand) run(ctx context.Context, a *app) error {
	selector, err := release.ParseSelector(c.Selector)
	if err != nil {
		return exitWith(exitUsage, err)
	}
	wait, err := model.ParseDuration(c.Wait)
	if _, spreadErr := model.ParseDuration(c.Spread); err != nil || spreadErr != nil {
		return exitWith(exitUsage, errors.New("--wait and --spread take a time such as 30s"))
	}
	conn, err := c.connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	reading, stop := context.WithTimeout(ctx, operatorLimit)
	defer stop()
	known, _, err := readMachineStatuses(reading, conn)
	if err != nil {
		return err
	}
	r := &request{conn: conn, answers: map[string]status.Answer{}, ends: map[string]*machineStatus{}}
	r.Request = status.Request{ID: rand.Text(), Op: status.OpRun, Selector: c.Selector, Spread: c.Spread}
	if c.Plan {
		r.Op = status.OpPlan
	}
	for _, m := range known {
		if selector.Matches(m.Machine, m.Labels) {
			r.expected = append(r.expected, m.Machine)
		}
	}
	if err := r.ask(ctx); err != nil {
		return exitWith(exitUnreadable, err)
	}
	if wait > 0 {
		if err := r.wait(ctx, wait); err != nil {
			return err
		}
	}
	return r.report(a, wait > 0)
}

// request is one question to the machines with the answers and ends of runs so far.
type request struct {
	status.Request
	conn     *bus.Conn
	expected []string // the known machines of the selector
	answers  map[string]status.Answer
	ends     map[string]*machineStatus // of the machines that have done it
}

// ask sends the request and collects answers until every known machine has answered.
func (r *request) ask(ctx context.Context) error {
	text, err := json.Marshal(r.Request)
	if err != nil {
		return err
	}
	asking, stop := context.WithTimeout(ctx, answerLimit)
	defer stop()
	missing := map[string]bool{}
	for _, name := range r.expected {
		missing[name] = true
	}
	return r.conn.Ask(asking, text, func(data []byte) bool {
		var answer status.Answer
		if json.Unmarshal(data, &answer) == nil && missing[answer.Machine] {
			r.answers[answer.Machine] = answer
			delete(missing, answer.Machine)
		}
		return len(missing) > 0
	})
}

// wait reads the statuses until every machine that has accepted has told its end.
func (r *request) wait(ctx context.Context, limit time.Duration) error {
	accepted := 0
	for _, answer := range r.answers {
		if answer.State == status.Accepted {
			accepted++
		}
	}
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	for len(r.ends) < accepted && sleep(ctx, pollEvery/4) {
		all, _, err := readMachineStatuses(ctx, r.conn)
		if err != nil && ctx.Err() == nil {
			return err
		}
		for i := range all {
			m := &all[i]
			if m.Asked != nil && m.Asked.ID == r.ID && r.answers[m.Machine].State == status.Accepted {
				r.ends[m.Machine] = m
			}
		}
	}
	return nil
}

// report prints the sum and returns the error of the exit code: 1 when a machine
// failed, 75 when one is silent or is not done.
func (r *request) report(a *app, waited bool) error {
	groups := map[string][]string{} // by machine: its lines in the report
	var failed, later int
	for _, name := range r.expected {
		text, code := r.lineOf(name, waited)
		groups[name] = text
		switch code {
		case 0:
		case exitLater:
			later++
		default:
			failed++
		}
	}
	for _, group := range rollout.GroupFailures(groups) {
		who := machineCount(group.Machines)
		if group.Reason == silentText || strings.HasPrefix(group.Reason, "not done") {
			who = strings.Join(group.Machines, ", ") // these are looked after one by one
		}
		if err := a.printf("%s: %s\n", who, group.Reason); err != nil {
			return err
		}
	}
	if err := a.printf("%d machines: %d done, %d failed, %d silent or not done\n", len(r.expected), len(r.expected)-failed-later, failed, later); err != nil {
		return err
	}
	switch {
	case failed > 0:
		return &exit{code: exitFailed}
	case later > 0:
		return &exit{code: exitLater}
	}
	return nil
}

const silentText = "silent: no answer"

// lineOf returns the lines of a machine in the report, and its exit code.
func (r *request) lineOf(name string, waited bool) ([]string, int) {
	answer, heard := r.answers[name]
	end := r.ends[name]
	switch {
	case !heard:
		return []string{silentText}, exitLater
	case answer.State == status.Busy:
		return []string{"not done: busy"}, exitLater
	case answer.State == status.Recent:
		return []string{fmt.Sprintf("ran less than 10 s ago: exit %d", answer.Exit)}, answer.Exit
	case !waited:
		return []string{status.Accepted}, 0
	case end == nil:
		return []string{"not done in time"}, exitLater
	case r.Op == status.OpPlan:
		return planLines(end.Asked), end.Asked.Exit
	case end.Asked.Exit != 0:
		return append(machineFailures(end), fmt.Sprintf("exit %d", end.Asked.Exit)), end.Asked.Exit
	}
	return []string{"done"}, 0
}

// planLines returns what each release of a machine would do.
func planLines(asked *status.Asked) []string {
	var all []string
	for name, plan := range asked.Plans {
		switch {
		case plan.Why != "":
			all = append(all, name+": "+plan.Why)
		case len(plan.Changes) == 0:
			all = append(all, fmt.Sprintf("%s@%d: nothing to do", name, plan.Version))
		}
		for _, change := range plan.Changes {
			all = append(all, cmp.Or(change, name))
		}
	}
	return all
}
