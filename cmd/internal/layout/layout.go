// Package layout computes where the boxes and lines of a graph are drawn. It is
// arithmetic over numbered nodes: it knows nothing of resources, reports or SVG.
//
// Nodes are placed in layers, upstream first. A layer is a column, or a row
// where the graph is much longer than wide. The steps follow Sugiyama: reverse
// the links that close a cycle, assign layers, order each layer so that few
// links cross, then assign coordinates.
package layout

import (
	"cmp"
	"math"
	"slices"
)

// Drawing holds the position of every node and link, in pixels from the top
// left corner.
type Drawing struct {
	Width, Height int
	Boxes         []Box   // by node
	Curves        []Curve // by link; a link that cannot be drawn has no points
}

// Box is the rectangle of a node: its top left corner and its size.
type Box struct{ X, Y, W, H int }

// Point is a position in a drawing.
type Point struct{ X, Y int }

// Curve is the line of a link. Its points come in pairs: the end of one stretch
// and the beginning of the next.
type Curve struct {
	Points   []Point
	Down     bool // stretches run downwards; otherwise to the right
	Reversed bool // the link closes a cycle: its arrow points back to the first point
}

// Link is an edge between two numbered nodes.
type Link struct{ From, To int }

const (
	boxHeight = 28
	boxGap    = 10   // between the boxes of a layer
	columnGap = 56   // between layers that are columns
	rowGap    = 34   // between layers that are rows
	partGap   = 28   // between the connected parts of a graph
	pageWidth = 1180 // the width of a page without scrolling
)

// Place returns a drawing of nodes with these widths, in pixels, and of the
// links between them. A link must not join a node to itself.
func Place(widths []int, links []Link) Drawing {
	d := Drawing{Boxes: make([]Box, len(widths)), Curves: make([]Curve, len(links))}
	links, reversed := reverseCycleLinks(len(widths), links)
	for i := range d.Curves {
		d.Curves[i].Reversed = reversed[i]
	}
	groups, single := splitConnected(len(widths), links)
	var parts []part
	for _, nodes := range groups {
		parts = append(parts, placePart(nodes, widths, links))
	}
	// The page grows with the area of the parts, so that a graph of many parts
	// has about the shape of a screen.
	page := pageWidth
	area := 0
	for _, p := range parts {
		page = max(page, p.width)
		area += (p.width + partGap) * (p.height + partGap)
	}
	page = max(page, int(math.Sqrt(float64(area)*1.8)))
	d.placeParts(parts, page)
	d.placeSingle(single, widths, page)
	return d
}

// part is one connected part of a graph, drawn from its own top left corner.
type part struct {
	width, height int
	nodes         []int // their numbers in the whole graph
	boxes         []Box
	links         []int // their numbers in the whole graph
	curves        []Curve
}

// placeParts puts the parts side by side on shelves, the tallest first.
func (d *Drawing) placeParts(parts []part, page int) {
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.height, a.height) })
	x, y, shelf := 0, 0, 0
	for _, p := range parts {
		if x > 0 && x+p.width > page {
			x, y, shelf = 0, y+shelf+partGap, 0
		}
		for i, n := range p.nodes {
			b := p.boxes[i]
			d.Boxes[n] = Box{b.X + x, b.Y + y, b.W, b.H}
		}
		for i, n := range p.links {
			for _, at := range p.curves[i].Points {
				d.Curves[n].Points = append(d.Curves[n].Points, Point{at.X + x, at.Y + y})
			}
			d.Curves[n].Down = p.curves[i].Down
		}
		d.Width, d.Height = max(d.Width, x+p.width), max(d.Height, y+p.height)
		x, shelf = x+p.width+partGap, max(shelf, p.height)
	}
}

// placeSingle puts the nodes without links below the parts, in columns.
func (d *Drawing) placeSingle(nodes, widths []int, page int) {
	if len(nodes) == 0 {
		return
	}
	widest := 0
	for _, n := range nodes {
		widest = max(widest, widths[n])
	}
	columns := max(1, (page+boxGap)/(widest+boxGap))
	top := d.Height
	if top > 0 {
		top += partGap
	}
	for i, n := range nodes {
		b := Box{(i % columns) * (widest + boxGap), top + (i/columns)*(boxHeight+boxGap), widest, boxHeight}
		d.Boxes[n] = b
		d.Width, d.Height = max(d.Width, b.X+b.W), max(d.Height, b.Y+b.H)
	}
}
