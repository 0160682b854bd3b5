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
	ID string `json:"id"`
}

// Edge points from the resource that goes first to the one that waits for it.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Kind string `json:"kind"` // require, or subscribe: a change of From refreshes To
}

// Graphs is the table of what a graph can be turned into.
var Graphs = map[string]func(Graph) []byte{
	"dot":     dot,
	"mermaid": mermaid,
	"json":    func(g Graph) []byte { return Document(g) },
}

// dot writes the language of Graphviz.
func dot(g Graph) []byte {
	var b strings.Builder
	b.WriteString("digraph settle {\n  rankdir=LR;\n  node [shape=box];\n")
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "  %s;\n", dotText(n.ID))
	}
	for _, e := range g.Edges {
		style := ""
		if e.Kind == "require" {
			style = " [style=dashed]"
		}
		fmt.Fprintf(&b, "  %s -> %s%s;\n", dotText(e.From), dotText(e.To), style)
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

// dotText quotes a text: in Graphviz a backslash begins an escape of its own.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(Escape(s)) + `"`
}

// mermaid writes a flowchart as GitHub and GitLab draw it. Names may hold what
// mermaid would read as syntax, so nodes are numbered and named by label.
func mermaid(g Graph) []byte {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	number := map[string]int{}
	for i, n := range g.Nodes {
		number[n.ID] = i
		fmt.Fprintf(&b, "  n%d[\"%s\"]\n", i, mermaidText(n.ID))
	}
	for _, e := range g.Edges {
		arrow := "-->"
		if e.Kind == "require" {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "  n%d %s n%d\n", number[e.From], arrow, number[e.To])
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
