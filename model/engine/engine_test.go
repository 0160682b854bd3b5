package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
)

// tape is a journal that keeps what it is told, and notes what was durable when.
type tape struct {
	mu      sync.Mutex
	facts   []model.Record
	durable int // how many of them
	fail    int // the Append that fails, counted from 1; 0: none
	calls   int
}

func (j *tape) Append(facts []model.Record, durable bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.calls++; j.calls == j.fail {
		return errors.New("cannot save state: no space left on device")
	}
	j.facts = append(j.facts, facts...)
	if durable {
		j.durable = len(j.facts)
	}
	return nil
}

func apply(t *testing.T, m *model.Manifest, memory model.Memory, opts engine.Options) ([]model.Result, []model.Record) {
	t.Helper()
	j := &tape{}
	opts.Act, opts.Journal, opts.RemembersState, opts.Now = engine.Apply, j, true, clock
	outcomes, err := engine.Run(t.Context(), &model.Plan{Manifest: m, Memory: memory, Run: "r1"}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return outcomes, j.facts
}

func preview(t *testing.T, m *model.Manifest, memory model.Memory, opts engine.Options) []model.Result {
	t.Helper()
	opts.Act, opts.Journal, opts.Now = engine.Preview, engine.NoJournal{}, clock
	outcomes, err := engine.Run(t.Context(), &model.Plan{Manifest: m, Memory: memory, Run: "r1"}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return outcomes
}

// memories makes debts and marks for a manifest.
func memories(rng *rand.Rand, m *model.Manifest) model.Memory {
	var facts []model.Record
	for i := range m.Resources {
		r := &m.Resources[i]
		if r.Subscribes() && rng.IntN(4) == 0 {
			facts = append(facts, model.Record{Kind: model.RecordOwed, ID: r.ID(), By: "exec#gone", Run: "r0"})
		}
		if r.Spec.About().Creates && rng.IntN(6) == 0 {
			facts = append(facts, model.Record{Kind: model.RecordUnfinished, ID: r.ID(), Run: "r0"})
		}
	}
	return model.Replay(facts)
}

// FuzzTruthOfAPlan holds Preview and Apply to what a plan can know: what apply
// runs is a subset of what the plan named, equal to it when every
// command succeeds and nothing may run; the outcomes do not depend on how many
// run at once, nor on whether the plan was saved and is held to.
func FuzzTruthOfAPlan(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed, uint8(3+seed%20), seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, size uint8, failures bool) {
		rng := rand.New(rand.NewPCG(seed, 1))
		w := &world{cells: map[string]int{}}
		m := random(rng, 1+int(size)%40, &w, failures)
		for i := range m.Resources {
			w.cells[m.Resources[i].ID()] = rng.IntN(2)
		}
		memory := memories(rng, m)
		start := w
		w = start.copy()
		plan := preview(t, m, memory, engine.Options{Jobs: 1 + rng.IntN(8)})
		if len(w.ran) > 0 || !cmp.Equal(w.cells, start.cells) {
			t.Fatalf("the preview ran %v", w.ran)
		}
		w = start.copy()
		one, _ := apply(t, m, memory, engine.Options{Jobs: 1})
		ran := w.ran
		w = start.copy()
		eight, _ := apply(t, m, memory, engine.Options{Jobs: 8})
		if diff := cmp.Diff(one, eight); diff != "" {
			t.Errorf("outcomes depend on the number of jobs:\n%s", diff)
		}
		checkTruth(t, plan, one, ran)
		checkOff(t, m, plan, ran)
		checkOff(t, m, one, ran)
		checkOrder(t, m, ran)
		w = start.copy()
		checkHeld(t, m, memory, plan, one)
	})
}

