package model

import "fmt"

// Status is what became, or would become, of a resource.
type Status int

// The statuses. The zero value is the safe one: nothing was done.
const (
	NotReached Status = iota
	Stable
	Changed
	Failed
	Skipped
	Deferred
	Shutdown
	Interrupted
	WouldRun
	WouldRefresh
	MayRun
)

var statusNames = [...]string{
	"not_reached", "stable", "changed", "failed", "skipped", "deferred", "shutdown", "interrupted",
	"would_run", "would_refresh", "may_run",
}

// String returns the status as reports spell it.
func (s Status) String() string { return statusNames[s] }

// MarshalText makes a status its name in JSON.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a status back from a stored report.
func (s *Status) UnmarshalText(text []byte) error {
	for i, name := range statusNames {
		if name == string(text) {
			*s = Status(i)
			return nil
		}
	}
	return fmt.Errorf("unknown status %q", text)
}

// Outcome is what became of one resource: the resource object of the report.
// The fields without a JSON name are what the walk needs beside it.
type Outcome struct {
	ID          string   `json:"id"`
	Type        string   `json:"type"`
	Name        string   `json:"name"`
	Alias       string   `json:"alias"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Pos
	Status      Status        `json:"status"`
	Ignored     bool          `json:"ignored"`
	Reason      string        `json:"reason"` // never holds a duration or a time of this run
	RefreshedBy []string      `json:"refreshed_by"`
	RootCause   string        `json:"root_cause"` // id of the failure that a skip goes back to
	Command     string        `json:"command"`
	Cwd         string        `json:"cwd"`
	Guards      []GuardResult `json:"guards"`
	Exit        *int          `json:"exit"`
	Signal      string        `json:"signal"`
	Attempts    int           `json:"attempts"`
	DurationMS  int64         `json:"duration_ms"`
	Output      string        `json:"output"`
	Truncated   bool          `json:"output_truncated"`
	Diff        string        `json:"diff"`
	Warnings    []Problem     `json:"warnings"`
	Values      []ValueUse    `json:"values,omitempty"` // that were put into the resource

	Expects   string    `json:"-"` // what would have been a success
	Quiet     bool      `json:"-"` // people are not shown its output
	DiffSum   string    `json:"-"` // of what its check showed would change, before anything is hidden in it
	Differs   error     `json:"-"` // from what a saved plan said of it: nothing more may start
	Denied    bool      `json:"-"` // it failed for want of rights
	Helped    []Helped  `json:"-"` // by attempt; none when it has no helper
	Acted     bool      `json:"-"` // its Run was called
	Began     bool      `json:"-"` // and had an effect, also when it failed
	Refreshes Certainty `json:"-"` // whether it refreshes its subscribers
	Pending   bool      `json:"-"` // a preview's: it is going to run, and may so change what guards downstream say
	Check     bool      `json:"-"` // it can never change anything: not "something to do"
	Apart     bool      `json:"-"` // it reads and changes one thing only
	Missing   bool      `json:"-"` // creates was missing before it acted
	Settles   bool      `json:"-"` // a "no" that pays its debts
	LastState string    `json:"-"` // how it left things, for its next check
}

// NewOutcome returns the outcome of a resource that was not reached yet: all
// that is known of it without looking at the machine.
func NewOutcome(r *Resource) Outcome {
	about := r.Spec.About()
	o := Outcome{
		ID: r.ID(), Type: r.Type, Name: r.Name, Alias: r.Alias, Description: r.Description, Tags: r.Tags,
		Pos: r.Pos, Command: about.Command, Cwd: about.Cwd, Check: about.Check, Apart: about.Apart, Expects: about.Expects, Quiet: about.Quiet,
		RefreshedBy: []string{}, Guards: []GuardResult{}, Warnings: []Problem{}, Values: r.Values,
	}
	if o.Tags == nil {
		o.Tags = []string{}
	}
	return o
}

// Warn adds a warning of this run to the outcome.
func (o *Outcome) Warn(message string) {
	o.Warnings = append(o.Warnings, Problem{Pos: o.Pos, ID: o.ID, Message: message})
}

// Blocks says whether what depends on the resource is skipped (row 1 of the
// decision table).
func (o *Outcome) Blocks() bool {
	switch o.Status {
	case Failed:
		return !o.Ignored
	case Skipped, Deferred, Shutdown, Interrupted, NotReached:
		return true
	}
	return false
}
