package render

import (
	"fmt"
	"strings"
)

// renderDot returns a graph in the language of Graphviz.
func renderDot(g Graph) []byte {
	var b strings.Builder
	b.WriteString("digraph settle {\n  rankdir=LR;\n  node [shape=box];\n")
	for _, n := range g.Nodes {
		attributes := ""
		if n.Status != "" {
			attributes = fmt.Sprintf(` [label="%s\n%s", style=filled, fillcolor=%q]`, escapeDot(n.ID), n.Status, statusFills[n.Status])
		}
		fmt.Fprintf(&b, "  %s%s;\n", quoteDot(n.ID), attributes)
	}
	for _, e := range g.Edges {
		var attributes []string
		switch e.Kind {
		case "require":
			attributes = append(attributes, "style=dashed")
		case "parent":
			attributes = append(attributes, "style=dotted")
		}
		if e.Loop {
			attributes = append(attributes, fmt.Sprintf("color=%q, penwidth=2", cycleColor))
		}
		fmt.Fprintf(&b, "  %s -> %s", quoteDot(e.From), quoteDot(e.To))
		if len(attributes) > 0 {
			fmt.Fprintf(&b, " [%s]", strings.Join(attributes, ", "))
		}
		b.WriteString(";\n")
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

func quoteDot(s string) string { return `"` + escapeDot(s) + `"` }

// escapeDot doubles backslashes, because Graphviz has escapes of its own (\N, \l).
func escapeDot(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(Escape(s))
}