// checkHeld holds an apply to the plan that was just made: on a machine that
// nobody else touches it does what an apply does, whatever fails on the way.
func checkHeld(t *testing.T, m *model.Manifest, memory model.Memory, plan, want []model.Result) {
	t.Helper()
	saved := model.SavePlan(m, "", model.Selection{}, plan, plainSum)
	held, err := engine.Run(t.Context(), &model.Plan{Manifest: m, Memory: memory, Run: "r1"},
		engine.Options{Act: engine.Hold(saved.DecisionsByID(), plainSum), Journal: &tape{}, RemembersState: true, Now: clock})
	if err != nil {
		t.Errorf("an apply strays from its own plan: %v", err)
	}
	if diff := cmp.Diff(want, held); diff != "" {
		t.Errorf("an apply that is held to its plan does something else:\n%s", diff)
	}
}

func checkTruth(t *testing.T, plan, outcomes []model.Result, ran []string) {
	t.Helper()
	var would, may []string
	for _, o := range plan {
		switch o.Status {
		case model.WouldRun, model.WouldRefresh:
			would = append(would, o.ID)
		case model.MayRun:
			may = append(may, o.ID)
		}
	}
	ok := true
	for _, o := range outcomes {
		ok = ok && o.Status != model.Failed && o.Status != model.Skipped
	}
	for _, id := range ran {
		if !slices.Contains(would, id) && !slices.Contains(may, id) {
			t.Errorf("%s ran; the plan had it not", id)
		}
	}
	if ok && len(may) == 0 {
		ran = slices.Sorted(slices.Values(ran))
		slices.Sort(would)
		if !slices.Equal(ran, would) {
			t.Errorf("ran %v, planned %v", ran, would)
		}
	}
}

// checkOff makes sure that of what is off nothing is looked at, that it runs
// nothing and refreshes nobody; and that only a failed requirement is said first.
func checkOff(t *testing.T, m *model.Manifest, outcomes []model.Result, ran []string) {
	t.Helper()
	for i := range m.Resources {
		o := &outcomes[i]
		for _, e := range m.Resources[i].Upstream {
			if id := m.Resources[e.On].ID(); m.Resources[e.On].Off != "" && slices.Contains(o.RefreshedBy, id) {
				t.Errorf("%s is refreshed by %s, which is off", o.ID, id)
			}
		}
		if m.Resources[i].Off == "" || o.Status == model.Skipped {
			continue
		}
		if o.Status != model.Stable || o.Reason != m.Resources[i].Off || o.Acted || o.Settles || len(o.Guards) > 0 || slices.Contains(ran, o.ID) {
			t.Errorf("%s is off, and %+v", o.ID, o)
		}
	}
}

func checkOrder(t *testing.T, m *model.Manifest, ran []string) {
	t.Helper()
	at := map[string]int{}
	for i, id := range ran {
		if at[id] != 0 {
			t.Errorf("%s ran twice", id)
		}
		at[id] = i + 1
	}
	for i := range m.Resources {
		for _, e := range m.Resources[i].Upstream {
			a, b := at[m.Resources[e.On].ID()], at[m.Resources[i].ID()]
			if a != 0 && b != 0 && a > b {
				t.Errorf("%s ran before %s", m.Resources[i].ID(), m.Resources[e.On].ID())
			}
		}
	}
}

