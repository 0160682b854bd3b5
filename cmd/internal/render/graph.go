package render

import (
	"fmt"
	"strings"
)

// Graph is what depends on what, in the order of the manifest.
type Graph struct {
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`
}

// Node is one resource.
type Node struct {
	ID     string `json:"id"`
	Status string `json:"status,omitempty"` // of the run that the graph is coloured by
}

// Edge points from the resource that goes first to the one that waits for it.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Kind string `json:"kind"`           // require; subscribe: a change of From refreshes To; parent: To stands below From, and nobody has said require
	Loop bool   `json:"loop,omitempty"` // part of a loop, which is why the manifest is invalid
}

// fills are the colours of statuses: light, so that black text reads on them,
// and told apart by the label as well.
var fills = map[string]string{
	"stable": "#e8e8e8", "changed": "#b7e4b4", "would_run": "#b7e4b4", "would_refresh": "#b9d7f5",
	"may_run": "#f7e6a3", "failed": "#f5b5b0", "skipped": "#dcd0ea", "deferred": "#f7d9b3",
	"shutdown": "#f7d9b3", "interrupted": "#f5b5b0", "not_reached": "#ffffff",
}

// loopColour marks the edges of a loop.
const loopColour = "#c00000"

// Graphs is the table of what a graph can be turned into.
var Graphs = map[string]func(Graph) []byte{
	"dot":     dot,
	"mermaid": mermaid,
	"json":    func(g Graph) []byte { return Document(g) },
	"svg":     svg,
	"html":    graphPage,
}

// dot writes the language of Graphviz.
func dot(g Graph) []byte {
	var b strings.Builder
	b.WriteString("digraph settle {\n  rankdir=LR;\n  node [shape=box];\n")
	for _, n := range g.Nodes {
		look := ""
		if n.Status != "" {
			look = fmt.Sprintf(` [label="%s\n%s", style=filled, fillcolor=%q]`, dotInner(n.ID), n.Status, fills[n.Status])
		}
		fmt.Fprintf(&b, "  %s%s;\n", dotText(n.ID), look)
	}
	for _, e := range g.Edges {
		var look []string
		switch e.Kind {
		case "require":
			look = append(look, "style=dashed")
		case "parent":
			look = append(look, "style=dotted")
		}
		if e.Loop {
			look = append(look, fmt.Sprintf("color=%q, penwidth=2", loopColour))
		}
		fmt.Fprintf(&b, "  %s -> %s", dotText(e.From), dotText(e.To))
		if len(look) > 0 {
			fmt.Fprintf(&b, " [%s]", strings.Join(look, ", "))
		}
		b.WriteString(";\n")
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

// dotText quotes a text: in Graphviz a backslash begins an escape of its own.
func dotText(s string) string { return `"` + dotInner(s) + `"` }

func dotInner(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(Escape(s))
}

// mermaid writes a flowchart as GitHub and GitLab draw it. Names may hold what
// mermaid would read as syntax, so nodes are numbered and named by label.
func mermaid(g Graph) []byte {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	number := map[string]int{}
	for i, n := range g.Nodes {
		number[n.ID] = i
		label := mermaidText(n.ID)
		if n.Status != "" {
			label += "<br/>" + n.Status
		}
		fmt.Fprintf(&b, "  n%d[\"%s\"]\n", i, label)
		if n.Status != "" {
			fmt.Fprintf(&b, "  style n%d fill:%s,color:#000\n", i, fills[n.Status])
		}
	}
	for i, e := range g.Edges {
		arrow := "-->"
		if e.Kind != "subscribe" {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "  n%d %s n%d\n", number[e.From], arrow, number[e.To])
		if e.Loop {
			fmt.Fprintf(&b, "  linkStyle %d stroke:%s,stroke-width:3px\n", i, loopColour)
		}
	}
	return []byte(b.String())
}

// mermaidText writes everything that mermaid or the HTML it makes could take
// for syntax as a character code.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range Escape(s) {
		if strings.ContainsRune("\"#&;<>`\\", r) {
			fmt.Fprintf(&b, "#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
