package model

import "time"

// Result is the end of one resource in a walk. It repeats nothing of its Resource,
// and its texts may still hold secrets. NewResourceReport joins both and redacts.
type Result struct {
	ID          string // of the resource
	Status      Status
	Ignored     bool     // it failed, with ignore_failure
	Action      Action   // the kind of change that it makes, if it acts
	Reason      string   // never holds a duration or a time of this run
	RefreshedBy []string // ids of the publishers that refreshed it
	RootCause   string   // id of the failure that a skip goes back to
	Guards      []GuardResult
	ProcessEnd
	Attempts int
	Duration time.Duration
	Diff     string
	DiffSum  string // SHA-256 of the diff that Check returned, in hex, "" without one
	Warnings []string

	NotPermitted bool      // it failed because settle lacks rights
	Measures     Measures  // summed over its attempts
	Acted        bool      // its Run was called
	Began        bool      // its Run had an effect, also when it failed
	Missing      bool      // creates was missing before it acted
	Settles      bool      // a refresh was due and Check decided not to act: nothing is owed any more
	Owes         bool      // an earlier attempt may have changed something: its subscribers are owed a refresh
	Refreshes    Certainty // whether it refreshes its subscribers
	Pending      bool      // set by a preview: it is going to act, which may change what Check reads downstream
	LastState    string    // passed to its next Check
	Stop         error     // why the walk must stop; nil lets it continue
}

// ProcessEnd is how the last process of a resource ended, and its output.
type ProcessEnd struct {
	Exit      *int   // nil when it did not exit by itself
	Signal    string // SIGKILL etc. when a signal ended it
	Output    string
	Truncated bool // the output is not complete
}

// Warn adds a warning of this run.
func (r *Result) Warn(message string) { r.Warnings = append(r.Warnings, message) }

// Blocks reports whether the resources that depend on this one are skipped
// (row 1 of the decision table).
func (r *Result) Blocks() bool {
	switch r.Status {
	case Failed:
		return !r.Ignored
	case Skipped, Deferred, Shutdown, Interrupted, NotReached:
		return true
	}
	return false
}