// FuzzNoRefreshIsLost applies again and again, all of a manifest or a part, with
// failures that go away, and demands that every change is followed by a success
// of each subscriber.
func FuzzNoRefreshIsLost(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed, uint8(3+seed%15))
	}
	f.Fuzz(func(t *testing.T, seed uint64, size uint8) {
		rng := rand.New(rand.NewPCG(seed, 2))
		w := &world{cells: map[string]int{}}
		m := random(rng, 1+int(size)%30, &w, false)
		for i := range m.Resources {
			m.Resources[i].IgnoreFailure = false
			m.Resources[i].Spec.(*spec).guardErr = ""
			m.Resources[i].Spec.(*spec).cond.OnRefresh = model.RefreshRuns
			m.Resources[i].OnRefresh = model.RefreshRuns
			m.Resources[i].Tags = []string{[]string{"a", "b", "c"}[rng.IntN(3)]}
		}
		var facts []model.Record
		owed := map[string]bool{} // ours, counted without the journal
		for run := range 6 {
			for i := range m.Resources {
				m.Resources[i].Spec.(*spec).fails = run < 4 && rng.IntN(4) == 0
				m.Resources[i].Off = ""
				if run < 4 && rng.IntN(5) == 0 { // for a machine that it is for now and then
					m.Resources[i].Off = "skipped (when): env.NOW"
				}
			}
			memory := model.Replay(facts)
			part := m
			if run < 4 {
				part = selection(rng, m).Select(m)
			}
			outcomes, more := apply(t, part, memory, engine.Options{Jobs: 1 + rng.IntN(4), FailFast: rng.IntN(3) == 0})
			facts = append(facts, more...)
			for _, i := range order(part) {
				o := &outcomes[i]
				if o.Acted && (o.Status == model.Changed || o.Status == model.Stable) {
					delete(owed, o.ID)
				}
				if o.Acted && (o.Status == model.Changed || o.Status == model.Failed) {
					for _, id := range part.Resources[i].Subscribers {
						owed[id] = true
					}
				}
			}
			got := map[string]bool{}
			after := model.Replay(facts)
			for _, d := range after.Owed {
				got[d.ID] = true
			}
			if diff := cmp.Diff(owed, got); diff != "" {
				t.Fatalf("run %d: owed by our count (-) and by the journal (+):\n%s", run, diff)
			}
		}
		if len(owed) > 0 {
			t.Errorf("still owed after runs without failures: %v", owed)
		}
	})
}

// selection selects all of a manifest, or a part in one of the ways there are.
func selection(rng *rand.Rand, m *model.Manifest) model.Selection {
	return []model.Selection{
		{}, {Only: []string{m.Resources[rng.IntN(len(m.Resources))].ID()}}, {Tags: []string{"a"}}, {SkipTags: []string{"b"}}, {Tags: []string{"a"}, SkipTags: []string{"c"}},
	}[rng.IntN(5)]
}

// order is the manifest's own: random makes edges point backwards only.
func order(m *model.Manifest) []int { return m.Order }

func chain(specs ...*spec) (*model.Manifest, **world) {
	w := &world{cells: map[string]int{}}
	m := &model.Manifest{}
	for i, s := range specs {
		s.w, s.id = &w, fmt.Sprintf("exec#%d", i)
		r := model.Resource{Ref: model.Ref{Type: "exec", Name: fmt.Sprint(i)}, Tries: 1, Spec: s, OnRefresh: s.cond.OnRefresh}
		if i > 0 {
			r.Upstream = []model.Edge{{On: i - 1, Refresh: true}}
			m.Resources[i-1].Subscribers = []string{s.id}
		}
		m.Resources = append(m.Resources, r)
		m.Order = append(m.Order, i)
	}
	return m, &w
}

