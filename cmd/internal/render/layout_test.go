package render

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
)

// shapes are graphs as manifests have them, and a few that nobody has.
func shapes() map[string]struct {
	n     int
	links []link
} {
	type shape = struct {
		n     int
		links []link
	}
	all := map[string]shape{"empty": {}, "one": {n: 1}, "singles": {n: 100}}
	var out, in, chain, tree, both []link
	for i := 1; i < 300; i++ {
		out, in = append(out, link{0, i}), append(in, link{i - 1, 299})
	}
	for i := 1; i < 60; i++ {
		chain, tree = append(chain, link{i - 1, i}), append(tree, link{(i - 1) / 3, i})
	}
	for i := 1; i < 21; i++ {
		both = append(both, link{0, i}, link{i, 21})
	}
	all["fan out"], all["fan in"], all["chain"], all["tree"], all["diamond"] = shape{300, out}, shape{300, in}, shape{60, chain}, shape{60, tree}, shape{22, both}
	for seed := range 20 {
		rnd := rand.New(rand.NewPCG(7, uint64(seed)))
		s := shape{n: 2 + rnd.IntN(80)}
		for range rnd.IntN(3 * s.n) {
			if a, b := rnd.IntN(s.n), rnd.IntN(s.n); a < b {
				s.links = append(s.links, link{a, b})
			}
		}
		all[fmt.Sprint("random ", seed)] = s
	}
	return all
}

func TestDrawing(t *testing.T) {
	for name, s := range shapes() {
		t.Run(name, func(t *testing.T) {
			widths := make([]int, s.n)
			for i := range widths {
				widths[i] = 60 + i*37%140
			}
			d := lay(widths, s.links)
			for i, a := range d.boxes {
				if a.x < 0 || a.y < 0 || a.x+a.w > d.width || a.y+a.h > d.height || a.w < widths[i] || a.h != boxHeight {
					t.Fatalf("box %d is %+v in %d × %d", i, a, d.width, d.height)
				}
				for j, b := range d.boxes[:i] {
					if a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h {
						t.Fatalf("boxes %d and %d overlap: %+v %+v", i, j, a, b)
					}
				}
			}
			for i, l := range s.links {
				from, to, c := d.boxes[l.from], d.boxes[l.to], d.curves[i]
				if len(c.points) < 2 || c.turned {
					t.Fatalf("link %d is not drawn", i)
				}
				first, last := c.points[0], c.points[len(c.points)-1]
				if c.down && (first.y != from.y+from.h || last.y != to.y) || !c.down && (first.x != from.x+from.w || last.x != to.x) {
					t.Fatalf("link %d from %+v to %+v is %+v", i, from, to, c)
				}
				if !slices.IsSortedFunc(c.points, func(a, b point) int {
					if c.down {
						return a.y - b.y
					}
					return a.x - b.x
				}) {
					t.Fatalf("link %d goes back: %+v", i, c.points)
				}
			}
		})
	}
}

func TestDrawingsFitAScreenOrTwo(t *testing.T) {
	all := shapes()
	for name, most := range map[string]point{"fan out": {2000, 1300}, "fan in": {2000, 1300}, "chain": {300, 4000}, "tree": {1200, 1800}, "singles": {1300, 600}} {
		widths := make([]int, all[name].n)
		for i := range widths {
			widths[i] = 110
		}
		if d := lay(widths, all[name].links); d.width > most.x || d.height > most.y {
			t.Errorf("%s is %d × %d", name, d.width, d.height)
		}
	}
}

