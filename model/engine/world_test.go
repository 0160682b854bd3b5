package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/settle-cm/settle/model"
)

// world is a machine of cells, one for each resource, that specs read and write.
type world struct {
	mu    sync.Mutex
	cells map[string]int
	ran   []string
}

func (w *world) get(cell string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cells[cell]
}

func (w *world) copy() *world {
	c := &world{cells: map[string]int{}}
	for k, v := range w.cells {
		c.cells[k] = v
	}
	return c
}

// spec is a resource that behaves: it looks at cells, and sets its own.
type spec struct {
	w         **world
	id        string
	cond      model.Guards
	about     model.About
	fails     bool
	noStart   bool // fails before anything began
	unchanged bool
	clears    bool   // a run empties its cell instead of filling it
	guardErr  string // a cell; when it is 0 the guard cannot be read
}

func (s *spec) About() model.About { return s.about }

func (s *spec) Check(ctx context.Context, ask model.Ask) (model.Decision, error) {
	cond := s.cond
	cond.Exists = func(path string) (bool, string, error) { return (*s.w).get(path) > 0, "", nil }
	cond.RunGuard = func(_ context.Context, g model.Guard) (int, error) {
		if s.guardErr != "" && (*s.w).get(s.guardErr) == 0 {
			return 0, errors.New("cannot be read")
		}
		return min((*s.w).get(g.Command), 1), nil
	}
	return cond.Decide(ctx, ask)
}

func (s *spec) Run(context.Context, model.Stage) (model.Effect, error) {
	w := *s.w
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ran = append(w.ran, s.id)
	switch {
	case s.noStart:
		return model.Effect{}, errors.New("not found")
	case s.fails:
		code := 3
		return model.Effect{Began: true, Exit: &code}, errors.New("exit 3")
	}
	switch {
	case s.about.Check:
	case s.clears:
		w.cells[s.id] = 0
	default:
		w.cells[s.id] = 1
	}
	code := 0
	return model.Effect{Began: true, Exit: &code, Unchanged: s.unchanged}, nil
}

// random makes a manifest of n resources whose guards and creates are affected
// only by what they depend on, as the truth of a plan assumes.
func random(rng *rand.Rand, n int, w **world, failures bool) *model.Manifest {
	m := &model.Manifest{Parallel: 1}
	upstream := make([][]int, n)
	for i := range n {
		s := &spec{w: w, id: fmt.Sprintf("exec#%d", i)}
		r := model.Resource{Ref: model.Ref{Type: "exec", Name: fmt.Sprint(i)}, Tries: 1, Spec: s}
		seen := map[int]bool{}
		for range rng.IntN(4) {
			if i == 0 {
				break
			}
			on := rng.IntN(i)
			refresh := rng.IntN(2) == 0
			r.Upstream = append(r.Upstream, model.Edge{On: on, Refresh: refresh})
			seen[on] = true
			for _, u := range upstream[on] {
				seen[u] = true
			}
			if refresh {
				m.Resources[on].Subscribers = append(m.Resources[on].Subscribers, s.id)
			}
		}
		for u := range n {
			if seen[u] {
				upstream[i] = append(upstream[i], u)
			}
		}
		shape(rng, s, upstream[i], failures)
		r.IgnoreFailure = rng.IntN(6) == 0
		if rng.IntN(7) == 0 {
			r.Off = "skipped (when): false"
		}
		r.OnRefresh = s.cond.OnRefresh
		m.Resources = append(m.Resources, r)
		m.Order = append(m.Order, i)
	}
	return m
}

// shape gives a spec conditions over its own cell and those upstream.
func shape(rng *rand.Rand, s *spec, upstream []int, failures bool) {
	near := func() string {
		if len(upstream) == 0 || rng.IntN(3) == 0 {
			return s.id
		}
		return fmt.Sprintf("exec#%d", upstream[rng.IntN(len(upstream))])
	}
	if rng.IntN(3) == 0 {
		s.cond.Creates = []string{near()}
		s.about.Creates = true
	}
	for range rng.IntN(3) {
		property := []string{"onlyif", "unless"}[rng.IntN(2)]
		s.cond.Commands = append(s.cond.Commands, model.Guard{Property: property, Command: near()})
	}
	if len(s.cond.Commands) > 0 && rng.IntN(6) == 0 {
		s.guardErr = near()
	}
	own := s.guardErr == "" || s.guardErr == s.id
	for _, g := range s.cond.Commands {
		own = own && g.Command == s.id
	}
	for _, cell := range s.cond.Creates {
		own = own && cell == s.id
	}
	s.about.Independent = own && rng.IntN(2) == 0
	s.clears = rng.IntN(4) == 0
	s.cond.RefreshOnly = rng.IntN(4) == 0
	if rng.IntN(4) == 0 {
		s.cond.OnRefresh = model.RefreshChecks
	}
	switch rng.IntN(8) {
	case 0: // a check changes nothing, so it touches no cell that others read
		s.about.Check, s.unchanged = true, true
	case 1:
		s.about.MayChange, s.unchanged = true, rng.IntN(2) == 0
	}
	if failures {
		s.fails = rng.IntN(6) == 0
		s.noStart = rng.IntN(12) == 0
	}
}

func clock() time.Time { return time.Unix(0, 0) }