// What two resources apart read is not changed by the other; a third one in
// between may change it all.
func TestApart(t *testing.T) {
	apart := func() *spec {
		return &spec{about: model.About{Independent: true}, cond: model.Guards{Creates: []string{"x"}}}
	}
	wide := func() *spec { return &spec{cond: model.Guards{Creates: []string{"x"}}} }
	for _, tt := range []struct {
		name  string
		specs []*spec
		want  []model.Status
	}{
		{"apart after apart", []*spec{apart(), apart(), apart()}, []model.Status{model.WouldRun, model.WouldRefresh, model.WouldRefresh}},
		{"anything after apart", []*spec{apart(), wide()}, []model.Status{model.WouldRun, model.MayRun}},
		{"apart after anything", []*spec{wide(), apart()}, []model.Status{model.WouldRun, model.MayRun}},
		{"apart far below anything", []*spec{wide(), apart(), apart()}, []model.Status{model.WouldRun, model.MayRun, model.MayRun}},
	} {
		for _, s := range tt.specs {
			s.cond.OnRefresh = model.RefreshChecks // else a refresh alone decides
		}
		m, _ := chain(tt.specs...)
		var got []model.Status
		for _, o := range preview(t, m, model.Memory{}, engine.Options{}) {
			got = append(got, o.Status)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestBeginIsDurableBeforeTheProcess(t *testing.T) {
	j := &tape{}
	m, w := chain(&spec{}, &spec{}, &spec{}, &spec{about: model.About{Creates: true}, cond: model.Guards{Creates: []string{"made"}}})
	m.Resources[3].Upstream, m.Resources[2].Subscribers = nil, nil
	for i := range m.Resources {
		s := m.Resources[i].Spec.(*spec)
		m.Resources[i].Spec = &watched{s, func() {
			j.mu.Lock()
			defer j.mu.Unlock()
			last := j.facts[len(j.facts)-1]
			if last.Kind != model.RecordBegan || last.ID != s.id {
				t.Errorf("%s starts and the journal ends with %+v", s.id, last)
			}
			// the third one has no subscriber and makes nothing: its begin has nothing to lose
			if all := j.durable == len(j.facts); all != (i != 2) {
				t.Errorf("%s starts with %d of %d durable", s.id, j.durable, len(j.facts))
			}
		}}
	}
	_, err := engine.Run(t.Context(), &model.Plan{Manifest: m, Run: "r"}, engine.Options{Act: engine.Apply, Journal: j, Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	if len((*w).ran) != 4 || j.durable != len(j.facts) || len(j.facts) != 8 {
		t.Errorf("ran %v; %d of %d facts durable at the end", (*w).ran, j.durable, len(j.facts))
	}
}

// watched calls a function when its resource starts to act.
type watched struct {
	*spec
	started func()
}

func (s *watched) Run(ctx context.Context, stage model.Stage) (model.Effect, error) {
	s.started()
	return s.spec.Run(ctx, stage)
}

func TestNothingStartsWithoutItsBegin(t *testing.T) {
	// a resource's begin and its end are an append each
	for fail, want := range map[int]int{1: 0, 2: 1, 3: 1, 4: 2} {
		j := &tape{fail: fail}
		m, w := chain(&spec{}, &spec{}, &spec{})
		outcomes, err := engine.Run(t.Context(), &model.Plan{Manifest: m, Run: "r"}, engine.Options{Act: engine.Apply, Journal: j, Now: clock})
		if err == nil {
			t.Fatalf("append %d failed and the walk did not", fail)
		}
		if len((*w).ran) != want {
			t.Errorf("append %d failed, and %v ran", fail, (*w).ran)
		}
		if last := outcomes[2]; last.Status != model.NotReached || last.Reason == "" {
			t.Errorf("append %d failed: the last resource is %v (%s)", fail, last.Status, last.Reason)
		}
	}
}

func TestConvergedWritesNothing(t *testing.T) {
	m, w := chain(&spec{cond: model.Guards{RefreshOnly: true}}, &spec{cond: model.Guards{RefreshOnly: true}})
	outcomes, facts := apply(t, m, model.Memory{}, engine.Options{Jobs: 1})
	if len(facts) != 0 || len((*w).ran) != 0 || outcomes[1].Status != model.Stable {
		t.Errorf("facts %v, ran %v, %v", facts, (*w).ran, outcomes[1].Status)
	}
}

func TestStopped(t *testing.T) {
	t.Run("fail_fast", func(t *testing.T) {
		m, w := chain(&spec{fails: true}, &spec{})
		m.Resources[1].Upstream = nil
		outcomes, _ := apply(t, m, model.Memory{}, engine.Options{Jobs: 1, FailFast: true})
		if outcomes[1].Status != model.NotReached || len((*w).ran) != 1 {
			t.Errorf("after the failure: %v, ran %v", outcomes[1].Status, (*w).ran)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		m, w := chain(&spec{}, &spec{})
		s := m.Resources[0].Spec.(*spec)
		m.Resources[0].Spec = &watched{s, func() { s.fails = true; cancel(errors.New("interrupted by SIGINT")) }}
		j := &tape{}
		outcomes, err := engine.Run(ctx, &model.Plan{Manifest: m, Run: "r"}, engine.Options{Act: engine.Apply, Journal: j, Now: clock})
		if err != nil {
			t.Fatal(err)
		}
		if outcomes[0].Status != model.Interrupted || outcomes[1].Status != model.NotReached || len((*w).ran) != 1 {
			t.Errorf("%v, %v, ran %v", outcomes[0].Status, outcomes[1].Status, (*w).ran)
		}
		if outcomes[1].Reason != "interrupted by SIGINT" {
			t.Errorf("reason %q", outcomes[1].Reason)
		}
		after := model.Replay(j.facts)
		if len(after.Owed) != 1 || after.Owed[0].ID != "exec#1" {
			t.Errorf("an interrupted publisher owes %+v", after.Owed)
		}
	})
}

func TestSkipNamesTheRoot(t *testing.T) {
	m, _ := chain(&spec{fails: true}, &spec{}, &spec{})
	outcomes, _ := apply(t, m, model.Memory{}, engine.Options{Jobs: 1})
	for _, o := range outcomes[1:] {
		if o.Status != model.Skipped || o.RootCause != "exec#0" || o.Reason != "exec#0 failed" {
			t.Errorf("%s: %v, root %q, reason %q", o.ID, o.Status, o.RootCause, o.Reason)
		}
	}
	m, w := chain(&spec{fails: true}, &spec{})
	m.Resources[0].IgnoreFailure = true
	outcomes, facts := apply(t, m, model.Memory{}, engine.Options{Jobs: 1})
	if !outcomes[0].Ignored || len((*w).ran) != 2 || len(outcomes[1].RefreshedBy) != 0 {
		t.Errorf("ignored: %+v, ran %v", outcomes[0], (*w).ran)
	}
	if after := model.Replay(facts); len(after.Owed) != 0 {
		t.Errorf("an ignored failure owes %v", after.Owed)
	}
}

func TestDebtOfOneWithoutEdgesIsPaidOnce(t *testing.T) {
	m, w := chain(&spec{cond: model.Guards{RefreshOnly: true}}) // it no longer subscribes to what owes it
	facts := []model.Record{{Kind: model.RecordOwed, ID: "exec#0", By: "exec#gone", Run: "r0"}}
	for range 2 {
		_, more := apply(t, m, model.Replay(facts), engine.Options{})
		facts = append(facts, more...)
	}
	if len((*w).ran) != 1 {
		t.Errorf("ran %v", (*w).ran)
	}
}

// TestABugReachesTheCaller makes sure that a panic of a worker can be answered
// where one of Run's own goroutine can.
func TestABugReachesTheCaller(t *testing.T) {
	for _, jobs := range []int{1, 4} {
		m, _ := chain(&spec{}, &spec{})
		m.Resources[1].Spec = &watched{m.Resources[1].Spec.(*spec), func() { panic("a bug") }}
		bug := func() (bug any) {
			defer func() { bug = recover() }()
			apply(t, m, model.Memory{}, engine.Options{Jobs: jobs})
			return nil
		}()
		if bug != "a bug" {
			t.Errorf("with %d jobs: %v", jobs, bug)
		}
	}
}

func TestTries(t *testing.T) {
	m, w := chain(&spec{fails: true})
	m.Resources[0].Tries = 3
	outcomes, _ := apply(t, m, model.Memory{}, engine.Options{})
	if outcomes[0].Attempts != 3 || len((*w).ran) != 3 {
		t.Errorf("%d attempts, ran %v", outcomes[0].Attempts, (*w).ran)
	}
	m, w = chain(&spec{noStart: true})
	m.Resources[0].Tries = 3
	outcomes, _ = apply(t, m, model.Memory{}, engine.Options{})
	if outcomes[0].Attempts != 1 || len((*w).ran) != 1 {
		t.Errorf("a failure to start was tried %d times", outcomes[0].Attempts)
	}
}

// A refresh that comes while a resource is off is owed until it is not; so is
// what was owed before. What waits for it goes on as if it were stable.
func TestOff(t *testing.T) {
	m, w := chain(&spec{}, &spec{cond: model.Guards{RefreshOnly: true}}, &spec{cond: model.Guards{RefreshOnly: true}})
	m.Resources[1].Off = "skipped (when): false"
	outcomes, facts := apply(t, m, model.Memory{}, engine.Options{})
	for i, want := range []model.Status{model.Changed, model.Stable, model.Stable} {
		if outcomes[i].Status != want {
			t.Errorf("%s: %v", outcomes[i].ID, outcomes[i].Status)
		}
	}
	outcomes, more := apply(t, m, model.Replay(facts), engine.Options{})
	facts = append(facts, more...)
	if after := model.Replay(facts); len(after.Owed) != 1 || after.Owed[0].ID != "exec#1" || outcomes[1].Reason != "skipped (when): false" {
		t.Errorf("owed while it is off: %+v; it is said to be %q", after.Owed, outcomes[1].Reason)
	}
	m.Resources[1].Off = ""
	m.Resources[0].Off = "skipped (when): false" // and now its publisher is
	(*w).ran = nil
	outcomes, more = apply(t, m, model.Replay(facts), engine.Options{})
	if after := model.Replay(append(facts, more...)); len(after.Owed) != 0 || !slices.Equal((*w).ran, []string{"exec#1", "exec#2"}) {
		t.Errorf("ran %v, still owed %+v", (*w).ran, after.Owed)
	}
	if by := outcomes[2].RefreshedBy; !slices.Equal(by, []string{"exec#1"}) {
		t.Errorf("exec#2 is refreshed by %v", by)
	}

	m, _ = chain(&spec{fails: true}, &spec{})
	m.Resources[1].Off = "skipped (when): false"
	if outcomes, _ = apply(t, m, model.Memory{}, engine.Options{}); outcomes[1].Status != model.Skipped || outcomes[1].Reason != "exec#0 failed" {
		t.Errorf("off behind a failure: %v, %q", outcomes[1].Status, outcomes[1].Reason)
	}
}

// What is read behind a resource that is off may be changed by what goes before it.
func TestPlanLooksThroughWhatIsOff(t *testing.T) {
	m, _ := chain(&spec{}, &spec{}, &spec{cond: model.Guards{Creates: []string{"x"}}})
	m.Resources[1].Off = "skipped (when): false"
	if o := preview(t, m, model.Memory{}, engine.Options{})[2]; o.Status != model.MayRun || o.Reason != "creates was read before exec#0 runs" {
		t.Errorf("%v, %q", o.Status, o.Reason)
	}
}

func TestLeftRunning(t *testing.T) {
	m, w := chain(&spec{})
	memory := model.Replay([]model.Record{
		{Kind: model.RecordBegan, Run: "r0", ID: "exec#0"},
		{Kind: model.RecordProcess, Run: "r0", ID: "exec#0", Process: &model.Process{PID: 41, Start: 7}},
	})
	opts := engine.Options{FindStray: func(s model.StrayProcess) (model.Process, bool) {
		return s.Process, s.Process == model.Process{PID: 41, Start: 7}
	}}
	outcomes, _ := apply(t, m, memory, opts)
	if outcomes[0].Reason != "pid 41 of run r0 still runs it" || len((*w).ran) != 0 {
		t.Errorf("%+v, ran %v", outcomes[0], (*w).ran)
	}
	if o := preview(t, m, memory, opts)[0]; o.Status != model.Failed {
		t.Errorf("the plan says %v", o.Status)
	}
}

// TestHold changes one thing at a time between the plan and the apply.
func TestHold(t *testing.T) {
	tests := []struct {
		name   string
		change func(w *world, m *model.Manifest, memory *model.Memory)
		id     string // where it stops, "" for nowhere
	}{
		{"nothing", func(*world, *model.Manifest, *model.Memory) {}, ""},
		{"a created file", func(w *world, _ *model.Manifest, _ *model.Memory) { w.cells["made"] = 1 }, "exec#0"},
		{"a guard's answer", func(w *world, _ *model.Manifest, _ *model.Memory) { w.cells["guard"] = 0 }, "exec#1"},
		{"a refresh is owed", func(_ *world, m *model.Manifest, memory *model.Memory) {
			*memory = model.Replay([]model.Record{{Kind: model.RecordOwed, ID: "exec#2", By: "exec#gone", Run: "r0"}})
		}, "exec#2"},
		{"a guard that cannot be read", func(_ *world, m *model.Manifest, _ *model.Memory) {
			m.Resources[1].Spec.(*spec).guardErr = "never"
		}, "exec#1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, w := chain(
				&spec{cond: model.Guards{Creates: []string{"made"}}},
				&spec{cond: model.Guards{Commands: []model.Guard{{Property: "unless", Command: "guard"}}}},
				&spec{cond: model.Guards{RefreshOnly: true}})
			for i := range m.Resources {
				m.Resources[i].Upstream = nil
			}
			(*w).cells["guard"] = 1
			memory := model.Replay(nil)
			saved := model.SavePlan(m, "p", model.Selection{}, preview(t, m, memory, engine.Options{}), plainSum)
			tt.change(*w, m, &memory)
			_, err := engine.Run(t.Context(), &model.Plan{Manifest: m, Memory: memory, Run: "r1"},
				engine.Options{Act: engine.Hold(saved.DecisionsByID(), plainSum), Journal: engine.NoJournal{}, Now: clock})
			var differs *engine.ErrDiffers
			switch errors.As(err, &differs); {
			case tt.id == "" && err != nil:
				t.Errorf("stopped: %v", err)
			case tt.id != "" && (differs == nil || differs.ID != tt.id):
				t.Errorf("error %v, want one of %s", err, tt.id)
			}
		})
	}
}

// A failure that is ignored spares a resource the refresh that was planned: what
// is found out of it instead, also that nothing can be, is no other plan.
func TestHoldBehindAnIgnoredFailure(t *testing.T) {
	m, w := chain(&spec{fails: true}, &spec{guardErr: "never", cond: model.Guards{Commands: []model.Guard{{Property: "unless", Command: "guard"}}}})
	m.Resources[0].IgnoreFailure = true
	plan := preview(t, m, model.Memory{}, engine.Options{})
	outcomes, _ := apply(t, m, model.Memory{}, engine.Options{})
	if plan[1].Status != model.WouldRefresh || outcomes[1].Status != model.Failed {
		t.Fatalf("planned %v, and it is %v", plan[1].Status, outcomes[1].Status)
	}
	*w = (*w).copy()
	checkHeld(t, m, model.Memory{}, plan, outcomes)
}

// An attempt that began and failed may have changed something, so a later attempt
// that finds nothing to do does not make the resource stable.
func TestEarlierAttemptCountsAsChange(t *testing.T) {
	tests := []struct {
		name    string
		about   model.About
		last    model.Effect
		status  model.Status
		ran     []string
		records []model.RecordKind // after the end of the publisher
	}{
		{"the last attempt is unchanged", model.About{}, model.Effect{Began: true, Unchanged: true}, model.Changed, []string{"exec#1"}, nil},
		{"the last attempt has nothing to do", model.About{}, model.Effect{Unchanged: true}, model.Changed, []string{"exec#1"}, nil},
		{"a check never changes anything", model.About{Check: true}, model.Effect{Began: true, Unchanged: true}, model.Stable, nil, nil},
		{"the last attempt is deferred", model.About{}, model.Effect{Ended: model.Deferred}, model.Deferred, nil, []model.RecordKind{model.RecordOwed}},
		{"the last attempt shuts down", model.About{}, model.Effect{Ended: model.Shutdown}, model.Shutdown, nil, []model.RecordKind{model.RecordOwed}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, w := chain(&spec{}, &spec{cond: model.Guards{RefreshOnly: true}})
			m.Resources[0].Tries = 2
			m.Resources[0].Spec = &retried{spec: spec{w: w, id: "exec#0", about: tt.about}, last: tt.last}
			results, records := apply(t, m, model.Memory{}, engine.Options{})
			if results[0].Status != tt.status || !slices.Equal((*w).ran, tt.ran) {
				t.Errorf("%v, ran %v", results[0].Status, (*w).ran)
			}
			end := slices.IndexFunc(records, func(r model.Record) bool { return r.Kind == model.RecordEnded })
			for i, kind := range tt.records {
				if r := records[end+1+i]; r.Kind != kind || r.ID != "exec#1" || r.By != "exec#0" {
					t.Errorf("record %+v, want %s", r, kind)
				}
			}
			owed := model.Replay(records).Owed
			if len(owed) != len(tt.records) {
				t.Errorf("owed: %v", owed)
			}
		})
	}
}

// retried fails at its first attempt after it has begun.
type retried struct {
	spec
	last  model.Effect
	tried bool
}

func (r *retried) Run(context.Context, model.Stage) (model.Effect, error) {
	if !r.tried {
		r.tried = true
		return model.Effect{Began: true}, errors.New("exit 1")
	}
	return r.last, nil
}

// A publisher's process may still change things although the publisher is not
// part of the run: its refresh waits.
func TestRefreshWaitsForTheProcessOfItsPublisher(t *testing.T) {
	memory := model.Replay([]model.Record{
		{Kind: model.RecordBegan, Run: "r0", ID: "exec#gone", Subscribers: []string{"exec#0"}},
		{Kind: model.RecordProcess, Run: "r0", ID: "exec#gone", Process: &model.Process{PID: 41, Start: 7}},
	})
	for _, alive := range []bool{true, false} {
		m, w := chain(&spec{cond: model.Guards{RefreshOnly: true}})
		m.Resources[0].IgnoreFailure = true
		opts := engine.Options{FindStray: func(s model.StrayProcess) (model.Process, bool) { return s.Process, alive }}
		results, records := apply(t, m, memory, opts)
		if alive && (results[0].Reason != "pid 41 of run r0 still runs exec#gone, which owes it a refresh" || results[0].Ignored || len(records) != 0) {
			t.Errorf("%+v", results[0])
		}
		if alive != (len((*w).ran) == 0) {
			t.Errorf("alive %v: ran %v", alive, (*w).ran)
		}
	}
}

func TestAttemptsCarryTheTagOfTheirBegin(t *testing.T) {
	m, _ := chain(&spec{fails: true, about: model.About{Journaled: true}})
	m.Resources[0].Tries = 2
	var tags []string
	m.Resources[0].Spec = &tagged{m.Resources[0].Spec, &tags}
	_, records := apply(t, m, model.Memory{}, engine.Options{})
	if records[0].Tag != "r1/1" || !slices.Equal(tags, []string{"r1/1", "r1/1.2"}) {
		t.Errorf("the journal has %q, the attempts %q", records[0].Tag, tags)
	}
}

type tagged struct {
	model.Spec
	tags *[]string
}

func (s *tagged) Run(ctx context.Context, stage model.Stage) (model.Effect, error) {
	*s.tags = append(*s.tags, stage.ProcessTag)
	return s.Spec.Run(ctx, stage)
}

func plainSum(text string) string { return text }
