// Package graph orders numbered nodes and finds the loops that keep them from
// being ordered. It knows ints only: what a node stands for is its caller's.
//
// A graph is given as upstream lists: upstream[n] holds the nodes that come
// before n. A node may stand in a list more than once.
package graph

import "container/heap"

// Order returns every node after all that come before it; among those that
// could come next, the lowest number does. It returns false when a loop makes
// that impossible; the order then holds only what no loop holds back.
func Order(upstream [][]int) ([]int, bool) {
	downstream := invert(upstream)
	waits := make([]int, len(upstream)) // how many of its upstream a node still waits for
	var next ready
	for n, up := range upstream {
		waits[n] = len(up)
		if len(up) == 0 {
			next = append(next, n) // ascending, so a heap already
		}
	}
	order := make([]int, 0, len(upstream))
	for len(next) > 0 {
		n := heap.Pop(&next).(int)
		order = append(order, n)
		for _, d := range downstream[n] {
			if waits[d]--; waits[d] == 0 {
				heap.Push(&next, d)
			}
		}
	}
	return order, len(order) == len(upstream)
}

// invert turns upstream lists into downstream lists, which share one array.
func invert(upstream [][]int) [][]int {
	total := 0
	counts := make([]int, len(upstream))
	for _, up := range upstream {
		total += len(up)
		for _, u := range up {
			counts[u]++
		}
	}
	array := make([]int, 0, total)
	downstream := make([][]int, len(upstream))
	for n, count := range counts {
		downstream[n] = array[len(array) : len(array) : len(array)+count]
		array = array[:len(array)+count]
	}
	for n, up := range upstream {
		for _, u := range up {
			downstream[u] = append(downstream[u], n)
		}
	}
	return downstream
}

// ready is a heap of the nodes that wait for nothing.
type ready []int

func (r ready) Len() int           { return len(r) }
func (r ready) Less(i, j int) bool { return r[i] < r[j] }
func (r ready) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *ready) Push(n any)        { *r = append(*r, n.(int)) }
func (r *ready) Pop() any {
	last := len(*r) - 1
	n := (*r)[last]
	*r = (*r)[:last]
	return n
}
