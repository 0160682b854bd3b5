package layout

import "slices"

// placePart draws one connected part of a graph.
func placePart(nodes, widths []int, links []Link) part {
	p := part{nodes: nodes}
	number := make(map[int]int, len(nodes))
	wide := make([]int, len(nodes))
	for i, n := range nodes {
		number[n], wide[i] = i, widths[n]
	}
	var own []Link
	for i, l := range links {
		if from, ok := number[l.From]; ok {
			own = append(own, Link{from, number[l.To]})
			p.links = append(p.links, i)
		}
	}
	s := arrangeLayers(len(nodes), own)
	columns := s.columnFrame(wide)
	if total := len(s.order) * (slices.Max(wide) + columnGap); total > 2*pageWidth && s.rowWidth(wide) < total {
		s.draw(&p, s.rowFrame(wide))
	} else {
		s.draw(&p, columns)
	}
	return p
}

// frame holds where the layers stand and how much room a vertex takes in its layer.
type frame struct {
	from, to []int // by layer, along the direction of the links
	room     func(v int) float64
	down     bool // layers are rows
	size     func(v int) (w, h int)
}

// columnFrame is the usual frame: links run to the right, the boxes of a layer
// are equally wide.
func (s *layered) columnFrame(wide []int) frame {
	f := frame{room: func(v int) float64 {
		if v < s.nodes {
			return boxHeight + boxGap
		}
		return boxGap
	}}
	x := 0
	widest := make([]int, len(s.order))
	for l, vertices := range s.order {
		for _, v := range vertices {
			if v < s.nodes {
				widest[l] = max(widest[l], wide[v])
			}
		}
		f.from, f.to = append(f.from, x), append(f.to, x+widest[l])
		x += widest[l] + columnGap
	}
	f.size = func(v int) (int, int) { return widest[s.layer[v]], boxHeight }
	return f
}

// rowFrame is the frame of a part that is much longer than wide: links run
// downwards.
func (s *layered) rowFrame(wide []int) frame {
	f := frame{down: true, room: func(v int) float64 {
		if v < s.nodes {
			return float64(wide[v] + 2*boxGap)
		}
		return 2 * boxGap
	}}
	for l := range s.order {
		y := l * (boxHeight + rowGap)
		f.from, f.to = append(f.from, y), append(f.to, y+boxHeight)
	}
	f.size = func(v int) (int, int) { return wide[v], boxHeight }
	return f
}

// rowWidth returns the width of the part when its layers are rows.
func (s *layered) rowWidth(wide []int) int {
	widest := 0
	for _, vertices := range s.order {
		width := 0
		for _, v := range vertices {
			if v < s.nodes {
				width += wide[v]
			}
			width += 2 * boxGap
		}
		widest = max(widest, width)
	}
	return widest
}

// draw places all vertices in a frame, and turns them into boxes and curves.
func (s *layered) draw(p *part, f frame) {
	s.placeAcross(f.room)
	for v := range s.nodes {
		w, h := f.size(v)
		along, centre := f.from[s.layer[v]], s.across[v]
		b := Box{along, int(centre) - h/2, w, h}
		if f.down {
			b = Box{int(centre) - w/2, along, w, h}
		}
		p.boxes = append(p.boxes, b)
		p.width, p.height = max(p.width, b.X+b.W), max(p.height, b.Y+b.H)
	}
	for _, path := range s.paths {
		c := Curve{Down: f.down}
		addPoint := func(v, along int) {
			at := Point{along, int(s.across[v])}
			if f.down {
				at = Point{at.Y, at.X}
			}
			c.Points = append(c.Points, at)
			p.width, p.height = max(p.width, at.X), max(p.height, at.Y)
		}
		for i, v := range path {
			if i > 0 {
				addPoint(v, f.from[s.layer[v]])
			}
			if i < len(path)-1 {
				addPoint(v, f.to[s.layer[v]])
			}
		}
		p.curves = append(p.curves, c)
	}
}
