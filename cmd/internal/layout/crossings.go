package layout

import (
	"cmp"
	"slices"
)

// maxSweeps bounds how often the layers are reordered. More sweeps removed
// hardly any further crossing.
const maxSweeps = 12

// reduceCrossings orders each layer by the positions of its neighbours, forth
// and back, and keeps the order with the fewest crossings.
func (s *layered) reduceCrossings() {
	position := make([]int, len(s.layer))
	best, fewest := s.copyOrder(), s.countCrossings(position)
	for sweep := 0; sweep < maxSweeps && fewest > 0; sweep++ {
		for i := range s.order {
			l, neighbours := i, s.prev
			if sweep%2 == 1 {
				l, neighbours = len(s.order)-1-i, s.next
			}
			s.sortLayer(l, neighbours, position)
		}
		if n := s.countCrossings(position); n < fewest {
			best, fewest = s.copyOrder(), n
		}
	}
	s.order = best
}

// sortLayer orders one layer by the mean position of its neighbours on one side.
func (s *layered) sortLayer(layer int, neighbours [][]int, position []int) {
	vertices := s.order[layer]
	mean := make(map[int]float64, len(vertices))
	for i, v := range vertices {
		mean[v] = float64(i)
		if len(neighbours[v]) > 0 {
			sum := 0
			for _, u := range neighbours[v] {
				sum += position[u]
			}
			mean[v] = float64(sum) / float64(len(neighbours[v]))
		}
	}
	slices.SortStableFunc(vertices, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
	for i, v := range vertices {
		position[v] = i
	}
}

func (s *layered) copyOrder() [][]int {
	order := make([][]int, len(s.order))
	for i, l := range s.order {
		order[i] = slices.Clone(l)
	}
	return order
}

// countCrossings counts the pairs of stretches that cross, and stores in
// position where each vertex stands in its layer. A Fenwick tree holds the
// number of ends to the left: comparing all pairs would be quadratic.
func (s *layered) countCrossings(position []int) int {
	for _, l := range s.order {
		for i, v := range l {
			position[v] = i
		}
	}
	total := 0
	for l := range s.order[1:] {
		tree := make([]int, len(s.order[l+1])+1) // counts by position in the next layer
		seen := 0
		for _, v := range s.order[l] {
			ends := make([]int, 0, len(s.next[v]))
			for _, w := range s.next[v] {
				ends = append(ends, position[w])
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
