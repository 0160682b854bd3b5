package layout

import (
	"cmp"
	"math"
	"slices"
)

// layered is one connected part of a graph, arranged in layers. Its vertices are
// the nodes, and after them the bends of links that pass other layers. Links
// with one source, or one target, share their bends: a resource that hundreds
// depend on has one trunk instead of hundreds of lines.
type layered struct {
	nodes     int // vertices below this number are nodes
	layer     []int
	order     [][]int // vertices by layer
	next      [][]int // neighbours of a vertex in the next layer, once each
	prev      [][]int
	stretches int     // from layer to layer, of all links
	leads     []int   // by bend: the vertex to be in line with, towards the end that shares the bend
	paths     [][]int // by link: the vertices that it passes, its ends included
	across    []float64
}

// maxStretches bounds the work for graphs that are too large to read. Links
// beyond it are drawn straight.
const maxStretches = 50_000

// arrangeLayers assigns n nodes to layers and orders each layer.
func arrangeLayers(n int, links []Link) *layered {
	s := &layered{nodes: n, layer: assignLayers(n, links)}
	s.fillLayers(links)
	s.reduceCrossings()
	if s.splitWideLayers(maxLayerNodes(n)) {
		s.fillLayers(links)
		s.reduceCrossings()
	}
	return s
}

// maxLayerNodes returns how many nodes of a layer stand side by side, so that
// the drawing has about the shape of a screen.
func maxLayerNodes(n int) int { return max(24, int(math.Sqrt(3.4*float64(n)))) }

// assignLayers puts every node one layer after its last upstream node. A node
// without upstream goes one layer before its first downstream node, which keeps
// its links short.
func assignLayers(n int, links []Link) []int {
	layer, waits, out := make([]int, n), make([]int, n), make([][]int, n)
	for _, l := range links {
		out[l.From] = append(out[l.From], l.To)
		waits[l.To]++
	}
	upstream := slices.Clone(waits)
	var ready []int
	for i := range n {
		if waits[i] == 0 {
			ready = append(ready, i)
		}
	}
	for at := 0; at < len(ready); at++ {
		for _, to := range out[ready[at]] {
			layer[to] = max(layer[to], layer[ready[at]]+1)
			if waits[to]--; waits[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
	for i := range n {
		if upstream[i] > 0 || len(out[i]) == 0 {
			continue
		}
		first := math.MaxInt
		for _, to := range out[i] {
			first = min(first, layer[to])
		}
		layer[i] = max(0, first-1)
	}
	return layer
}

// fillLayers fills the layers in the order of the nodes and routes the links
// through them.
func (s *layered) fillLayers(links []Link) {
	s.layer = s.layer[:s.nodes]
	depth := 0
	for _, l := range s.layer {
		depth = max(depth, l+1)
	}
	s.order = make([][]int, depth)
	for v, l := range s.layer {
		s.order[l] = append(s.order[l], v)
	}
	s.next, s.prev = make([][]int, s.nodes), make([][]int, s.nodes)
	s.paths = make([][]int, len(links))
	out, in := make([]int, s.nodes), make([]int, s.nodes)
	for _, l := range links {
		out[l.From]++
		in[l.To]++
	}
	s.leads, s.stretches = nil, 0
	bends := map[bendKey]int{}
	for i, l := range links {
		s.paths[i] = s.routeLink(l, in[l.To] > out[l.From], bends)
	}
	// Bends start in the middle of their layer: a trunk should pass through the
	// middle of the nodes that it serves.
	for _, vertices := range s.order {
		slices.SortStableFunc(vertices, func(a, b int) int { return cmp.Compare(min(a, s.nodes), min(b, s.nodes)) })
		nodes, _ := slices.BinarySearch(vertices, s.nodes)
		half := nodes / 2
		copy(vertices, slices.Concat(vertices[:half], vertices[nodes:], vertices[half:nodes]))
	}
}

// bendKey identifies a bend: the node whose links share it, whether they share
// it as their target, and its layer.
type bendKey struct {
	node     int
	byTarget bool
	layer    int
}

// routeLink leads a link through the layers, along the bends of the end that
// shares them, and returns the vertices that it passes.
func (s *layered) routeLink(l Link, byTarget bool, bends map[bendKey]int) []int {
	key := bendKey{node: l.From, byTarget: byTarget}
	if byTarget {
		key.node = l.To
	}
	path := []int{l.From}
	s.stretches += s.layer[l.To] - s.layer[l.From]
	for at := s.layer[l.From] + 1; at < s.layer[l.To] && s.stretches < maxStretches; at++ {
		key.layer = at
		v, ok := bends[key]
		if !ok {
			v = s.addBend(at)
			bends[key] = v
		}
		path = append(path, v)
	}
	path = append(path, l.To)
	for i := range path[1:] {
		s.addStretch(path[i], path[i+1])
	}
	for i, v := range path[1 : len(path)-1] {
		s.leads[v-s.nodes] = path[i]
		if byTarget {
			s.leads[v-s.nodes] = path[i+2]
		}
	}
	return path
}

func (s *layered) addBend(layer int) int {
	v := len(s.layer)
	s.layer, s.leads = append(s.layer, layer), append(s.leads, v)
	s.order[layer] = append(s.order[layer], v)
	s.next, s.prev = append(s.next, nil), append(s.prev, nil)
	return v
}

func (s *layered) addStretch(a, b int) {
	if !slices.Contains(s.next[a], b) && s.layer[b] == s.layer[a]+1 {
		s.next[a] = append(s.next[a], b)
		s.prev[b] = append(s.prev[b], a)
	}
}

// splitWideLayers splits layers of more than most nodes into several, and
// reports whether it did. Any split is correct, because the nodes of a layer do
// not depend on each other.
func (s *layered) splitWideLayers(most int) bool {
	split, shift := false, 0
	layer := make([]int, s.nodes)
	for _, vertices := range s.order {
		var nodes []int
		for _, v := range vertices {
			if v < s.nodes {
				nodes = append(nodes, v)
			}
		}
		columns := max(1, (len(nodes)+most-1)/most)
		each := (len(nodes) + columns - 1) / columns
		for i, v := range nodes {
			layer[v] = shift + i/max(each, 1)
		}
		shift += columns
		split = split || columns > 1
	}
	if split {
		s.layer = layer
	}
	return split
}
