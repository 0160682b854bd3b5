package render

import (
	"time"

	"github.com/settle-cm/settle/model"
)

// Options holds the choices of a reader, and the data that some formats show beside
// the reports themselves.
type Options struct {
	Verbose  bool // list every resource, with all details
	Quiet    bool // write nothing unless something failed
	Color    bool
	Titled   bool // put the manifest's name above its report, because several follow each other
	Excerpts bool // show the lines of the manifest that problems point to
	ASCII    bool // the reader's terminal does not show UTF-8: use symbols of ASCII

	Traces   []Trace  // by report; may be missing
	Families []Family // additional metrics, of resource types that count something
	Previous []byte   // content of the file that the result replaces
}

// trace returns the trace of the report with index n. The trace of a stored report
// has only the times that were stored with it.
func (o *Options) trace(n int, r *model.Report) Trace {
	if n < len(o.Traces) {
		return o.Traces[n]
	}
	var t Trace
	for _, s := range r.Times {
		t.Spans = append(t.Spans, Span{time.Duration(s.FromMS) * time.Millisecond, time.Duration(s.ToMS) * time.Millisecond})
	}
	return t
}

// Trace holds the edges between the resources of a report, and when each was at work.
type Trace struct {
	Graph Graph
	Spans []Span // by resource; may be missing
}

// Span is the time in which a resource was checked and run, counted from the
// start of its run. Both are zero for a resource that was never started.
type Span struct{ From, To time.Duration }

// These are the first eight colours of a terminal, which every theme keeps readable.
const (
	red     = "31"
	green   = "32"
	yellow  = "33"
	cyan    = "36"
	magenta = "35"
	faint   = "2"
)

// paint colours a text, where colours are wanted. No color leaves it as it is.
func (o *Options) paint(color, text string) string {
	if !o.Color || color == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}
