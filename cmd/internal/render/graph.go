package render

// Graph holds the resources of a manifest and their dependencies, in its order.
type Graph struct {
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`
}

// Node is one resource.
type Node struct {
	ID     string `json:"id"`
	Status string `json:"status,omitempty"` // in the run that the graph is coloured by
}

// Edge points from an upstream resource to the one that depends on it.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Kind string `json:"kind"`           // require; subscribe: a change of From refreshes To; parent: the path of To is below that of From
	Loop bool   `json:"loop,omitempty"` // part of a dependency cycle, which makes the manifest invalid
}

// statusFills are the colours of statuses in Graphviz and Mermaid: light, so that
// black text is readable on them. The label names the status too.
var statusFills = map[string]string{
	"stable": "#e8e8e8", "changed": "#b7e4b4", "would_run": "#b7e4b4", "would_refresh": "#b9d7f5",
	"may_run": "#f7e6a3", "failed": "#f5b5b0", "skipped": "#dcd0ea", "deferred": "#f7d9b3",
	"shutdown": "#f7d9b3", "interrupted": "#f5b5b0", "not_reached": "#ffffff",
}

// cycleColor marks the edges of a dependency cycle.
const cycleColor = "#c00000"
