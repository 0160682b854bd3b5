package render

import (
	"fmt"
	"strings"
)

// renderMermaid returns a graph as a flowchart, as GitHub and GitLab draw it. Nodes have
// numbers, and their names are labels: a name may contain Mermaid syntax.
func renderMermaid(g Graph) []byte {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	number := map[string]int{}
	for i, n := range g.Nodes {
		number[n.ID] = i
		label := escapeMermaid(n.ID)
		if n.Status != "" {
			label += "<br/>" + n.Status
		}
		fmt.Fprintf(&b, "  n%d[\"%s\"]\n", i, label)
		if n.Status != "" {
			fmt.Fprintf(&b, "  style n%d fill:%s,color:#000\n", i, statusFills[n.Status])
		}
	}
	for i, e := range g.Edges {
		arrow := "-->"
		if e.Kind != "subscribe" {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "  n%d %s n%d\n", number[e.From], arrow, number[e.To])
		if e.Loop {
			fmt.Fprintf(&b, "  linkStyle %d stroke:%s,stroke-width:3px\n", i, cycleColor)
		}
	}
	return []byte(b.String())
}

// escapeMermaid writes characters that are syntax in Mermaid, or in the HTML that
// it makes, as character codes.
func escapeMermaid(s string) string {
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
