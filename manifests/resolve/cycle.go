package resolve

import (
	"fmt"
	"strings"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model"
)

// refuseCycle reports a cycle edge by edge, each as it is written in the file.
func refuseCycle(in entry.Entries, cycle []int, sink *entry.Sink) {
	var b strings.Builder
	b.WriteString("these wait for each other:")
	var first model.Edge
	for i, n := range cycle {
		on := cycle[(i+1)%len(cycle)]
		e := findEdge(in.Resources[n].Upstream, on)
		if i == 0 {
			first = e
		}
		from, to := in.IDs[n], in.IDs[on]
		if isBackward(e.By) {
			from, to = to, from
		}
		fmt.Fprintf(&b, "\n  %s: %s %s %s", entry.Line(e.Pos), from, verbs[e.By], to)
	}
	s := entry.Subject{ID: in.IDs[cycle[0]], Property: first.By}
	if isBackward(first.By) {
		s.ID = in.IDs[first.On]
	}
	sink.Refuse(s.Problem(first.Pos, b.String(), ""))
}

// findEdge returns the first edge on a resource. There is one: graph found it.
func findEdge(edges []model.Edge, on int) model.Edge {
	for _, e := range edges {
		if e.On == on {
			return e
		}
	}
	return model.Edge{}
}
