package status

import "time"

// The operations that an operator may ask for. There is no operation that carries a
// command, a path or a value: a machine applies its signed release, only sooner.
const (
	OpRun  = "run"
	OpPlan = "plan"
)

// Request asks machines to act now.
type Request struct {
	ID       string `json:"id"`
	Op       string `json:"op"`
	Selector string `json:"selector"`
	Spread   string `json:"spread,omitempty"` // over which time the machines begin
}

// The states of an answer.
const (
	Accepted = "accepted"
	Busy     = "busy"   // a round is going on
	Recent   = "recent" // a run ended a moment ago; it is not repeated
)

// Answer is the immediate reply of a machine to a request.
type Answer struct {
	Machine string    `json:"machine"`
	State   string    `json:"state"`
	Since   time.Time `json:"since,omitzero"` // of the round that goes on, or the end of the recent one
	Exit    int       `json:"exit_code"`      // of the recent one
}

// Asked is the end of the last request. It stands in the status, because the right to
// answer lasts two minutes and a run may take longer.
type Asked struct {
	ID    string          `json:"id"`
	Op    string          `json:"op"`
	Exit  int             `json:"exit_code"`
	Plans map[string]Plan `json:"plans,omitempty"` // by release name, of OpPlan
}

// Plan lists the changes that a release would make on one machine.
type Plan struct {
	Version int64          `json:"version"`
	Exit    int            `json:"exit_code"`
	Why     string         `json:"why,omitempty"`
	Summary map[string]int `json:"summary,omitempty"`
	Changes []string       `json:"changes,omitempty"` // `id status: reason`, the first few
}
