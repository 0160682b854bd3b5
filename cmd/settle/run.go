package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/publish"
	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/cmd/internal/source"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
	"github.com/settle-cm/settle/providers/journal"
	"github.com/settle-cm/settle/providers/proc"
	"github.com/settle-cm/settle/resources"
)

// job holds the flags of apply or plan, in one form for both.
type job struct {
	reportFlags
	runFlags
	selectFlags
	valueFlags
	mode       string // apply or plan
	act        engine.Act
	skipGuards bool
	askHelpers bool
	keep       int
	labels     map[string]string
	out        string           // where the plan is saved, "" for nowhere
	plan       string           // the file of the saved plan that apply is held to
	saved      *model.SavedPlan // and what it says
}

// walk loads every manifest before it runs any, so that nothing runs when one of them
// has a problem.
func (a *app) walk(j *job, paths []string) []exit.Ending {
	ctx, stop := a.withSignals(context.Background(), time.Duration(j.Grace))
	defer stop()
	in := a.inputs(ctx, j.valueFlags, paths...)
	var all []*loaded
	for _, path := range defaultToSettleYAML(paths) {
		all = append(all, a.load(ctx, path, order{mode: j.mode, strict: j.Strict, world: a.world(j), inputs: in}))
	}
	j.Only = selectResources(all, j.selection()).Only // a saved plan names resources with their types
	for _, l := range all {
		if l.refused == nil {
			a.checkPermission(l, j)
			j.checkSavable(l)
		}
	}
	return a.runManifests(ctx, j, all)
}

// runManifests runs the manifests in turn. When one of them is refused, none is run,
// and the report of each says why.
func (a *app) runManifests(ctx context.Context, j *job, all []*loaded) []exit.Ending {
	show := a.newPublisher(j.mode, j.reportFlags, len(all) > 1)
	for _, l := range all {
		if l.mask != nil {
			show.HideSecrets(l.secrets)
		}
	}
	addProcessor(j, all)
	announce := func(by os.Signal) func() { return show.Interrupted(by, time.Duration(j.Grace)) }
	a.onInterrupt.Store(&announce)
	defer a.onInterrupt.Store(nil)
	blocker := findRefused(all)
	endings := make([]exit.Ending, len(all))
	for i, l := range all {
		l.report.Labels = j.labels
		if blocker != nil && l.refused == nil {
			l.refuse(exit.Refuse(blocker.code(), "%s: not started because of %s", l.report.Manifest, blocker.report.Manifest))
		}
		show.Begin(l.published())
		endings[i] = a.runManifest(ctx, j, l, show)
		show.End()
		if j.FailFast && blocker == nil && (l.report.ExitCode == exit.Failed || l.refused != nil) {
			blocker = l
		}
	}
	if !a.closeReports(show, all, endings) && j.mode == "apply" {
		for i, l := range all {
			if l.refused == nil {
				a.recordLateError(ctx, j, l, endings[i])
			}
		}
	}
	return endings
}

// findRefused returns the first manifest that is refused, or nil.
func findRefused(all []*loaded) *loaded {
	for _, l := range all {
		if l.refused != nil {
			return l
		}
	}
	return nil
}

func defaultToSettleYAML(paths []string) []string {
	if len(paths) == 0 {
		return []string{source.DefaultManifest}
	}
	return paths
}

func (a *app) world(j *job) resources.World {
	w := resources.World{Environ: os.Environ(), CleanEnv: j.CleanEnv, Grace: time.Duration(j.Grace)}
	if !j.NoState {
		w.StateDir, _ = journal.Dir(j.StateDir, os.Getenv, os.Geteuid()) // remember complains of it
	}
	return w
}

// checkPermission refuses a manifest that this user, or this system, cannot run. It is
// checked before anything runs.
func (a *app) checkPermission(l *loaded, j *job) {
	if runtime.GOOS == "windows" {
		l.refuse(exit.Refuse(exit.Usage, "%s: settle %s does not work on Windows; validate, graph, list, schema and explain do", l.report.Manifest, j.mode))
		return
	}
	if os.Geteuid() == 0 {
		return
	}
	for i := range l.manifest.Resources {
		r := &l.manifest.Resources[i]
		user := r.Spec.About().User
		switch {
		case user == "", r.Off != "":
		case j.mode == "plan":
			l.report.Warnings = append(l.report.Warnings, model.Problem{
				Pos: r.Pos, ID: r.ID(), Property: "user", Message: fmt.Sprintf("apply has to be root to run it as %s", user),
			})
		default:
			l.refuse(exit.Refuse(exit.Denied, "%s: %s runs as %s: only root may do that, so run settle as root", r.Pos, r.ID(), user))
			return
		}
	}
}

