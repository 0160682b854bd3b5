package render

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
)

// A link to the node itself, or to a node outside of the graph, has no line.
func TestSVGLeavesOutLinksWithoutTwoNodes(t *testing.T) {
	g := Graph{Nodes: []Node{{ID: "a#a"}}, Edges: []Edge{{From: "a#a", To: "a#a"}, {From: "a#a", To: "b#missing"}}}
	if out := string(renderSVG(g)); strings.Contains(out, `class="edge`) {
		t.Errorf("such a link is drawn: %s", out)
	}
}

// A graph that is too large to read may be drawn badly, but quickly.
func TestHugeGraphsStayBounded(t *testing.T) {
	var g Graph
	for i := range 5_000 {
		g.Nodes = append(g.Nodes, Node{ID: fmt.Sprint("exec#", i)})
		if i > 0 {
			g.Edges = append(g.Edges, Edge{From: g.Nodes[i-1].ID, To: g.Nodes[i].ID}, Edge{From: g.Nodes[0].ID, To: g.Nodes[i].ID})
		}
	}
	if n := len(renderSVG(g)); n > 10<<20 {
		t.Errorf("%d bytes", n)
	}
}

func TestShortenCutsByCells(t *testing.T) {
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

func TestAssignLanesSeparatesOverlaps(t *testing.T) {
	var r model.Report
	for range 5 {
		r.Resources = append(r.Resources, model.ResourceReport{Attempts: 1})
	}
	r.Resources[4].Attempts = 0
	s := func(from, to int) Span { return Span{time.Duration(from), time.Duration(to)} }
	bars, n, end, hidden := assignLanes(&r, []Span{s(0, 500), s(10, 20), {}, s(20, 500), s(499, 500)})
	if n != 2 || end != 500 || hidden != 1 || len(bars) != 3 {
		t.Fatalf("%d bars in %d lanes to %v, %d hidden", len(bars), n, end, hidden)
	}
	for i, want := range []int{0, 1, 1} {
		if bars[i].lane != want {
			t.Errorf("bar %d is in lane %d", i, bars[i].lane)
		}
	}
}

func TestTicksAreUsualSteps(t *testing.T) {
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
