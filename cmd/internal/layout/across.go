package layout

// Sweeps of placeAcross: first each layer follows one side in turn, then both.
const (
	acrossSweeps    = 16
	oneSidedSweeps  = 12
	straightenRuns  = 2
	fixedNodeWeight = 1000 // straighten moves bends, not nodes
	bendWeight      = 8    // bends stay in line with each other rather than with nodes
)

// placeAcross gives every vertex its position across the layers: as near to its
// neighbours as the order of its layer and the room of the others allow.
func (s *layered) placeAcross(room func(v int) float64) {
	s.across = make([]float64, len(s.layer))
	for _, vertices := range s.order {
		at := 0.0
		for _, v := range vertices {
			s.across[v] = at + room(v)/2
			at += room(v)
		}
	}
	for sweep := range acrossSweeps {
		for i := range s.order {
			switch {
			case sweep >= oneSidedSweeps:
				s.alignLayer(i, room, s.wantMiddle(s.prev, s.next))
			case sweep%2 == 0:
				s.alignLayer(i, room, s.wantMiddle(s.prev))
			default:
				s.alignLayer(len(s.order)-1-i, room, s.wantMiddle(s.next))
			}
		}
	}
	for range straightenRuns {
		for i := range s.order {
			s.alignLayer(i, room, s.wantStraight)
		}
		for i := range s.order {
			s.alignLayer(len(s.order)-1-i, room, s.wantStraight)
		}
	}
	least := 0.0
	for v, at := range s.across {
		if from := at - room(v)/2; v == 0 || from < least {
			least = from
		}
	}
	for v := range s.across {
		s.across[v] -= least
	}
}

// block is a run of vertices that touch each other.
type block struct {
	count        int
	weight, want float64 // want is the weighted mean of the positions that they want
}

// alignLayer moves the vertices of one layer towards the positions that they
// want. The result is the least-squares answer under the condition that vertices
// keep their order and their distance: isotonic regression, which merges
// neighbours that would overlap into blocks.
func (s *layered) alignLayer(layer int, room func(v int) float64, wanted func(v int) (want, weight float64)) {
	vertices := s.order[layer]
	blocks := make([]block, 0, len(vertices))
	offset, offsets := 0.0, make([]float64, len(vertices))
	for i, v := range vertices {
		if i > 0 {
			offset += (room(vertices[i-1]) + room(v)) / 2
		}
		offsets[i] = offset
		want, weight := wanted(v)
		b := block{1, weight, want - offset}
		for len(blocks) > 0 && blocks[len(blocks)-1].want > b.want {
			last := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			sum := last.weight + b.weight
			b = block{last.count + b.count, sum, (last.want*last.weight + b.want*b.weight) / sum}
		}
		blocks = append(blocks, b)
	}
	i := 0
	for _, b := range blocks {
		for range b.count {
			s.across[vertices[i]] = b.want + offsets[i]
			i++
		}
	}
}

// wantMiddle wants every vertex in the middle of its neighbours on these sides.
func (s *layered) wantMiddle(sides ...[][]int) func(v int) (want, weight float64) {
	return func(v int) (want, weight float64) {
		for _, neighbours := range sides {
			for _, u := range neighbours[v] {
				w := 1.0
				if v >= s.nodes && u >= s.nodes {
					w = bendWeight
				}
				want += w * s.across[u]
				weight += w
			}
		}
		if weight == 0 {
			return s.across[v], 0.01
		}
		return want / weight, weight
	}
}

// wantStraight keeps nodes where they are, and wants every bend in line with the
// vertex that it leads to: a line runs straight as far as it can, then turns once.
func (s *layered) wantStraight(v int) (want, weight float64) {
	if v < s.nodes {
		return s.across[v], fixedNodeWeight
	}
	return s.across[s.leads[v-s.nodes]], 1
}
