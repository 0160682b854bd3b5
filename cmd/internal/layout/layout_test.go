package layout

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

type shape struct {
	nodes int
	links []Link
}

// shapes returns graphs as manifests have them, and some random ones.
func shapes() map[string]shape {
	all := map[string]shape{"empty": {}, "one": {nodes: 1}, "singles": {nodes: 100}}
	var out, in, chain, tree, both []Link
	for i := 1; i < 300; i++ {
		out, in = append(out, Link{0, i}), append(in, Link{i - 1, 299})
	}
	for i := 1; i < 60; i++ {
		chain, tree = append(chain, Link{i - 1, i}), append(tree, Link{(i - 1) / 3, i})
	}
	for i := 1; i < 21; i++ {
		both = append(both, Link{0, i}, Link{i, 21})
	}
	all["fan out"], all["fan in"], all["chain"], all["tree"], all["diamond"] = shape{300, out}, shape{300, in}, shape{60, chain}, shape{60, tree}, shape{22, both}
	for seed := range 20 {
		rnd := rand.New(rand.NewPCG(7, uint64(seed)))
		s := shape{nodes: 2 + rnd.IntN(80)}
		for range rnd.IntN(3 * s.nodes) {
			if a, b := rnd.IntN(s.nodes), rnd.IntN(s.nodes); a < b {
				s.links = append(s.links, Link{a, b})
			}
		}
		all[fmt.Sprint("random ", seed)] = s
	}
	return all
}

func TestPlaceKeepsBoxesApartAndLinksForward(t *testing.T) {
	for name, s := range shapes() {
		t.Run(name, func(t *testing.T) {
			widths := make([]int, s.nodes)
			for i := range widths {
				widths[i] = 60 + i*37%140
			}
			d := Place(widths, s.links)
			for i, a := range d.Boxes {
				if a.X < 0 || a.Y < 0 || a.X+a.W > d.Width || a.Y+a.H > d.Height || a.W < widths[i] || a.H != boxHeight {
					t.Fatalf("box %d is %+v in %d × %d", i, a, d.Width, d.Height)
				}
				for j, b := range d.Boxes[:i] {
					if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
						t.Fatalf("boxes %d and %d overlap: %+v %+v", i, j, a, b)
					}
				}
			}
			for i, l := range s.links {
				from, to, c := d.Boxes[l.From], d.Boxes[l.To], d.Curves[i]
				if len(c.Points) < 2 || c.Reversed {
					t.Fatalf("link %d is not drawn", i)
				}
				first, last := c.Points[0], c.Points[len(c.Points)-1]
				if c.Down && (first.Y != from.Y+from.H || last.Y != to.Y) || !c.Down && (first.X != from.X+from.W || last.X != to.X) {
					t.Fatalf("link %d from %+v to %+v is %+v", i, from, to, c)
				}
				if !slices.IsSortedFunc(c.Points, func(a, b Point) int {
					if c.Down {
						return a.Y - b.Y
					}
					return a.X - b.X
				}) {
					t.Fatalf("link %d goes back: %+v", i, c.Points)
				}
			}
		})
	}
}

func TestDrawingsFitAScreenOrTwo(t *testing.T) {
	all := shapes()
	for name, most := range map[string]Point{"fan out": {2000, 1300}, "fan in": {2000, 1300}, "chain": {300, 4000}, "tree": {1200, 1800}, "singles": {1300, 600}} {
		widths := make([]int, all[name].nodes)
		for i := range widths {
			widths[i] = 110
		}
		if d := Place(widths, all[name].links); d.Width > most.X || d.Height > most.Y {
			t.Errorf("%s is %d × %d", name, d.Width, d.Height)
		}
	}
}

// A manifest with a cycle is invalid, but its graph shows the user the cycle.
func TestPlaceReversesOneLinkOfACycle(t *testing.T) {
	d := Place([]int{80, 80, 80, 80}, []Link{{0, 1}, {1, 2}, {2, 0}, {2, 3}})
	reversed := 0
	for i, c := range d.Curves {
		if len(c.Points) == 0 {
			t.Errorf("link %d is not drawn", i)
		}
		if c.Reversed {
			reversed++
		}
	}
	if reversed != 1 || !d.Curves[2].Reversed {
		t.Errorf("%d links are reversed", reversed)
	}
}

func TestReduceCrossingsRemovesAllOfSixNodes(t *testing.T) {
	s := &layered{nodes: 6, layer: []int{0, 0, 0, 1, 1, 1}}
	s.fillLayers([]Link{{0, 5}, {1, 4}, {2, 3}})
	position := make([]int, 6)
	if n := s.countCrossings(position); n != 3 {
		t.Fatalf("%d crossings to begin with", n)
	}
	s.reduceCrossings()
	if n := s.countCrossings(position); n != 0 {
		t.Errorf("%d crossings are left", n)
	}
}
