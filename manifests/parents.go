package manifests

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/graph"
)

// byParent is who makes the edges that nobody has written.
const byParent = "parent"

// standing is a resource with where it stands.
type standing struct {
	n int
	model.Place
}

// made is a path at which a resource makes something.
type made struct {
	n    int
	path string
}

// place notes where the next resource stands, and what it makes.
func (l *loader) place(body *model.Body) {
	n := len(l.ids)
	if path := body.Place.Path; path != "" && len(path) <= entry.MaxPath {
		l.places[body.Place.Path] = len(l.standing)
		l.standing = append(l.standing, standing{n, body.Place})
		if !body.Place.Empty {
			l.made = append(l.made, made{n, body.Place.Path})
		}
	}
	for _, c := range body.Claims {
		if len(c.Path) <= entry.MaxPath {
			l.made = append(l.made, made{n, c.Path})
		}
	}
}

// parents has whoever makes something below a directory wait for the resource
// that makes the directory, also where nobody has written require, and refuses
// what would be below something that is no directory.
func (l *loader) parents() {
	if len(l.standing) == 0 {
		return
	}
	nearest := map[string]int{}
	var edges [][2]int // who waits, and for whom
	for _, w := range l.made {
		at := l.nearest(filepath.Dir(w.path), nearest)
		if at < 0 || l.standing[at].n == w.n {
			continue
		}
		on := l.standing[at].n
		r, parent := &l.m.Resources[w.n], &l.m.Resources[on]
		if l.standing[at].Closed {
			scope{l: l, id: l.ids[w.n]}.refuse(r.Pos, fmt.Sprintf("%s is below %s, where %s at %s makes no directory", w.path, l.standing[at].Path, l.ids[on], entry.Line(parent.Pos)),
				"declare the directory, or take one of them out")
			continue
		}
		edges = append(edges, [2]int{w.n, on})
	}
	l.join(edges)
}

// nearest returns the innermost resource that stands at a directory or above
// it, -1 for none. What it finds it keeps for the next path.
func (l *loader) nearest(dir string, found map[string]int) int {
	at, known := found[dir]
	if known {
		return at
	}
	at, stands := l.places[dir]
	if up := filepath.Dir(dir); !stands && up != dir {
		at = l.nearest(up, found)
	} else if !stands {
		at = -1
	}
	found[dir] = at
	return at
}

// join adds those of the edges that close no loop: what is written the other way
// round, over however many resources, holds.
func (l *loader) join(edges [][2]int) {
	if len(edges) == 0 {
		return
	}
	upstream := make([][]int, len(l.m.Resources))
	for n := range upstream {
		for _, e := range l.m.Resources[n].Upstream {
			upstream[n] = append(upstream[n], e.On)
		}
	}
	for _, e := range edges {
		upstream[e[0]] = append(upstream[e[0]], e[1])
	}
	component, _ := graph.Components(upstream)
	for _, e := range edges {
		r := &l.m.Resources[e[0]]
		known := slices.ContainsFunc(r.Upstream, func(u model.Edge) bool { return u.On == e[1] })
		if !known && component[e[0]] != component[e[1]] {
			r.Upstream = append(r.Upstream, model.Edge{On: e[1], By: byParent, Pos: r.Pos})
		}
	}
}
