package render

import (
	_ "embed" // the style sheet of the graph
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/settle-cm/settle/cmd/internal/layout"
	"github.com/settle-cm/settle/model"
)

//go:embed assets/graph.css
var graphCSS string

const (
	cellWidth = 6.65 // of the graph's font: 11 pixels, monospaced
	maxLabel  = 30   // cells
	labelPad  = 11   // left and right of a label
)

// figure is a graph that is ready to be drawn: with the style, the tooltip and the
// link target of each node.
type figure struct {
	Graph
	styles []style            // by node; may be missing
	titles func(n int) string // the tooltip of a node; may be nil
	legend []edgeStyle        // of edges, where no page around the drawing has one
	target func(n int) string // the link target of a node; may be nil
}

// edgeStyle explains how the edges of one kind are drawn.
type edgeStyle struct{ Class, Text string }

var edgeStyles = []edgeStyle{
	{"subscribe", "a change refreshes it"},
	{"require", "runs before it"},
	{"parent", "is its parent directory"},
	{"loop", "part of a dependency cycle"},
}

// usedEdgeStyles returns the styles that occur among edges.
func usedEdgeStyles(edges []Edge) []edgeStyle {
	used := map[string]bool{}
	for _, e := range edges {
		used[e.Kind] = true
		used["loop"] = used["loop"] || e.Loop
	}
	return slices.DeleteFunc(slices.Clone(edgeStyles), func(s edgeStyle) bool { return !used[s.Class] })
}

// The legend below a drawing: a line and its text for each style, in one column.
const (
	legendLine   = 18 // pixels between two lines
	legendSample = 34 // pixels of a sample edge
)

// writeLegend writes the legend of a drawing that no page explains, from y downwards.
func writeLegend(b *strings.Builder, styles []edgeStyle, y int) {
	for i, s := range styles {
		at := y + i*legendLine
		fmt.Fprintf(b, `<g class="legend"><g class="sample edge %s"><path d="M0 %dh%d"/><path class="tip" d="M%d %dl-7 -4v8z"/></g><text class="note" x="%d" y="%d">%s</text></g>`+"\n",
			s.Class, at, legendSample-6, legendSample, at, legendSample+8, at+4, s.Text)
	}
}

// renderSVG returns a graph as a picture that needs no other file and follows the
// reader's light or dark theme.
func renderSVG(g Graph) []byte {
	f := newFigure(g)
	f.legend = usedEdgeStyles(g.Edges)
	return []byte(f.svg("<style>" + graphCSS + "</style>\n"))
}

// newFigure takes the styles from the statuses of the nodes, where they have any.
func newFigure(g Graph) figure {
	f := figure{Graph: g}
	for i, n := range g.Nodes {
		var s model.Status
		if n.Status == "" || s.UnmarshalText([]byte(n.Status)) != nil {
			continue
		}
		if f.styles == nil {
			f.styles = make([]style, len(g.Nodes))
		}
		f.styles[i] = statusStyle(s)
	}
	return f
}

// svg returns the drawing. Head is inserted at its beginning: the style sheet, when
// no page around the drawing has one.
func (f *figure) svg(head string) string {
	number := make(map[string]int, len(f.Nodes))
	widths := make([]int, len(f.Nodes))
	labels := make([]string, len(f.Nodes))
	for i, n := range f.Nodes {
		number[n.ID] = i
		labels[i] = Shorten(Escape(n.ID), maxLabel)
		widths[i] = int(float64(Cells(labels[i])+f.markerCells())*cellWidth) + 2*labelPad
	}
	var links []layout.Link
	var classes []string
	for _, e := range f.Edges {
		from, known := number[e.From]
		to, also := number[e.To]
		if known && also && from != to {
			class := e.Kind
			if e.Loop {
				class += " loop"
			}
			links, classes = append(links, layout.Link{From: from, To: to}), append(classes, class)
		}
	}
	d := layout.Place(widths, links)
	legendTop := d.Height
	if len(f.legend) > 0 {
		legendTop += 24
		d.Height = legendTop + (len(f.legend)-1)*legendLine + 8
		d.Width = max(d.Width, 240)
	}
	var b strings.Builder
	const margin = 4
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="graph" width="%d" height="%d" viewBox="%d %d %d %d" role="group" aria-label="Graph of %s">`+"\n",
		d.Width+2*margin, d.Height+2*margin, -margin, -margin, d.Width+2*margin, d.Height+2*margin, countOf(len(f.Nodes), "resource"))
	b.WriteString(head)
	for i, c := range d.Curves {
		if len(c.Points) > 0 {
			fmt.Fprintf(&b, `<g class="edge %s" data-f="%d" data-t="%d"><path d="%s"/><path class="tip" d="%s"/></g>`+"\n",
				html.EscapeString(classes[i]), links[i].From, links[i].To, curvePath(&c), curveTip(&c))
		}
	}
	for i := range f.Nodes {
		f.node(&b, i, d.Boxes[i], labels[i])
	}
	writeLegend(&b, f.legend, legendTop)
	b.WriteString("</svg>\n")
	return b.String()
}

func (f *figure) markerCells() int {
	if f.styles == nil {
		return 0
	}
	return 2
}

func (f *figure) style(n int) style {
	if n < len(f.styles) && f.styles[n].Tone != "" {
		return f.styles[n]
	}
	return unknownStyle
}

func (f *figure) node(b *strings.Builder, n int, at layout.Box, label string) {
	l := f.style(n)
	open, end := "<g", "</g>"
	if f.target != nil {
		open, end = fmt.Sprintf(`<a href="%s"`, html.EscapeString(f.target(n))), "</a>"
	}
	title := Escape(f.Nodes[n].ID)
	if f.titles != nil {
		title = f.titles(n)
	}
	fmt.Fprintf(b, `%s class="node %s" data-n="%d"><title>%s</title><path d="%s"/><text x="%d" y="%d">`,
		open, l.Tone, n, html.EscapeString(title), outlinePath(l.Tone, at), at.X+labelPad, at.Y+at.H/2+4)
	if l.Marker != "" {
		fmt.Fprintf(b, `<tspan class="mark">%s</tspan> `, html.EscapeString(l.Marker))
	}
	if kind, name, ok := strings.Cut(label, "#"); ok {
		fmt.Fprintf(b, `<tspan class="type">%s#</tspan>%s`, html.EscapeString(kind), html.EscapeString(name))
	} else {
		b.WriteString(html.EscapeString(label))
	}
	b.WriteString("</text>" + end + "\n")
}

