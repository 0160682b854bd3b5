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

// Act is how a walk treats a resource that it has reached: it looks, and
// returns the result, with the rest of the work where the resource has to act.
type Act func(ctx context.Context, t Task) (model.Result, Rest)

// Rest is the part of the work that changes the machine.
type Rest func(ctx context.Context, stage model.Stage) model.Result

// Task is one resource with what the walk knows when it reaches it.
type Task struct {
	Resource *model.Resource
	Ask      model.Ask
	ID       string              // of the resource
	Upstream string              // a preview's: the first resource upstream that is going to run before
	MayBy    string              // a preview's: a publisher that may change and may not
	Ignored  string              // the first resource upstream whose failure is ignored: it refreshes nobody
	Left     *model.StrayProcess // a process that an earlier run of the resource left running
	Recalls  bool                // a later run will know how this one ended
	now      func() time.Time
}

// task gathers what is known of a resource whose upstream has ended.
func (w *walk) task(n int) Task {
	r := &w.m.Resources[n]
	t := Task{Resource: r, ID: w.results[n].ID, Recalls: w.opts.RemembersState, now: w.opts.Now}
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
	first := w.upstream[n]
	if w.apart[n] {
		first = w.wide[n]
	}
	if first >= 0 {
		t.Upstream = w.results[first].ID
	}
	if first := w.ignored[n]; first >= 0 {
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
	if left, ok := w.plan.Memory.StrayOf(r); ok && w.opts.Alive != nil && w.opts.Alive(left.Process) {
		t.Left = &left
	}
	return t
}

// inherit notes what goes before n, by way of what it depends on.
func (w *walk) inherit(n int) {
	for _, e := range w.m.Resources[n].Upstream {
		o := &w.results[e.On]
		goesFirst(w.upstream, n, e.On, o.Pending)
		goesFirst(w.wide, n, e.On, o.Pending && !w.apart[e.On])
		goesFirst(w.ignored, n, e.On, o.Ignored)
	}
}

// goesFirst notes for n the first resource upstream of which something holds
// (that it is going to run before n, mostly): on, or one upstream of on.
func goesFirst(first []int, n, on int, holds bool) {
	switch {
	case first[n] >= 0:
	case holds:
		first[n] = on
	default:
		first[n] = first[on]
	}
}

// Preview says what Apply would do, and does nothing: it knows that what is
// read may be changed by what runs before.
func Preview(ctx context.Context, t Task) (model.Result, Rest) {
	o, d, err := look(ctx, &t)
	about := t.Resource.Spec.About()
	early := t.Upstream != "" && len(d.Read) > 0
	for _, doubt := range d.Obstacles {
		o.Warn(doubt)
	}
	switch {
	case o.Status == model.Interrupted:
		return o, nil
	case err != nil && t.Upstream != "":
		o.Status, o.Reason = model.MayRun, fmt.Sprintf("%s, before %s runs", err, t.Upstream)
	case err != nil:
		o = failed(t.Resource, o, err)
		return o, nil
	case len(d.Unread) > 0:
		o.Status, o.Reason = model.MayRun, strings.Join(d.Unread, " and ")+" not read"
	case early:
		o.Status, o.Reason = model.MayRun, fmt.Sprintf("%s was read before %s runs", d.Read[len(d.Read)-1], t.Upstream)
	case d.Act && d.MayChange:
		o.Status = model.MayRun
	case d.Act && t.Ask.Refresh == model.Yes:
		o.Status = model.WouldRefresh
	case d.Act:
		o.Status = model.WouldRun
	case t.MayBy != "":
		o.Status, o.Reason = model.MayRun, t.MayBy+" may change or not"
	default:
		o.Status = model.Stable
		return o, nil
	}
	if len(o.RefreshedBy) == 0 && t.MayBy != "" && o.Status == model.MayRun {
		o.RefreshedBy = []string{t.MayBy}
	}
	o.Pending = !about.Check
	switch {
	case about.Check:
	case about.MayChange || o.Status == model.MayRun:
		o.Refreshes = model.Maybe
	default:
		o.Refreshes = model.Yes
	}
	return o, nil
}

// Apply looks and, where the resource has to act, returns what acts.
func Apply(ctx context.Context, t Task) (model.Result, Rest) {
	o, d, err := look(ctx, &t)
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
	return o, acting(t, o)
}

// acting returns what acts. It is apart from Apply so that only who acts pays
// for keeping what is known until then.
func acting(t Task, o model.Result) Rest {
	return func(ctx context.Context, stage model.Stage) model.Result {
		return act(ctx, &t, stage, o)
	}
}

// look asks the resource, the same way for a preview and for an apply.
func look(ctx context.Context, t *Task) (model.Result, model.Decision, error) {
	o := model.Result{ID: t.ID}
	d, err := t.Resource.Spec.Check(ctx, t.Ask)
	o.Reason, o.Missing, o.Diff = d.Reason, d.Missing, d.Diff
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
	case err == nil && t.Left != nil: // also where a guard says no by now: it is not done changing
		err = &stillRuns{*t.Left}
	case err == nil && d.Act && t.Ask.Refresh == model.Yes:
		o.RefreshedBy = by(t.Ask)
	}
	return o, d, err
}

// by lists who refreshes, publishers of this run before debts, each once.
func by(ask model.Ask) []string {
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

// act runs the resource, as often as its tries allow.
func act(ctx context.Context, t *Task, stage model.Stage, o model.Result) model.Result {
	r, start := t.Resource, t.now()
	var effect model.Effect
	var err error
	o.Acted = true
	stage.Refreshed = t.Ask.Refresh == model.Yes
	for {
		o.Attempts++
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
	return successful(o, &effect)
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
	if !o.Began { // things are as they were left before
		o.LastState = t.Ask.LastState
	}
	if effect.Appeared != "" && t.Recalls {
		o.Warn(fmt.Sprintf("%s appeared although the command failed: it runs again; `settle forget %s` keeps it as it is", effect.Appeared, o.ID))
	}
	return o
}

// stillRuns is the error of a resource whose command, of a killed run, still runs.
type stillRuns struct{ model.StrayProcess }

func (s *stillRuns) Error() string {
	return fmt.Sprintf("pid %d of run %s still runs it", s.PID, s.Run)
}

// failed makes an outcome a failure. That its command still runs is none to be
// ignored: what it changes is yet to come, and its subscribers have to wait.
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
