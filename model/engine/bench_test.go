package engine_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
)

// fixed is a resource that costs nothing, so that what is measured is the walk.
type fixed struct{ act bool }

func (f fixed) About() model.About { return model.About{Command: "/bin/true", Cwd: "/"} }

func (f fixed) Check(_ context.Context, ask model.Ask) (model.Decision, error) {
	return model.Decision{Act: f.act || ask.Refresh == model.Yes, Reason: "creates /etc/hostname exists"}, nil
}

func (f fixed) Run(context.Context, model.Stage) (model.Effect, error) {
	return model.Effect{Began: true}, nil
}

// wired makes a manifest of n resources; each is refreshed by those that by says.
func wired(n int, spec func(i int) model.Spec, by func(i int) []int) *model.Manifest {
	m := &model.Manifest{Parallel: 1, Resources: make([]model.Resource, n), Order: make([]int, n)}
	for i := range n {
		r := &m.Resources[i]
		*r = model.Resource{Ref: model.Ref{Type: "exec", Name: strconv.Itoa(i)}, Tries: 1, Spec: spec(i)}
		for _, on := range by(i) {
			r.Upstream = append(r.Upstream, model.Edge{On: on, Refresh: true})
			m.Resources[on].Subscribers = append(m.Resources[on].Subscribers, r.ID())
		}
		m.Order[i] = i
	}
	return m
}

func alone(int) []int { return nil }

func chained(i int) []int {
	if i == 0 {
		return nil
	}
	return []int{i - 1}
}

// layered makes layers of two, each of which waits for both of the layer before:
// there are 2^(n/2) paths through it.
func layered(i int) []int {
	if i < 2 {
		return nil
	}
	layer := i / 2 * 2
	return []int{layer - 2, layer - 1}
}

func BenchmarkWalk(b *testing.B) {
	for _, bench := range []struct {
		name string
		act  engine.Act
		jobs int
		spec func(i int) model.Spec
		by   func(i int) []int
	}{
		{"plan/converged", engine.Preview, 1, func(int) model.Spec { return fixed{} }, alone},
		{"apply/converged", engine.Apply, 1, func(int) model.Spec { return fixed{} }, alone},
		{"apply/converged-parallel", engine.Apply, 8, func(int) model.Spec { return fixed{} }, alone},
		{"apply/all-run", engine.Apply, 1, func(int) model.Spec { return fixed{act: true} }, alone},
		{"apply/chain", engine.Apply, 1, func(i int) model.Spec { return fixed{act: i == 0} }, chained},
		{"plan/layers", engine.Preview, 1, func(i int) model.Spec { return fixed{act: i < 2} }, layered},
	} {
		for _, n := range []int{1_000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", bench.name, n), func(b *testing.B) {
				plan := &model.Plan{Manifest: wired(n, bench.spec, bench.by), Memory: model.Replay(nil), Run: "1"}
				opts := engine.Options{Act: bench.act, Jobs: bench.jobs, Journal: engine.NoJournal{}, Now: time.Now}
				b.ReportAllocs()
				for b.Loop() {
					outcomes, err := engine.Run(b.Context(), plan, opts)
					if err != nil || len(outcomes) != n {
						b.Fatal(len(outcomes), err)
					}
				}
			})
		}
	}
}
