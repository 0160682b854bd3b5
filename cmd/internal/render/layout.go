package render

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A drawing of a graph has its resources in layers, upstream first: a layer is
// a column, or a row where the graph is much longer than wide. Everything here
// is arithmetic over numbered nodes; what it looks like is in svg.go.

// drawing says where everything of a graph stands, in pixels.
type drawing struct {
	width, height int
	boxes         []box   // by node
	curves        []curve // by edge; an edge that cannot be drawn has none
}

type box struct{ x, y, w, h int }

type point struct{ x, y int }

// curve is a line from a box to a box: bends come in pairs, the end of one
// stretch and the beginning of the next.
type curve struct {
	points []point
	down   bool // stretches go downwards
	turned bool // it closes a loop: its arrow points back to where it begins
}

// link is an edge between numbered nodes.
type link struct{ from, to int }

const (
	boxHeight = 28
	boxGap    = 10   // between boxes of a layer
	layerGap  = 56   // between columns
	rowGap    = 34   // between rows
	partGap   = 28   // between parts of the graph that do not hang together
	pageWidth = 1180 // what fits on a page beside nothing
)

// lay places nodes of these widths, and the links between them.
func lay(widths []int, links []link) drawing {
	d := drawing{boxes: make([]box, len(widths)), curves: make([]curve, len(links))}
	links, turned := unlooped(len(widths), links)
	for i := range d.curves {
		d.curves[i].turned = turned[i]
	}
	parts, single := connected(len(widths), links)
	var drawn []part
	for _, nodes := range parts {
		drawn = append(drawn, layPart(nodes, widths, links))
	}
	page := pageWidth
	area := 0
	for _, p := range drawn {
		page = max(page, p.width)
		area += (p.width + partGap) * (p.height + partGap)
	}
	page = max(page, int(math.Sqrt(float64(area)*1.8)))
	d.shelve(drawn, page)
	d.grid(single, widths, page)
	return d
}

// unlooped turns the links round that close a loop, so that layers are possible.
func unlooped(n int, links []link) (straight []link, turned []bool) {
	straight, turned = slices.Clone(links), make([]bool, len(links))
	out := make([][]int, n) // links by source
	for i, l := range links {
		out[l.from] = append(out[l.from], i)
	}
	const unseen, open, closed = 0, 1, 2
	state, at := make([]int, n), make([]int, n) // at: the next link of an open node
	for start := range n {
		if state[start] != unseen {
			continue
		}
		state[start] = open
		for stack := []int{start}; len(stack) > 0; {
			v := stack[len(stack)-1]
			if at[v] == len(out[v]) {
				state[v] = closed
				stack = stack[:len(stack)-1]
				continue
			}
			i := out[v][at[v]]
			at[v]++
			switch to := links[i].to; state[to] {
			case unseen:
				state[to] = open
				stack = append(stack, to)
			case open:
				straight[i], turned[i] = link{to, v}, true
			}
		}
	}
	return straight, turned
}

// connected returns the parts of a graph that hang together, each in the order
// of its nodes, and the nodes without any link.
func connected(n int, links []link) (parts [][]int, single []int) {
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
		linked[l.from], linked[l.to] = true, true
		a, b := find(l.from), find(l.to)
		root[max(a, b)] = min(a, b)
	}
	at := map[int]int{}
	for i := range n {
		switch r := find(i); {
		case !linked[i]:
			single = append(single, i)
		default:
			if _, ok := at[r]; !ok {
				at[r] = len(parts)
				parts = append(parts, nil)
			}
			parts[at[r]] = append(parts[at[r]], i)
		}
	}
	return parts, single
}

// part is one connected part, drawn from its own corner.
type part struct {
	width, height int
	nodes         []int // their numbers in the whole
	boxes         []box
	links         []int // their numbers in the whole
	curves        []curve
}

// shelve puts parts side by side on shelves, the tallest first.
func (d *drawing) shelve(parts []part, page int) {
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.height, a.height) })
	x, y, shelf := 0, 0, 0
	for _, p := range parts {
		if x > 0 && x+p.width > page {
			x, y, shelf = 0, y+shelf+partGap, 0
		}
		for i, n := range p.nodes {
			b := p.boxes[i]
			d.boxes[n] = box{b.x + x, b.y + y, b.w, b.h}
		}
		for i, n := range p.links {
			for _, at := range p.curves[i].points {
				d.curves[n].points = append(d.curves[n].points, point{at.x + x, at.y + y})
			}
			d.curves[n].down = p.curves[i].down
		}
		d.width, d.height = max(d.width, x+p.width), max(d.height, y+p.height)
		x, shelf = x+p.width+partGap, max(shelf, p.height)
	}
}

// grid puts what hangs on nothing below the rest, in columns.
func (d *drawing) grid(nodes, widths []int, page int) {
	if len(nodes) == 0 {
		return
	}
	widest := 0
	for _, n := range nodes {
		widest = max(widest, widths[n])
	}
	columns := max(1, (page+boxGap)/(widest+boxGap))
	top := d.height
	if top > 0 {
		top += partGap
	}
	for i, n := range nodes {
		b := box{(i % columns) * (widest + boxGap), top + (i/columns)*(boxHeight+boxGap), widest, boxHeight}
		d.boxes[n] = b
		d.width, d.height = max(d.width, b.x+b.w), max(d.height, b.y+b.h)
	}
}

// wide are the ranges of what takes two columns: the scripts of East Asia and pictures.
var wide = [][2]rune{
	{0x1100, 0x115f},
	{0x2e80, 0xa4cf},
	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},
	{0xfe30, 0xfe6f},
	{0xff00, 0xff60},
	{0x1f300, 0x1faff},
	{0x20000, 0x3ffff},
}

// Cells counts the columns that a text takes in a monospaced font.
func Cells(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r >= wide[0][0] && slices.ContainsFunc(wide, func(w [2]rune) bool { return w[0] <= r && r <= w[1] }) {
			n++
		}
	}
	return n
}

// Shorten cuts a text to so many cells, visibly.
func Shorten(text string, most int) string {
	if Cells(text) <= most {
		return text
	}
	var b strings.Builder
	n := 1
	for _, r := range text {
		if n += Cells(string(r)); n > most {
			break
		}
		b.WriteRune(r)
	}
	return b.String() + "…"
}
