package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/settle-cm/settle/model"
)

func htmlOf(r model.Report, t Trace) []byte {
	return HTML([]model.Report{r}, Options{Traces: []Trace{t}})
}

// One browser serves all these tests, because starting it takes longer than they do.
func TestPageInBrowser(t *testing.T) {
	c := startChromium(t)
	for name, test := range map[string]func(*testing.T, *chromium){
		"use": useThePage, "contrast": measureContrast, "hostile": showHostileText, "graphs": readGraphs, "files": openGraphFiles,
	} {
		t.Run(name, func(t *testing.T) {
			defer c.serve(t)()
			c.media("screen", "light") // whatever the test before made of it
			test(t, c)
		})
	}
}

func useThePage(t *testing.T, c *chromium) {
	t.Helper()
	r, trace := siteReport(50)
	c.open(htmlOf(r, trace), ".html")
	c.quiet()
	shown := `[...document.querySelectorAll(".resource")].filter(r => r.getClientRects().length > 0).length`
	fourth := `document.querySelectorAll(".resource")[3]`
	isOpen := fourth + `.open ? 1 : 0`

	if n := c.number(shown); n != 50 {
		t.Errorf("%v of 50 resources are shown", n)
	}
	if n := c.number(`document.querySelectorAll(".graph .node").length`); n != 50 {
		t.Errorf("%v of 50 resources are in the graph", n)
	}
	if n, want := c.number(`document.querySelectorAll(".graph .edge").length`), len(trace.Graph.Edges); int(n) != want {
		t.Errorf("%v of %d edges are drawn", n, want)
	}
	t.Run("a status is filtered by a click, and again is not", func(t *testing.T) {
		defer c.serve(t)()
		c.click(`.tile[data-status="failed"]`)
		if n := c.number(shown); int(n) != r.Summary.Count[model.Failed] {
			t.Errorf("%v resources are shown", n)
		}
		if s := c.text(`document.querySelector(".shown [role=status]").textContent`); s != "1 of 50 resources shown" {
			t.Errorf("it says %q", s)
		}
		c.click(`.tile[data-status="failed"]`)
		if n := c.number(shown); n != 50 {
			t.Errorf("%v resources are shown", n)
		}
	})
	t.Run("text is filtered by keys, and Escape shows all", func(t *testing.T) {
		defer c.serve(t)()
		c.key("/")
		for _, k := range "is locked" {
			c.key(string(k))
		}
		if n := c.number(shown); n != 1 {
			t.Errorf("%v resources hold the text", n)
		}
		c.key("Escape")
		if n := c.number(shown); n != 50 {
			t.Errorf("%v resources are shown", n)
		}
	})
	t.Run("what matches nothing says so", func(t *testing.T) {
		defer c.serve(t)()
		c.key("/")
		for _, k := range "zzz" {
			c.key(string(k))
		}
		if n := c.number(`document.querySelector(".none").getClientRects().length`); n == 0 {
			t.Error("it does not")
		}
		c.click(`[data-clear]`)
		if n := c.number(shown); n != 50 {
			t.Errorf("%v resources are shown", n)
		}
	})
	t.Run("j goes on, Enter opens", func(t *testing.T) {
		defer c.serve(t)()
		c.eval(nil, `document.activeElement.blur()`)
		for range 4 {
			c.key("j")
		}
		if id := c.text(`document.activeElement.parentElement.id`); id != c.text(fourth+`.id`) {
			t.Fatalf("four j are at %q", id)
		}
		c.key("Enter")
		if c.number(isOpen) != 1 {
			t.Error("Enter did not open it")
		}
		c.key("k")
		if id := c.text(`document.activeElement.parentElement.id`); id != c.text(`document.querySelectorAll(".resource")[2].id`) {
			t.Errorf("k is at %q", id)
		}
	})
	t.Run("a node leads to its resource, although it is filtered", func(t *testing.T) {
		defer c.serve(t)()
		c.click(`.tile[data-status="failed"]`)
		c.click(`.graph .node[data-n="11"]`)
		c.until(`document.activeElement.parentElement?.id === "r0-11"`)
		c.until(`document.getElementById("r0-11").open && document.getElementById("r0-11").getClientRects().length > 0`)
	})
	t.Run("focus traces what a node waits for and what waits for it", func(t *testing.T) {
		e := trace.Graph.Edges[0]
		for i, n := range trace.Graph.Nodes {
			if n.ID == e.To {
				c.eval(nil, fmt.Sprintf(`document.querySelector('.node[data-n="%d"]').focus()`, i))
			}
		}
		if n := c.number(`document.querySelectorAll(".graph.traced .edge.near").length`); n == 0 {
			t.Error("nothing is traced")
		}
	})
	t.Run("paper shows what the screen has closed", func(t *testing.T) {
		defer c.serve(t)()
		open := `document.querySelectorAll(".resource[open]").length`
		before := c.number(open)
		c.eval(nil, `dispatchEvent(new Event("beforeprint"))`)
		if n, want := c.number(open), 50-r.Summary.Count[model.Stable]; int(n) < want {
			t.Errorf("%v of %d resources are printed open", n, want)
		}
		c.eval(nil, `dispatchEvent(new Event("afterprint"))`)
		if n := c.number(open); n != before {
			t.Errorf("%v are open after printing, %v before", n, before)
		}
	})
	c.quiet()
}