// outlinePath returns the shape of a tone.
func outlinePath(tone string, b layout.Box) string {
	x, y, w, h := b.X, b.Y, b.W, b.H
	switch tone {
	case "run": // a pill
		r := h / 2
		return fmt.Sprintf("M%d %dh%da%d %d 0 0 1 0 %dh%da%d %d 0 0 1 0 %dz", x+r, y, w-2*r, r, r, h, 2*r-w, r, r, -h)
	case "change": // one cut corner
		return fmt.Sprintf("M%d %dh%dl9 9v%dh%dz", x, y, w-9, h-9, -w)
	case "remove": // two cut corners, below
		return fmt.Sprintf("M%d %dh%dv%dl-7 7h%dl-7 -7z", x, y, w, h-7, 14-w)
	case "fresh": // leans to the right
		return fmt.Sprintf("M%d %dh%dl-7 %dh%dz", x+7, y, w-7, h, 7-w)
	case "may": // pointed ends
		return fmt.Sprintf("M%d %dh%dl8 %dl-8 %dh%dl-8 %dz", x+8, y, w-16, h/2, h/2, 16-w, -h/2)
	case "bad": // cut corners
		return fmt.Sprintf("M%d %dh%dl7 7v%dl-7 7h%dl-7 -7v%dz", x+7, y, w-14, h-14, 14-w, 14-h)
	case "off": // sharp corners
		return fmt.Sprintf("M%d %dh%dv%dh%dz", x, y, w, h, -w)
	}
	const r = 5
	return fmt.Sprintf("M%d %dh%dq%d 0 %d %dv%dq0 %d %d %dh%dq%d 0 %d %dv%dq0 %d %d %dz",
		x+r, y, w-2*r, r, r, r, h-2*r, r, -r, r, 2*r-w, -r, -r, -r, 2*r-h, -r, r, -r)
}

// tipLength is how far the tip of an arrow reaches.
const tipLength = 7

// curvePath draws a curve: straight past a layer, bent between two.
func curvePath(c *layout.Curve) string {
	var b strings.Builder
	for i, p := range c.Points {
		switch {
		case i == 0:
			if c.Reversed {
				p = moveAlong(c, p, tipLength)
			}
			fmt.Fprintf(&b, "M%d %d", p.X, p.Y)
			continue
		case i%2 == 0:
			fmt.Fprintf(&b, "L%d %d", p.X, p.Y)
			continue
		}
		from := c.Points[i-1]
		if i == 1 && c.Reversed {
			from = moveAlong(c, from, tipLength)
		}
		if i == len(c.Points)-1 && !c.Reversed {
			p = moveAlong(c, p, -tipLength)
		}
		if c.Down {
			half := (p.Y - from.Y) / 2
			fmt.Fprintf(&b, "C%d %d %d %d %d %d", from.X, from.Y+half, p.X, p.Y-half, p.X, p.Y)
		} else {
			half := (p.X - from.X) / 2
			fmt.Fprintf(&b, "C%d %d %d %d %d %d", from.X+half, from.Y, p.X-half, p.Y, p.X, p.Y)
		}
	}
	return b.String()
}

// moveAlong returns a point moved along the direction of the curve.
func moveAlong(c *layout.Curve, p layout.Point, by int) layout.Point {
	if c.Down {
		return layout.Point{X: p.X, Y: p.Y + by}
	}
	return layout.Point{X: p.X + by, Y: p.Y}
}

// curveTip draws the arrow at the end of a curve, or at its beginning when it is reversed.
func curveTip(c *layout.Curve) string {
	p, length := c.Points[len(c.Points)-1], -tipLength
	if c.Reversed {
		p, length = c.Points[0], tipLength
	}
	if c.Down {
		return fmt.Sprintf("M%d %dl-4 %dh8z", p.X, p.Y, length)
	}
	return fmt.Sprintf("M%d %dl%d -4v8z", p.X, p.Y, length)
}
