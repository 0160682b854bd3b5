package render

import (
	"cmp"
	"math"
	"slices"
)

// sketch is one connected part of a graph on its way to a drawing. Vertices are
// its nodes, and after them the bends of links that pass other layers. Links
// with one source, or one target, share their bends: a resource that hundreds
// wait for has one trunk, not hundreds of lines.
type sketch struct {
	real      int // vertices below are nodes
	layer     []int
	order     [][]int // vertices by layer
	next      [][]int // neighbours of a vertex in the next layer, once each
	prev      [][]int
	stretches int     // from layer to layer, of all links
	leads     []int   // by bend: the vertex that it should be in line with, towards the end that shares it
	paths     [][]int // vertices that a link passes, its ends among them; nil when it cannot be drawn
	across    []float64
}

// mostStretches bounds the work for graphs that nobody can read any more:
// beyond, links are drawn straight.
const mostStretches = 50_000

// sketched puts n nodes into layers and their links through them.
func sketched(n int, links []link) *sketch {
	s := &sketch{real: n, layer: ranks(n, links)}
	s.arrange(links)
	s.untangle()
	if s.fold(most(n)) {
		s.arrange(links)
		s.untangle()
	}
	return s
}

// most is how many nodes of a layer stand side by side, so that the whole is
// about as wide as a screen is.
func most(n int) int { return max(24, int(math.Sqrt(3.4*float64(n)))) }

