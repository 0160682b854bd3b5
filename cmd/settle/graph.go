package main

import (
	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/model"
)

func (c *graphCommand) run(a *app) []ending {
	l, e := a.loadPart("graph", c.Manifest, c.Output, c.selection())
	if e.refused == nil {
		a.print(render.Graphs[c.Output](graphOf(l.manifest)))
	}
	return []ending{e}
}

// graphOf returns the manifest's graph, in its order. An edge points from what
// goes first to what waits for it.
func graphOf(m *model.Manifest) render.Graph {
	g := render.Graph{Nodes: []render.Node{}, Edges: []render.Edge{}}
	for i := range m.Resources {
		r := &m.Resources[i]
		g.Nodes = append(g.Nodes, render.Node{ID: r.ID()})
		for _, e := range r.Upstream {
			kind := "require"
			if e.Refresh {
				kind = "subscribe"
			}
			g.Edges = append(g.Edges, render.Edge{From: m.Resources[e.On].ID(), To: r.ID(), Kind: kind})
		}
	}
	return g
}