// A manifest with a loop is invalid, but its graph is what shows the loop.
func TestLoopsAreDrawn(t *testing.T) {
	links := []link{{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 3}}
	d := lay([]int{80, 80, 80, 80}, links[:4])
	turned := 0
	for i, c := range d.curves {
		if len(c.points) == 0 {
			t.Errorf("link %d is not drawn", i)
		}
		if c.turned {
			turned++
		}
	}
	if turned != 1 || !d.curves[2].turned {
		t.Errorf("%d links close the loop", turned)
	}
	g := Graph{Nodes: []Node{{ID: "a#a"}}, Edges: []Edge{{From: "a#a", To: "a#a"}, {From: "a#a", To: "b#nobody"}}}
	if out := string(svg(g)); strings.Contains(out, `class="edge`) {
		t.Errorf("a link to itself or to nobody is drawn: %s", out)
	}
}

func TestUntangle(t *testing.T) {
	s := &sketch{real: 6, layer: []int{0, 0, 0, 1, 1, 1}}
	s.arrange([]link{{0, 5}, {1, 4}, {2, 3}})
	at := make([]int, 6)
	if n := s.crossings(at); n != 3 {
		t.Fatalf("%d crossings to begin with", n)
	}
	s.untangle()
	if n := s.crossings(at); n != 0 {
		t.Errorf("%d crossings are left", n)
	}
}

// What nobody can read may be drawn badly, but not for ever.
func TestHugeGraphsStayBounded(t *testing.T) {
	var g Graph
	for i := range 5_000 {
		g.Nodes = append(g.Nodes, Node{ID: fmt.Sprint("exec#", i)})
		if i > 0 {
			g.Edges = append(g.Edges, Edge{From: g.Nodes[i-1].ID, To: g.Nodes[i].ID}, Edge{From: g.Nodes[0].ID, To: g.Nodes[i].ID})
		}
	}
	if n := len(svg(g)); n > 10<<20 {
		t.Errorf("%d bytes", n)
	}
}

func TestShorten(t *testing.T) {
	for _, row := range []struct {
		in   string
		most int
		want string
	}{
		{"exec#a", 6, "exec#a"}, {"exec#ab", 6, "exec#…"}, {"日本語", 6, "日本語"}, {"日本語", 5, "日本…"}, {"", 3, ""},
	} {
		if got := Shorten(row.in, row.most); got != row.want || Cells(got) > row.most {
			t.Errorf("Shorten(%q, %d) = %q of %d cells, want %q", row.in, row.most, got, Cells(got), row.want)
		}
	}
}

func TestLanes(t *testing.T) {
	var r model.Report
	for range 5 {
		r.Resources = append(r.Resources, model.Outcome{Attempts: 1})
	}
	r.Resources[4].Attempts = 0
	s := func(from, to int) Span { return Span{time.Duration(from), time.Duration(to)} }
	bars, n, end, hidden := lanes(&r, []Span{s(0, 500), s(10, 20), {}, s(20, 500), s(499, 500)})
	if n != 2 || end != 500 || hidden != 1 || len(bars) != 3 {
		t.Fatalf("%d bars in %d lanes to %v, %d hidden", len(bars), n, end, hidden)
	}
	for i, want := range []int{0, 1, 1} {
		if bars[i].lane != want {
			t.Errorf("bar %d is in lane %d", i, bars[i].lane)
		}
	}
}

func TestTicks(t *testing.T) {
	for end, want := range map[time.Duration]string{
		0:                         "0",
		7 * time.Millisecond:      "0 1ms 2ms 3ms 4ms 5ms 6ms 7ms",
		2500 * time.Millisecond:   "0 0.5s 1s 1.5s 2s 2.5s",
		40 * time.Second:          "0 5s 10s 15s 20s 25s 30s 35s 40s",
		4 * time.Minute:           "0 30s 1m 1m30s 2m 2m30s 3m 3m30s 4m",
		150 * time.Minute:         "0 30m 1h00m 1h30m 2h00m 2h30m",
		20 * 365 * 24 * time.Hour: "0 8760h00m",
	} {
		var got []string
		for _, at := range ticks(end) {
			got = append(got, tickText(at, end))
		}
		if text := strings.Join(got, " "); !strings.HasPrefix(text+" ", want+" ") {
			t.Errorf("%v: %s", end, text)
		}
	}
}
