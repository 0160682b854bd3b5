// Package graph orders numbered nodes and finds the loops that keep them from
// being ordered. Nodes are ints: their meaning belongs to the caller.
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
	var next MinHeap
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

// MinHeap is a heap of node numbers, the lowest on top. It is for container/heap.
type MinHeap []int

func (h MinHeap) Len() int           { return len(h) }
func (h MinHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h MinHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push appends a number, as container/heap requires; use heap.Push.
func (h *MinHeap) Push(x any) { *h = append(*h, x.(int)) }

// Pop removes the last number, as container/heap requires; use heap.Pop.
func (h *MinHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