// contrast returns the visible texts whose contrast to their background is below
// the AA level of WCAG.
const contrast = `(() => {
	const parse = (c) => { const m = c.match(/[\d.]+/g).map(Number); return {r: m[0], g: m[1], b: m[2], a: m[3] ?? 1}; };
	const over = (t, b) => ({r: t.r * t.a + b.r * (1 - t.a), g: t.g * t.a + b.g * (1 - t.a), b: t.b * t.a + b.b * (1 - t.a), a: 1});
	const lum = (c) => { const f = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }; return 0.2126 * f(c.r) + 0.7152 * f(c.g) + 0.0722 * f(c.b); };
	const behind = (e) => {
		const layers = [];
		for (; e; e = e.parentElement) {
			const shape = e.matches(".node, .bar > svg") && e.querySelector("path, rect");
			const c = parse(shape ? getComputedStyle(shape).fill : getComputedStyle(e).backgroundColor);
			layers.push(c);
			if (c.a === 1) break;
		}
		return layers.reverse().reduce((b, t) => over(t, b), {r: 255, g: 255, b: 255, a: 1});
	};
	const low = [];
	let n = 0;
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.data.trim() || e.closest("script, style, title") || e.getClientRects().length === 0) continue;
		n++;
		const s = getComputedStyle(e), b = behind(e);
		const ink = over(parse(e.closest("svg") ? s.fill : s.color), b);
		const [hi, lo] = [lum(ink), lum(b)].sort((x, y) => y - x);
		const ratio = (hi + 0.05) / (lo + 0.05);
		if (ratio < 4.5) low.push(ratio.toFixed(2) + " " + e.tagName + "." + (e.className.baseVal ?? e.className) + ": " + walk.currentNode.data.trim().slice(0, 40));
	}
	return {n, low};
})()`

// everyStatus returns reports in which every style occurs.
func everyStatus() []model.Report {
	return []model.Report{applyReport(), planReport(), invalidReport()}
}

func measureContrast(t *testing.T, c *chromium) {
	t.Helper()
	reports := everyStatus()
	reports[0].Resources[0].Diff = "@@ -1 +1 @@\n-a\n+b\n"
	var o Options
	for i := range reports {
		o.Traces = append(o.Traces, traceOf(&reports[i]))
	}
	c.open(HTML(reports, o), ".html")
	c.eval(nil, `document.querySelectorAll("details").forEach((d) => { d.open = true; d.style.contentVisibility = "visible"; })`)
	for _, scheme := range []string{"light", "dark"} {
		c.media("screen", scheme)
		var got struct {
			N   int
			Low []string
		}
		c.eval(&got, contrast)
		if got.N < 200 {
			t.Fatalf("only %d texts were measured", got.N)
		}
		for _, low := range got.Low {
			t.Errorf("%s: %s", scheme, low)
		}
		c.screenshot("every-status-"+scheme, 1300, 2400)
	}
	dark := c.text(`getComputedStyle(document.body).backgroundColor`)
	c.media("print", "dark")
	if paper := c.text(`getComputedStyle(document.body).backgroundColor`); paper != "rgb(255, 255, 255)" || paper == dark {
		t.Errorf("paper is %s, the dark screen %s", paper, dark)
	}
	if n := c.number(`document.querySelector(".tools").getClientRects().length`); n != 0 {
		t.Error("buttons are printed")
	}
}

// Texts of a command, a helper or a manifest must stay texts, and must not make the
// page load anything.
func showHostileText(t *testing.T, c *chromium) {
	t.Helper()
	r := hostileReport()
	c.open(htmlOf(r, traceOf(&r)), ".html")
	c.quiet()
	if n := c.number(`document.querySelectorAll("script").length`); n != 1 {
		t.Errorf("%v scripts", n)
	}
	var texts []string
	c.eval(&texts, `[...document.querySelectorAll(".output")].map((e) => e.textContent)`)
	if len(texts) != len(r.Resources) {
		t.Fatalf("%d of %d outputs", len(texts), len(r.Resources))
	}
	for _, text := range texts {
		if text != escapeLines(hostile) {
			t.Errorf("%q", text)
		}
	}
	if n := c.number(`document.querySelectorAll(".resource a:not([href^='#']), .graph a:not([href^='#'])").length`); n != 0 {
		t.Errorf("%v links lead out of the page", n)
	}
	var ids []string
	c.eval(&ids, `[...document.querySelectorAll("[id]")].map((e) => e.id)`)
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] {
			t.Errorf("id %s is there twice", id)
		}
		seen[id] = true
	}
}

