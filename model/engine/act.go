package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
)

// Act is how a walk treats a resource that it has reached: it checks it, and
// returns the result, with the rest of the work where the resource has to act.
type Act func(ctx context.Context, t Task) (model.Result, Rest)

// Rest is the part of the work that changes the machine.
type Rest func(ctx context.Context, stage model.Stage) model.Result

// Task is one resource with what the walk knows when it reaches it.
type Task struct {
	Resource *model.Resource
	Ask      model.Ask
	ID       string              // of the resource
	Upstream string              // a preview's: the first resource upstream that is going to run
	MayBy    string              // a preview's: the first publisher that may change
	Ignored  string              // the first resource upstream whose failure is ignored, so that it refreshes no subscriber
	Stray    *model.StrayProcess // a process of an earlier run that still runs
	Recorded bool                // a later run will know how this one ended
	now      func() time.Time
}

// task returns the task for a resource whose upstream has ended.
func (w *walk) task(n int) Task {
	r := &w.m.Resources[n]
	t := Task{Resource: r, ID: w.results[n].ID, Recorded: w.opts.RemembersState, now: w.opts.Now}
	for _, e := range r.Upstream {
		o := &w.results[e.On]
		switch {
		case !e.Refresh:
		case o.Refreshes == model.Yes:
			t.Ask.RefreshedBy = append(t.Ask.RefreshedBy, o.ID)
		case o.Refreshes == model.Maybe && t.MayBy == "":
			t.MayBy = o.ID
		}
	}
	w.inherit(n)
	first := w.nodes[n].pending
	if w.nodes[n].independent {
		first = w.nodes[n].pendingAny
	}
	if first >= 0 {
		t.Upstream = w.results[first].ID
	}
	if first := w.nodes[n].ignored; first >= 0 {
		t.Ignored = w.results[first].ID
	}
	t.Ask.ID = t.ID
	t.Ask.Owed = w.plan.Memory.OwedTo(r)
	t.Ask.Unfinished = w.plan.Memory.UnfinishedIn(r)
	t.Ask.LastState = w.plan.Memory.LastStateOf(r)
	t.Ask.SkipGuards, t.Ask.Probe = w.opts.SkipGuards, w.opts.Probe
	t.Ask.Untouched = !w.touched.Load()
	switch {
	case len(t.Ask.RefreshedBy) > 0 || len(t.Ask.Owed) > 0:
		t.Ask.Refresh = model.Yes
	case t.MayBy != "":
		t.Ask.Refresh = model.Maybe
	}
	t.Stray = w.findStray(r, t.Ask.Owed)
	return t
}

// findStray returns a live process of the resource, or of a publisher that owes
// it a refresh. Such a publisher may not be part of this run: not selected, off,
// or gone. What its process changes is yet to come, so the refresh has to wait.
func (w *walk) findStray(r *model.Resource, owed []model.OwedRefresh) *model.StrayProcess {
	if w.opts.FindStray == nil || len(w.plan.Memory.Strays) == 0 {
		return nil
	}
	own, ok := w.plan.Memory.StrayOf(r)
	for i := -1; i < len(owed); i++ {
		if i >= 0 {
			own, ok = w.plan.Memory.Strays[owed[i].By]
		}
		if !ok {
			continue
		}
		if p, runs := w.opts.FindStray(own); runs {
			own.Process = p
			return &own
		}
	}
	return nil
}

// inherit finds for n the first resource upstream that is going to run before it,
// and the first whose failure is ignored. Neighbours have their own answers already.
func (w *walk) inherit(n int) {
	to := &w.nodes[n]
	for _, e := range w.m.Resources[n].Upstream {
		on, o := &w.nodes[e.On], &w.results[e.On]
		setFirst(&to.pending, e.On, on.pending, o.Pending)
		setFirst(&to.pendingAny, e.On, on.pendingAny, o.Pending && !on.independent)
		setFirst(&to.ignored, e.On, on.ignored, o.Ignored)
	}
}

// setFirst sets first, unless it is set already: to the neighbour on where the
// claim holds for it, else to the one that on has found upstream.
func setFirst(first *int, on, further int, holds bool) {
	switch {
	case *first >= 0:
	case holds:
		*first = on
	default:
		*first = further
	}
}