// runManifest runs one manifest, from the state that earlier runs left to the
// state that it leaves, and returns how it ended. The report is complete then.
func (a *app) runManifest(ctx context.Context, j *job, l *loaded, show *publish.Publisher) (e exit.Ending) {
	e = exit.Ending{Refused: l.refused, Detailed: j.DetailedExitcode, Report: &l.report, Began: time.Now()}
	if e.Refused != nil {
		e.Finish()
		return e
	}
	ctx, stop := a.withTimeLimit(ctx, time.Duration(j.RunTimeout), time.Duration(j.Grace))
	defer stop()
	known, err := a.openState(ctx, j, l)
	switch {
	case err != nil:
		_ = errors.As(err, &e.Refused) // remember returns no other error
		if ctx.Err() != nil {
			e.Cause = context.Cause(ctx)
		}
	default:
		if e.Refused = j.checkSavedPlan(l, known); e.Refused != nil {
			e.Unwritten = known.abandon()
		}
	}
	if e.Refused != nil {
		l.refuse(e.Refused)
		e.Finish()
		return e
	}
	a.runResources(ctx, j, l, known, show, &e)
	e.Finish()
	known.close(&e)
	return e
}

// runResources walks the resources of a manifest and records the results in the
// report, and in e how the walk ended.
func (a *app) runResources(ctx context.Context, j *job, l *loaded, known *memory, show *publish.Publisher, e *exit.Ending) {
	a.printMessage(l.manifest.PreMessage)
	results, err := engine.Run(ctx, &model.Plan{Manifest: l.manifest, Memory: known.Memory, Run: l.report.Run}, engine.Options{
		Act: j.act, Jobs: parallelism(j, l.manifest), FailFast: (j.FailFast || l.manifest.FailFast) && j.mode == "apply",
		SkipGuards: j.skipGuards, Probe: j.askHelpers, Journal: known, RemembersState: known.remembers(),
		Watch: known.recordProgress(l.manifest, show.Watch()), FindStray: proc.FindStray, Now: time.Now,
	})
	a.printMessage(l.manifest.PostMessage)
	l.report.Resources = show.ReportResources(results)
	l.report.Times = show.Times()
	l.report.Summary = model.Summarize(j.mode == "plan", l.report.Resources, known.owed())
	if ctx.Err() != nil && stoppedShort(results) {
		e.Cause = context.Cause(ctx)
	}
	e.Denied = allDenied(results)
	if j.mode == "plan" && e.Denied {
		e.Refused = refuseForbiddenGuards(results, l.report.Resources)
	}
	if refused, ok := asStalePlan(err); ok {
		e.Refused, err = refused, nil
	} else if err == nil && e.Cause == nil && e.Refused == nil { // only a complete plan is saved
		err = j.save(l, known, results)
	}
	if j.mode == "apply" {
		err = errors.Join(err, l.count(results))
	}
	e.Unwritten = err
}

// stoppedShort reports whether a resource was not finished. A signal that arrives after
// the last resource stops nothing.
func stoppedShort(results []model.Result) bool {
	for i := range results {
		if s := results[i].Status; s == model.Interrupted || s == model.NotReached {
			return true
		}
	}
	return false
}

func parallelism(j *job, m *model.Manifest) int {
	if j.Parallel != nil {
		return *j.Parallel
	}
	return m.Parallel
}

// addProcessor gives the Go scheduler one processor more than there are jobs that
// wait for commands. Without it the scheduler's monitor wakes every 20 µs to take
// a processor from a job that waits: with two jobs on two cores that was a third
// of all context switches and a twentieth of the CPU time. GOMAXPROCS wins.
func addProcessor(j *job, all []*loaded) {
	most := 0
	for _, l := range all {
		if l.manifest != nil {
			most = max(most, parallelism(j, l.manifest))
		}
	}
	if n := runtime.GOMAXPROCS(0); most >= n && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(n + 1)
	}
}

// allDenied reports whether a resource failed, and every failed one needs rights that
// settle does not have. Ignored failures do not count.
func allDenied(results []model.Result) bool {
	denied := false
	for i := range results {
		switch r := &results[i]; {
		case r.Status == model.Interrupted, r.Status == model.Failed && !r.Ignored && !r.NotPermitted:
			return false
		case r.Status == model.Failed && !r.Ignored:
			denied = true
		}
	}
	return denied
}

// refuseForbiddenGuards refuses a plan with guards that this user may not run. It
// returns nil without such a guard.
func refuseForbiddenGuards(results []model.Result, reports []model.ResourceReport) *exit.Refusal {
	for i := range results {
		if r := &reports[i]; results[i].NotPermitted {
			return exit.Refuse(exit.Denied, "%s: %s: %s", r.Pos, r.ID, r.Reason)
		}
	}
	return nil
}

// printMessage prints a message of a CCM manifest.
func (a *app) printMessage(message string) {
	if message != "" {
		a.err.Info(render.Escape(message))
	}
}

// failOnWarnings makes a warning of the run a failure of its resource: dependents are
// skipped, and no subscriber is refreshed.
func failOnWarnings(act engine.Act) engine.Act {
	return func(ctx context.Context, t engine.Task) (model.Result, engine.Rest) {
		o, rest := act(ctx, t)
		if rest == nil {
			return failForWarnings(t.Resource, o), nil
		}
		return o, func(ctx context.Context, stage model.Stage) model.Result {
			return failForWarnings(t.Resource, rest(ctx, stage))
		}
	}
}

func failForWarnings(r *model.Resource, o model.Result) model.Result {
	if len(o.Warnings) > 0 && (o.Status == model.Stable || o.Status == model.Changed) {
		o.Status, o.Ignored, o.Refreshes = model.Failed, r.IgnoreFailure, model.No
		o.Reason = o.Warnings[0] + " (--strict)"
	}
	return o
}