// inView finds boxes that lie over each other, and texts that leave their box.
const overlaps = `(() => {
	const boxes = [...document.querySelectorAll(".node")].map((n) => ({n, b: n.querySelector("path").getBBox(), t: n.querySelector("text").getBBox()}));
	const bad = [];
	boxes.forEach((x, i) => {
		if (x.t.x < x.b.x || x.t.x + x.t.width > x.b.x + x.b.width + 1) bad.push("text leaves " + x.n.textContent);
		boxes.slice(i + 1).forEach((y) => {
			if (x.b.x < y.b.x + y.b.width && y.b.x < x.b.x + x.b.width && x.b.y < y.b.y + y.b.height && y.b.y < x.b.y + x.b.height)
				bad.push(x.n.textContent + " lies over " + y.n.textContent);
		});
	});
	return bad;
})()`

func readGraphs(t *testing.T, c *chromium) {
	t.Helper()
	for _, n := range []int{5, 50, 500} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			defer c.serve(t)()
			r, trace := siteReport(n)
			c.open(htmlOf(r, trace), ".html")
			c.quiet()
			var bad []string
			c.eval(&bad, overlaps)
			for _, b := range bad {
				t.Error(b)
			}
			if size := c.number(`Math.min(...[...document.querySelectorAll(".node text")].map((t) => t.getBoundingClientRect().height))`); size < 8 {
				t.Errorf("the smallest text is %v pixels high", size)
			}
			if wide := c.number(`document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide > 0 {
				t.Errorf("the page is %v pixels too wide", wide)
			}
			for _, scheme := range []string{"light", "dark"} {
				c.media("screen", scheme)
				c.screenshot(fmt.Sprintf("report-%d-%s", n, scheme), 1300, 1800)
			}
			c.screenshot(fmt.Sprintf("report-%d-narrow", n), 420, 1600)
			c.media("print", "light")
			c.screenshot(fmt.Sprintf("report-%d-print", n), 1000, 1400)
			c.media("", "light")
		})
	}
}

func openGraphFiles(t *testing.T, c *chromium) {
	t.Helper()
	_, trace := siteReport(50)
	trace.Graph.Edges = append(trace.Graph.Edges, Edge{From: trace.Graph.Nodes[9].ID, To: trace.Graph.Nodes[0].ID, Kind: "require", Loop: true})
	for i := range trace.Graph.Nodes {
		trace.Graph.Nodes[i].Status = model.Status(i % 11).String()
	}
	for _, format := range []string{"svg", "html"} {
		c.open(Graphs[format](trace.Graph), "."+format)
		c.quiet()
		if n := c.number(`document.querySelectorAll(".node").length`); n != 50 {
			t.Errorf("%s: %v of 50 resources", format, n)
		}
		if n := c.number(`document.querySelectorAll(".edge.loop[data-f]").length`); n != 1 {
			t.Errorf("%s: the loop is not marked", format)
		}
		c.screenshot("graph-"+format, 1300, 1100)
	}
}

// A report without resources has no graph, whatever the manifest had.
func TestHTMLWithoutResourcesHasNoGraph(t *testing.T) {
	_, trace := siteReport(5)
	for _, r := range []model.Report{refusedReport(), invalidReport(), report("validate", 0, nil)} {
		page := string(htmlOf(r, trace))
		if strings.Contains(page, "<svg class=") || strings.Contains(page, `class="graph"`) {
			t.Errorf("%s %q has a graph", r.Mode, r.Error)
		}
	}
}

func TestSVGIsWellFormed(t *testing.T) {
	r := hostileReport()
	g := traceOf(&r).Graph
	for i, o := range r.Resources {
		g.Nodes[i] = Node{ID: fmt.Sprint(i, o.ID), Status: o.Status.String()}
	}
	wellFormed(t, renderSVG(g))
	f := newFigure(g)
	wellFormed(t, []byte(f.svg("")))
	wellFormed(t, []byte(drawTimeline(&r, traceOf(&r).Spans, func(int) string { return "#\"<" })))
}

func TestHTMLLoadsNothing(t *testing.T) {
	r, trace := siteReport(5)
	page := string(htmlOf(r, trace))
	for _, bad := range []string{" src=", "url(", "@import", "<link", "fetch(", "style=\""} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
}
