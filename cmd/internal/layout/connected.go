package layout

import "slices"

// reverseCycleLinks returns the links with those that close a cycle turned
// round, because layers exist only without cycles. reversed tells which.
func reverseCycleLinks(n int, links []Link) (acyclic []Link, reversed []bool) {
	acyclic, reversed = slices.Clone(links), make([]bool, len(links))
	out := make([][]int, n) // links by source
	for i, l := range links {
		out[l.From] = append(out[l.From], i)
	}
	// A depth-first search with its own stack: recursion would be as deep as
	// the longest chain of the graph.
	const unseen, open, closed = 0, 1, 2
	state, next := make([]int, n), make([]int, n) // next: the next link of an open node
	for start := range n {
		if state[start] != unseen {
			continue
		}
		state[start] = open
		for stack := []int{start}; len(stack) > 0; {
			v := stack[len(stack)-1]
			if next[v] == len(out[v]) {
				state[v] = closed
				stack = stack[:len(stack)-1]
				continue
			}
			i := out[v][next[v]]
			next[v]++
			switch to := links[i].To; state[to] {
			case unseen:
				state[to] = open
				stack = append(stack, to)
			case open:
				acyclic[i], reversed[i] = Link{to, v}, true
			}
		}
	}
	return acyclic, reversed
}

// splitConnected returns the connected parts of a graph, each in the order of
// its nodes, and the nodes without any link.
func splitConnected(n int, links []Link) (parts [][]int, single []int) {
	root := make([]int, n)
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	linked := make([]bool, n)
	for _, l := range links {
		linked[l.From], linked[l.To] = true, true
		a, b := find(l.From), find(l.To)
		root[max(a, b)] = min(a, b)
	}
	index := map[int]int{} // of a part, by its root
	for i := range n {
		switch r := find(i); {
		case !linked[i]:
			single = append(single, i)
		default:
			if _, ok := index[r]; !ok {
				index[r] = len(parts)
				parts = append(parts, nil)
			}
			parts[index[r]] = append(parts[index[r]], i)
		}
	}
	return parts, single
}