// Preview decides what Apply would do, and changes nothing. It takes into account
// that a resource which runs before may change the answers of this check.
func Preview(ctx context.Context, t Task) (model.Result, Rest) {
	o, d, err := check(ctx, &t)
	for _, obstacle := range d.Obstacles {
		o.Warn(obstacle)
	}
	switch {
	case o.Status == model.Interrupted:
		return o, nil
	case err != nil && t.Upstream == "":
		return failed(t.Resource, o, err), nil
	}
	o.Status, o.Reason = foresee(&t, &d, o.Reason, err)
	if o.Status == model.Stable {
		return o, nil
	}
	if len(o.RefreshedBy) == 0 && t.MayBy != "" && o.Status == model.MayRun {
		o.RefreshedBy = []string{t.MayBy}
	}
	about := t.Resource.Spec.About()
	o.Pending = !about.Check
	o.Refreshes = foreseeRefresh(about, o.Status)
	return o, nil
}

// foresee returns the status of a resource in a preview, with its reason. An error
// of the check may be gone once the resource upstream has run.
func foresee(t *Task, d *model.Decision, reason string, err error) (model.Status, string) {
	switch {
	case err != nil:
		return model.MayRun, fmt.Sprintf("%s, before %s runs", err, t.Upstream)
	case len(d.Unread) > 0:
		return model.MayRun, strings.Join(d.Unread, " and ") + " not read"
	case t.Upstream != "" && len(d.Read) > 0:
		return model.MayRun, fmt.Sprintf("%s was read before %s runs", d.Read[len(d.Read)-1], t.Upstream)
	case d.Act && d.MayChange:
		return model.MayRun, reason
	case d.Act && t.Ask.Refresh == model.Yes:
		return model.WouldRefresh, reason
	case d.Act:
		return model.WouldRun, reason
	case t.MayBy != "":
		return model.MayRun, t.MayBy + " may change or not"
	}
	return model.Stable, reason
}

// foreseeRefresh returns whether a resource that is going to act refreshes its
// subscribers.
func foreseeRefresh(about model.About, status model.Status) model.Certainty {
	switch {
	case about.Check:
		return model.No
	case about.MayChange || status == model.MayRun:
		return model.Maybe
	}
	return model.Yes
}

// Apply checks the resource and, where it has to act, returns the work that acts.
func Apply(ctx context.Context, t Task) (model.Result, Rest) {
	o, d, err := check(ctx, &t)
	switch {
	case o.Status == model.Interrupted:
		return o, nil
	case err != nil:
		return failed(t.Resource, o, err), nil
	case !d.Act:
		o.Status = model.Stable
		o.Settles = t.Ask.Refresh == model.Yes
		return o, nil
	}
	return o, actLater(t, o)
}

// actLater returns the work that acts. It is not part of Apply, so that only a
// resource that acts pays for the values that its closure keeps.
func actLater(t Task, o model.Result) Rest {
	return func(ctx context.Context, stage model.Stage) model.Result {
		return act(ctx, &t, stage, o)
	}
}

// check asks the resource, in the same way for a preview and for an apply.
func check(ctx context.Context, t *Task) (model.Result, model.Decision, error) {
	o := model.Result{ID: t.ID}
	d, err := t.Resource.Spec.Check(ctx, t.Ask)
	o.Action, o.Reason, o.Missing, o.Diff = d.Action, d.Reason, d.Missing, d.Diff
	if d.Diff != "" {
		o.DiffSum = fmt.Sprintf("%x", sha256.Sum256([]byte(d.Diff)))
	}
	o.Guards = append(o.Guards, d.Guards...)
	for _, note := range d.Warnings {
		o.Warn(note)
	}
	switch {
	case ctx.Err() != nil:
		o.Status, o.Reason = model.Interrupted, context.Cause(ctx).Error()
	case err == nil && t.Stray != nil: // also when a guard says no by now: the process may still change something
		err = &stillRuns{*t.Stray, t.Stray.ID != t.ID && t.Stray.ID != t.Resource.AliasID()}
	case err == nil && d.Act && t.Ask.Refresh == model.Yes:
		o.RefreshedBy = refreshers(t.Ask)
	}
	return o, d, err
}

