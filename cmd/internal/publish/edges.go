package publish

import (
	"slices"

	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/model"
)

// Edges returns the edges of a manifest's graph in the order of its resources. An
// edge points from a resource to one that waits for it. cycles are lists of
// resources that wait for each other; their edges are marked.
func Edges(m *model.Manifest, cycles [][]int) []render.Edge {
	var list []render.Edge
	inCycle := map[[2]int]bool{}
	for _, cycle := range cycles {
		for i, n := range cycle {
			inCycle[[2]int{n, cycle[(i+1)%len(cycle)]}] = true
		}
	}
	for i := range m.Resources {
		r := &m.Resources[i]
		if inCycle[[2]int{i, i}] {
			list = append(list, render.Edge{From: r.ID(), To: r.ID(), Kind: "require", Loop: true})
		}
		for _, e := range r.Upstream {
			kind := "require"
			if e.Refresh {
				kind = "subscribe"
			} else if e.By == "parent" {
				kind = e.By
			} else if slices.ContainsFunc(r.Upstream, func(o model.Edge) bool { return o.On == e.On && o.Refresh }) {
				continue // the subscription says it already
			}
			list = append(list, render.Edge{From: m.Resources[e.On].ID(), To: r.ID(), Kind: kind, Loop: inCycle[[2]int{i, e.On}]})
		}
	}
	return list
}
