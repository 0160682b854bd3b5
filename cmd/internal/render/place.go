package render

import "slices"

// layPart draws one connected part of a graph.
func layPart(nodes, widths []int, links []link) part {
	p := part{nodes: nodes}
	number := make(map[int]int, len(nodes))
	wide := make([]int, len(nodes))
	for i, n := range nodes {
		number[n], wide[i] = i, widths[n]
	}
	var own []link
	for i, l := range links {
		if from, ok := number[l.from]; ok {
			own = append(own, link{from, number[l.to]})
			p.links = append(p.links, i)
		}
	}
	s := sketched(len(nodes), own)
	columns := s.columns(wide)
	if total := len(s.order) * (slices.Max(wide) + layerGap); total > 2*pageWidth && s.rowWidth(wide) < total {
		s.rows(&p, wide)
	} else {
		s.draw(&p, columns)
	}
	return p
}

// frame is where the layers stand and how much room a vertex takes in its layer.
type frame struct {
	from, to []int // of each layer, along the direction of the links
	room     func(v int) float64
	down     bool // layers are rows
	size     func(v int) (w, h int)
}

// columns is the usual frame: links go to the right, boxes of a layer are equally wide.
func (s *sketch) columns(wide []int) frame {
	f := frame{room: func(v int) float64 {
		if v < s.real {
			return boxHeight + boxGap
		}
		return boxGap
	}}
	x := 0
	widest := make([]int, len(s.order))
	for l, vertices := range s.order {
		for _, v := range vertices {
			if v < s.real {
				widest[l] = max(widest[l], wide[v])
			}
		}
		f.from, f.to = append(f.from, x), append(f.to, x+widest[l])
		x += widest[l] + layerGap
	}
	f.size = func(v int) (int, int) { return widest[s.layer[v]], boxHeight }
	return f
}

// rowWidth is how wide the part is when layers are rows.
func (s *sketch) rowWidth(wide []int) int {
	widest := 0
	for _, vertices := range s.order {
		width := 0
		for _, v := range vertices {
			if v < s.real {
				width += wide[v]
			}
			width += 2 * boxGap
		}
		widest = max(widest, width)
	}
	return widest
}

// rows draws a part that is much longer than wide from top to bottom.
func (s *sketch) rows(p *part, wide []int) {
	f := frame{down: true, room: func(v int) float64 {
		if v < s.real {
			return float64(wide[v] + 2*boxGap)
		}
		return 2 * boxGap
	}}
	for l := range s.order {
		y := l * (boxHeight + rowGap)
		f.from, f.to = append(f.from, y), append(f.to, y+boxHeight)
	}
	f.size = func(v int) (int, int) { return wide[v], boxHeight }
	s.draw(p, f)
}

// draw places all vertices in a frame, and turns them into boxes and curves.
func (s *sketch) draw(p *part, f frame) {
	s.relax(f.room)
	for v := range s.real {
		w, h := f.size(v)
		along, centre := f.from[s.layer[v]], s.across[v]
		b := box{along, int(centre) - h/2, w, h}
		if f.down {
			b = box{int(centre) - w/2, along, w, h}
		}
		p.boxes = append(p.boxes, b)
		p.width, p.height = max(p.width, b.x+b.w), max(p.height, b.y+b.h)
	}
	for _, path := range s.paths {
		c := curve{down: f.down}
		put := func(v, along int) {
			at := point{along, int(s.across[v])}
			if f.down {
				at = point{at.y, at.x}
			}
			c.points = append(c.points, at)
			p.width, p.height = max(p.width, at.x), max(p.height, at.y)
		}
		for i, v := range path {
			if i > 0 {
				put(v, f.from[s.layer[v]])
			}
			if i < len(path)-1 {
				put(v, f.to[s.layer[v]])
			}
		}
		p.curves = append(p.curves, c)
	}
}

// relax gives every vertex its place across: as near to its neighbours as the
// order of its layer and the room of the others allow.
func (s *sketch) relax(room func(v int) float64) {
	s.across = make([]float64, len(s.layer))
	for _, vertices := range s.order {
		at := 0.0
		for _, v := range vertices {
			s.across[v] = at + room(v)/2
			at += room(v)
		}
	}
	for sweep := range 16 {
		for i := range s.order {
			switch {
			case sweep >= 12:
				s.align(i, room, s.between(s.prev, s.next))
			case sweep%2 == 0:
				s.align(i, room, s.between(s.prev))
			default:
				s.align(len(s.order)-1-i, room, s.between(s.next))
			}
		}
	}
	for range 2 {
		for i := range s.order {
			s.align(i, room, s.straight)
		}
		for i := range s.order {
			s.align(len(s.order)-1-i, room, s.straight)
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
	weight, want float64 // want is the weighted mean of where they would like to stand
}

// align moves one layer towards its neighbours. It is the least-squares answer
// under the condition that vertices keep their order and their distance:
// isotonic regression, by pooling neighbours that get into each other's way.
func (s *sketch) align(layer int, room func(v int) float64, wanted func(v int) (want, weight float64)) {
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

// between wants every vertex in the middle of its neighbours on these sides.
// Bends hold on to each other.
func (s *sketch) between(sides ...[][]int) func(v int) (want, weight float64) {
	return func(v int) (want, weight float64) {
		for _, beside := range sides {
			for _, u := range beside[v] {
				w := 1.0
				if v >= s.real && u >= s.real {
					w = 8
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

// straight leaves nodes where they are, and wants every bend in line with what
// it leads to: a line should go straight as far as it can, and then turn once.
func (s *sketch) straight(v int) (want, weight float64) {
	if v < s.real {
		return s.across[v], 1000
	}
	return s.across[s.leads[v-s.real]], 1
}