// refreshers returns the ids of the publishers that refresh a resource, those of
// this run before those of earlier runs, each once.
func refreshers(ask model.Ask) []string {
	ids := append([]string{}, ask.RefreshedBy...)
	seen := map[string]bool{"": true}
	for _, id := range ids {
		seen[id] = true
	}
	for _, debt := range ask.Owed {
		if !seen[debt.By] {
			seen[debt.By] = true
			ids = append(ids, debt.By)
		}
	}
	return ids
}

// act runs the resource, with as many attempts as its tries allow.
func act(ctx context.Context, t *Task, stage model.Stage, o model.Result) model.Result {
	r, start := t.Resource, t.now()
	var effect model.Effect
	var err error
	o.Acted = true
	stage.Refreshed = t.Ask.Refresh == model.Yes
	tag, earlier := stage.ProcessTag, false
	for {
		o.Attempts++
		earlier = o.Began
		stage.ProcessTag = model.AttemptTag(tag, o.Attempts)
		effect, err = r.Spec.Run(ctx, stage)
		o.Began = o.Began || effect.Began
		o.Measures.Add(effect.Measures)
		if err == nil || !effect.Began && !effect.Again || o.Attempts >= r.Tries || !pause(ctx, r.TrySleep) {
			break
		}
	}
	o.Duration = t.now().Sub(start)
	o.Exit, o.Signal = effect.Exit, effect.Signal
	o.Output, o.Truncated = effect.Output, effect.Truncated
	if effect.Diff != "" {
		o.Diff = effect.Diff
	}
	for _, warning := range effect.Warnings {
		o.Warn(warning)
	}
	if err != nil {
		return unsuccessful(ctx, t, o, &effect, err)
	}
	return keepEarlier(successful(o, &effect), r, earlier)
}

// keepEarlier makes an attempt that began and failed count in the result of the
// last attempt: only a resource that never changes anything stays stable.
func keepEarlier(o model.Result, r *model.Resource, earlier bool) model.Result {
	if !earlier || r.Spec.About().Check {
		return o
	}
	if o.Status == model.Stable {
		o.Status, o.Refreshes, o.Reason = model.Changed, model.Yes, "an earlier attempt may have changed something"
	}
	o.Owes = o.Status == model.Deferred || o.Status == model.Shutdown
	return o
}

func successful(o model.Result, effect *model.Effect) model.Result {
	switch {
	case effect.Ended != model.NotReached:
		o.Status, o.Reason, o.LastState = effect.Ended, effect.Reason, effect.LastState
	case effect.Unchanged:
		o.Status, o.LastState = model.Stable, effect.LastState
	default:
		o.Status, o.Refreshes, o.LastState = model.Changed, model.Yes, effect.LastState
	}
	if effect.Reason != "" {
		o.Reason = effect.Reason
	}
	return o
}

func unsuccessful(ctx context.Context, t *Task, o model.Result, effect *model.Effect, err error) model.Result {
	if ctx.Err() != nil {
		o.Status, o.Reason = model.Interrupted, context.Cause(ctx).Error()
	} else {
		o = failed(t.Resource, o, err)
	}
	if !o.Began { // nothing has changed since the last state
		o.LastState = t.Ask.LastState
	}
	if effect.Appeared != "" && t.Recorded {
		o.Warn(fmt.Sprintf("%s appeared although the command failed: it runs again; `settle forget %s` keeps it as it is", effect.Appeared, o.ID))
	}
	return o
}

// stillRuns is the error of a resource whose process from a killed run still runs, or that
// of a publisher which owes it a refresh.
type stillRuns struct {
	model.StrayProcess
	publisher bool
}

func (s *stillRuns) Error() string {
	if s.publisher {
		return fmt.Sprintf("pid %d of run %s still runs %s, which owes it a refresh", s.PID, s.Run, s.ID)
	}
	return fmt.Sprintf("pid %d of run %s still runs it", s.PID, s.Run)
}

// failed returns the result as a failure. ignore_failure does not apply to a process
// that still runs: it may still change something, and subscribers have to wait for it.
func failed(r *model.Resource, o model.Result, err error) model.Result {
	var left *stillRuns
	o.Status, o.Reason = model.Failed, err.Error()
	o.Ignored = r.IgnoreFailure && !errors.As(err, &left)
	o.NotPermitted = errors.Is(err, model.ErrNotPermitted)
	return o
}

// pause waits between attempts; false when ctx ended it.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
