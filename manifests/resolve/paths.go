package resolve

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/graph"
)

// The By of edges that follow from paths: from the directory that a path is in, and from
// the file that a resource reads.
const (
	byParent = "parent"
	bySource = "source"
)

// checkClaims refuses a path that two resources write: each would undo the work of
// the other. One path of a resource is enough to report.
func checkClaims(in entry.Entries, sink *entry.Sink) {
	writers := make(map[string]int, len(in.Claims))
	refused := -1
	for _, c := range in.Claims {
		other, taken := writers[c.Path]
		switch {
		case c.Resource == refused || taken && other == c.Resource:
		case !taken:
			writers[c.Path] = c.Resource
		default:
			refused = c.Resource
			r := &in.Resources[c.Resource]
			message := fmt.Sprintf("%s is written by %s at %s already", c.Path, in.IDs[other], entry.Line(in.Resources[other].Pos))
			p := entry.Subject{ID: in.IDs[c.Resource]}.Problem(c.PathClaim.Pos, message, "let one resource write it")
			sink.Refuse(entry.Attribute(p, r.Values))
		}
	}
}

// made is a path at which a resource makes something.
type made struct {
	resource int
	path     string
}

// listMade returns the paths at which resources make something. Paths that no
// system accepts are left out: to search above them would only take time.
func listMade(in entry.Entries) []made {
	var list []made
	for _, p := range in.Occupied {
		if !p.Absent && len(p.Path) <= entry.MaxPath {
			list = append(list, made{p.Resource, p.Path})
		}
	}
	for _, c := range in.Claims {
		if len(c.Path) <= entry.MaxPath {
			list = append(list, made{c.Resource, c.Path})
		}
	}
	return list
}

// addParents makes a resource that makes something below a directory wait for the
// resource that makes the directory. It refuses what would be below a resource
// that makes no directory.
func addParents(in entry.Entries, sink *entry.Sink) {
	if len(in.Occupied) == 0 {
		return
	}
	occupied := make(map[string]int, len(in.Occupied)) // indexes of in.Occupied
	for i, p := range in.Occupied {
		if len(p.Path) <= entry.MaxPath {
			occupied[p.Path] = i
		}
	}
	found := map[string]int{}
	var edges [][2]int // the resource that waits, and the one that goes first
	for _, w := range listMade(in) {
		at := findNearest(filepath.Dir(w.path), occupied, found)
		if at < 0 || in.Occupied[at].Resource == w.resource {
			continue
		}
		above := in.Occupied[at]
		if !above.Leaf && !above.Whole {
			edges = append(edges, [2]int{w.resource, above.Resource})
			continue
		}
		does, suggestion := "makes no directory", "declare the directory, or take one of them out"
		if above.Whole {
			does, suggestion = "removes everything else (purge)", "drop purge, or put it elsewhere"
		}
		s := entry.Subject{ID: in.IDs[w.resource]}
		message := fmt.Sprintf("%s is below %s, where %s at %s %s", w.path, above.Path, in.IDs[above.Resource], entry.Line(in.Resources[above.Resource].Pos), does)
		sink.Refuse(s.Problem(in.Resources[w.resource].Pos, message, suggestion))
	}
	joinImplied(in.Resources, edges, byParent)
	joinImplied(in.Resources, listReads(in, occupied, found), bySource)
}

// listReads returns an edge for each resource that reads a path which another one makes,
// or a path below a directory that another one makes.
func listReads(in entry.Entries, occupied, found map[string]int) (edges [][2]int) {
	for _, r := range in.Reads {
		if len(r.Path) > entry.MaxPath {
			continue
		}
		at := findNearest(r.Path, occupied, found)
		if at >= 0 && !in.Occupied[at].Absent && in.Occupied[at].Resource != r.Resource {
			edges = append(edges, [2]int{r.Resource, in.Occupied[at].Resource})
		}
	}
	return edges
}

// findNearest returns the index of the innermost occupied path at a directory or
// above it, -1 for none. It keeps every answer in found, for the next path.
func findNearest(dir string, occupied, found map[string]int) int {
	at, known := found[dir]
	if known {
		return at
	}
	at, isOccupied := occupied[dir]
	if up := filepath.Dir(dir); !isOccupied && up != dir {
		at = findNearest(up, occupied, found)
	} else if !isOccupied {
		at = -1
	}
	found[dir] = at
	return at
}

// joinImplied adds those of the edges that close no cycle: an order that is
// written down holds, also over several resources. by is the By of the edges.
func joinImplied(resources []model.Resource, edges [][2]int, by string) {
	if len(edges) == 0 {
		return
	}
	upstream := listUpstream(resources)
	for _, e := range edges {
		upstream[e[0]] = append(upstream[e[0]], e[1])
	}
	component, _ := graph.Components(upstream)
	for _, e := range edges {
		r := &resources[e[0]]
		known := slices.ContainsFunc(r.Upstream, func(u model.Edge) bool { return u.On == e[1] })
		if !known && component[e[0]] != component[e[1]] {
			r.Upstream = append(r.Upstream, model.Edge{On: e[1], By: by, Pos: r.Pos})
		}
	}
}
