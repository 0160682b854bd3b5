package render

// Graphs is the table of the formats of a graph, by name.
var Graphs = map[string]func(Graph) []byte{
	"dot":     renderDot,
	"mermaid": renderMermaid,
	"json":    func(g Graph) []byte { return Document(g) },
	"svg":     renderSVG,
	"html":    renderGraphPage,
}
