package render

import "time"

// Beside is what some formats show and a report does not hold.
type Beside struct {
	Traces   []Trace  // by report; may be missing
	Families []Family // further metrics, of resource types that count
	Before   []byte   // what was in the file that the result replaces
}

// Trace is how the resources of a report hang together, and when each was at work.
type Trace struct {
	Graph Graph
	Spans []Span // by resource; may be missing
}

// Span is when a resource was looked at and acted, from the start of its run.
// One that was never started has none: both are zero.
type Span struct{ From, To time.Duration }

// trace returns what is known beside the report of index n.
func (b *Beside) trace(n int) Trace {
	if n < len(b.Traces) {
		return b.Traces[n]
	}
	return Trace{}
}
