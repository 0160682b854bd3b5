package graph

import "slices"

// searchLimit bounds how many edges the search for the shortest loop of one
// component follows. A plain ring of two thousand nodes stays below it; above
// it the loop found is the shortest one seen so far.
const searchLimit = 1 << 22

// Loops returns the shortest loop of each independent group of loops (each
// strongly connected component), as the nodes along it: each comes after the
// next, and the last comes after the first. A loop starts with its lowest
// node, and the loops are in the order of their first nodes.
func Loops(upstream [][]int) [][]int {
	component, count := Components(upstream)
	members := make([][]int, count)
	for n, c := range component {
		members[c] = append(members[c], n)
	}
	s := search{upstream: upstream, component: component, before: make([]int, len(upstream))}
	var loops [][]int
	for _, nodes := range members {
		if len(nodes) > 1 || slices.Contains(upstream[nodes[0]], nodes[0]) {
			loops = append(loops, s.shortest(nodes))
		}
	}
	slices.SortFunc(loops, func(a, b []int) int { return a[0] - b[0] })
	return loops
}

// Components numbers the strongly connected components: nodes have the same
// number when they lie on a loop together. (Tarjan's algorithm, with a stack of
// its own: a chain may be as long as the file allows.)
func Components(upstream [][]int) (component []int, count int) {
	const none = -1
	component = slices.Repeat([]int{none}, len(upstream))
	visit := make([]int, len(upstream)) // when a node was first seen, from 1
	low := make([]int, len(upstream))   // the earliest visit in reach
	edge := make([]int, len(upstream))  // the next edge to follow
	var path, open []int
	visits := 0
	enter := func(n int) {
		visits++
		visit[n], low[n] = visits, visits
		path, open = append(path, n), append(open, n)
	}
	for root := range upstream {
		if visit[root] != 0 {
			continue
		}
		enter(root)
		for len(path) > 0 {
			n := path[len(path)-1]
			if edge[n] < len(upstream[n]) {
				u := upstream[n][edge[n]]
				edge[n]++
				if visit[u] == 0 {
					enter(u)
				} else if component[u] == none {
					low[n] = min(low[n], visit[u])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				from := path[len(path)-1]
				low[from] = min(low[from], low[n])
			}
			if low[n] == visit[n] {
				for last := none; last != n; {
					last = open[len(open)-1]
					open = open[:len(open)-1]
					component[last] = count
				}
				count++
			}
		}
	}
	return component, count
}

// search looks for the shortest loop of one component at a time.
type search struct {
	upstream  [][]int
	component []int
	before    []int // the node from which the current walk came to a node, plus 1; 0 is not reached
	followed  int
}

// shortest walks breadth first from each node until it is back there. Every
// node of a component with a loop lies on one, so the first walk finds a loop.
func (s *search) shortest(nodes []int) []int {
	var best []int
	s.followed = 0
	for _, n := range nodes {
		if loop := s.from(n, len(best)); loop != nil {
			best = loop
		}
		if len(best) == 1 || s.followed > searchLimit {
			break
		}
	}
	least := slices.Index(best, slices.Min(best))
	return append(best[least:], best[:least]...)
}

// from returns the shortest loop through start, nil when it has not fewer
// nodes than a loop that is known already (0: none is).
func (s *search) from(start, known int) []int {
	reached := []int{start}
	defer func() {
		for _, n := range reached {
			s.before[n] = 0
		}
	}()
	length, last := 1, 1 // of a loop that closes now; where the current distance ends in reached
	for i := 0; i < len(reached); i++ {
		if i == last {
			length, last = length+1, len(reached)
		}
		if known > 0 && length >= known {
			return nil
		}
		n := reached[i]
		for _, u := range s.upstream[n] {
			s.followed++
			if u == start {
				return s.back(n, start)
			}
			if s.before[u] == 0 && s.component[u] == s.component[start] {
				s.before[u] = n + 1
				reached = append(reached, u)
			}
		}
	}
	return nil
}

// back returns the way of the current walk from start to n.
func (s *search) back(n, start int) []int {
	loop := []int{n}
	for n != start {
		n = s.before[n] - 1
		loop = append(loop, n)
	}
	slices.Reverse(loop)
	return loop
}