// ranks puts every node right after the last that it waits for, and a node that
// waits for nothing right before the first that waits for it.
func ranks(n int, links []link) []int {
	rank, waits, out := make([]int, n), make([]int, n), make([][]int, n)
	for _, l := range links {
		out[l.from] = append(out[l.from], l.to)
		waits[l.to]++
	}
	first := slices.Clone(waits)
	var ready []int
	for i := range n {
		if waits[i] == 0 {
			ready = append(ready, i)
		}
	}
	for at := 0; at < len(ready); at++ {
		for _, to := range out[ready[at]] {
			rank[to] = max(rank[to], rank[ready[at]]+1)
			if waits[to]--; waits[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
	for i := range n {
		if first[i] > 0 || len(out[i]) == 0 {
			continue
		}
		near := math.MaxInt
		for _, to := range out[i] {
			near = min(near, rank[to])
		}
		rank[i] = max(0, near-1)
	}
	return rank
}

// arrange fills the layers in the order of the manifest and leads links through them.
func (s *sketch) arrange(links []link) {
	s.layer = s.layer[:s.real]
	depth := 0
	for _, l := range s.layer {
		depth = max(depth, l+1)
	}
	s.order = make([][]int, depth)
	for v, l := range s.layer {
		s.order[l] = append(s.order[l], v)
	}
	s.next, s.prev = make([][]int, s.real), make([][]int, s.real)
	s.paths = make([][]int, len(links))
	out, in := make([]int, s.real), make([]int, s.real)
	for _, l := range links {
		out[l.from]++
		in[l.to]++
	}
	s.leads, s.stretches = nil, 0
	bends := map[[3]int]int{} // by the end that shares it, which end, and layer
	for i, l := range links {
		s.paths[i] = s.lead(l, in[l.to] > out[l.from], bends)
	}
	for _, vertices := range s.order { // where nothing else decides, a trunk goes through the middle of those it serves
		slices.SortStableFunc(vertices, func(a, b int) int { return cmp.Compare(min(a, s.real), min(b, s.real)) })
		nodes, _ := slices.BinarySearch(vertices, s.real)
		rotate := nodes / 2
		copy(vertices, slices.Concat(vertices[:rotate], vertices[nodes:], vertices[rotate:nodes]))
	}
}

// lead takes a link through the layers, on the bends of the end that shares them.
func (s *sketch) lead(l link, byTarget bool, bends map[[3]int]int) []int {
	key := [3]int{l.from, 0}
	if byTarget {
		key = [3]int{l.to, 1}
	}
	path := []int{l.from}
	s.stretches += s.layer[l.to] - s.layer[l.from]
	for at := s.layer[l.from] + 1; at < s.layer[l.to] && s.stretches < mostStretches; at++ {
		key[2] = at
		v, ok := bends[key]
		if !ok {
			v = s.bend(at)
			bends[key] = v
		}
		path = append(path, v)
	}
	path = append(path, l.to)
	for i := range path[1:] {
		s.join(path[i], path[i+1])
	}
	for i, v := range path[1 : len(path)-1] {
		s.leads[v-s.real] = path[i]
		if byTarget {
			s.leads[v-s.real] = path[i+2]
		}
	}
	return path
}

func (s *sketch) bend(layer int) int {
	v := len(s.layer)
	s.layer, s.leads = append(s.layer, layer), append(s.leads, v)
	s.order[layer] = append(s.order[layer], v)
	s.next, s.prev = append(s.next, nil), append(s.prev, nil)
	return v
}

func (s *sketch) join(a, b int) {
	if !slices.Contains(s.next[a], b) && s.layer[b] == s.layer[a]+1 {
		s.next[a] = append(s.next[a], b)
		s.prev[b] = append(s.prev[b], a)
	}
}

// fold splits layers of too many nodes into several. What is in one layer waits
// for nothing else in it, so any split is right.
func (s *sketch) fold(most int) bool {
	folded, shift := false, 0
	layer := make([]int, s.real)
	for _, vertices := range s.order {
		var nodes []int
		for _, v := range vertices {
			if v < s.real {
				nodes = append(nodes, v)
			}
		}
		columns := max(1, (len(nodes)+most-1)/most)
		each := (len(nodes) + columns - 1) / columns
		for i, v := range nodes {
			layer[v] = shift + i/max(each, 1)
		}
		shift += columns
		folded = folded || columns > 1
	}
	if folded {
		s.layer = layer
	}
	return folded
}

// untangle orders each layer by where its neighbours stand, back and forth, and
// keeps the order with the fewest crossings.
func (s *sketch) untangle() {
	at := make([]int, len(s.layer))
	best, fewest := s.copyOrder(), s.crossings(at)
	for sweep := 0; sweep < 12 && fewest > 0; sweep++ {
		for i := range s.order {
			l, beside := i, s.prev
			if sweep%2 == 1 {
				l, beside = len(s.order)-1-i, s.next
			}
			s.sort(l, beside, at)
		}
		if n := s.crossings(at); n < fewest {
			best, fewest = s.copyOrder(), n
		}
	}
	s.order = best
}

// sort orders one layer by the mean of the places of its neighbours on one side.
func (s *sketch) sort(layer int, beside [][]int, at []int) {
	vertices := s.order[layer]
	mean := make(map[int]float64, len(vertices))
	for i, v := range vertices {
		mean[v] = float64(i)
		if len(beside[v]) > 0 {
			sum := 0
			for _, u := range beside[v] {
				sum += at[u]
			}
			mean[v] = float64(sum) / float64(len(beside[v]))
		}
	}
	slices.SortStableFunc(vertices, func(a, b int) int {
		switch {
		case mean[a] < mean[b]:
			return -1
		case mean[a] > mean[b]:
			return 1
		}
		return 0
	})
	for i, v := range vertices {
		at[v] = i
	}
}

func (s *sketch) copyOrder() [][]int {
	order := make([][]int, len(s.order))
	for i, l := range s.order {
		order[i] = slices.Clone(l)
	}
	return order
}

// crossings counts the pairs of stretches that cross, and notes in at where
// each vertex stands in its layer.
func (s *sketch) crossings(at []int) int {
	for _, l := range s.order {
		for i, v := range l {
			at[v] = i
		}
	}
	total := 0
	for l := range s.order[1:] {
		tree := make([]int, len(s.order[l+1])+1) // counts by place in the next layer
		seen := 0
		for _, v := range s.order[l] {
			ends := make([]int, 0, len(s.next[v]))
			for _, w := range s.next[v] {
				ends = append(ends, at[w])
			}
			for _, end := range ends {
				left := 0
				for i := end + 1; i > 0; i -= i & -i {
					left += tree[i]
				}
				total += seen - left
			}
			for _, end := range ends {
				for i := end + 1; i < len(tree); i += i & -i {
					tree[i]++
				}
			}
			seen += len(ends)
		}
	}
	return total
}
