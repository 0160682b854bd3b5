// Package model holds the nouns of settle: what a manifest, a resource, a plan,
// a result and a report are, and the pure functions over them. It touches
// nothing: no files, no processes, no clock, no log. Everything that looks at
// or changes the machine is handed in as a function by the packages above.
package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Ref names a resource: its type and its name (or alias), written type#name.
type Ref struct{ Type, Name string }

// String returns the reference as it stands in a manifest.
func (r Ref) String() string { return r.Type + "#" + r.Name }

// ParseRef splits a reference at its first '#', so that names may hold more of
// them. It returns false when the type or the name is empty.
func ParseRef(text string) (Ref, bool) {
	typ, name, ok := strings.Cut(text, "#")
	return Ref{typ, name}, ok && typ != "" && name != ""
}

// Pos is a place in a manifest. Line and Column count from 1; zero is unknown.
type Pos struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// String returns file:line:col, as far as it is known.
func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Manifest is a valid manifest. It is made by package manifests, which returns
// one only when there is nothing wrong with it.
type Manifest struct {
	Path           string // as the user gave it; "-" is standard input
	Dir            string // absolute; what relative paths are relative to
	Name           string // the name key, "" when not given
	Identity       string // of the journal: Name, else the absolute path, "" for a nameless "-"
	Hash           string // of the files' bytes and of all values that are in it, for saved plans
	TextHash       string // of the files' bytes alone
	Description    string
	Parallel       int // at least 1
	FailFast       bool
	CleanEnv       bool
	OnMissingState string // "", ignore, refresh or fail
	Secrets        []string
	SecretValues   []string // what the resources' environment gives those names
	PreMessage     string   // a ccm manifest's log lines
	PostMessage    string
	Resources      []Resource // in the order of the file; an index into it is a resource's identity in a run
	Order          []int      // indexes, upstream first; the file's order breaks ties
}

// Edge is one dependency of a resource: on another one, that goes first.
type Edge struct {
	On      int    // index of the resource that goes first
	Refresh bool   // a change of it refreshes this one
	By      string // the property that made the edge: require, subscribe, before, notify; parent for one that nobody wrote
	Pos     Pos    // where it stands
}

// Resource is one entry of a manifest: what every type has, and its Spec.
type Resource struct {
	Ref
	Pos
	Alias         string
	Description   string
	Tags          []string
	OnRefresh     OnRefresh
	Tries         int // at least 1
	TrySleep      time.Duration
	Sensitive     bool
	IgnoreFailure bool
	Upstream      []Edge     // in the order of the file: require, subscribe, then edges written at the other end
	Subscribers   []string   // ids of those it refreshes and that are not off, of the whole manifest, whatever is selected
	CutOff        bool       // it subscribes to something that is not selected
	Off           string     // why it is not for this machine: a when that is false; "" when it is for it
	Values        []ValueUse // that were put into its properties
	Spec          Spec
}

// ValueUse is a value that was put into a manifest in the place of an expression.
type ValueUse struct {
	Expression string `json:"expression"` // as it is written: ${var.x}
	Value      string `json:"value"`      // as text; *** where nobody may see it
	Pos
}

// ID returns the resource's reference as text: its identity in reports and in the journal.
func (r *Resource) ID() string { return r.Ref.String() }

// AliasID returns the reference by alias as text, "" when there is none.
func (r *Resource) AliasID() string {
	if r.Alias == "" {
		return ""
	}
	return Ref{r.Type, r.Alias}.String()
}

// Publishes says whether anything subscribes to the resource.
func (r *Resource) Publishes() bool { return len(r.Subscribers) > 0 }

// Subscribes says whether the resource subscribes to anything.
func (r *Resource) Subscribes() bool {
	for _, e := range r.Upstream {
		if e.Refresh {
			return true
		}
	}
	return false
}

// Journaled says whether the journal must know when the resource acts: one that
// publishes, subscribes or has creates, and where its type asks for it.
func (r *Resource) Journaled() bool {
	about := r.Spec.About()
	return r.Publishes() || r.Subscribes() || r.CutOff || about.Creates || about.Journaled
}

// OnRefresh is what a refresh means to a resource.
type OnRefresh int

// The values of on_refresh.
const (
	RefreshRuns   OnRefresh = iota // a refresh runs it, whatever creates and guards say
	RefreshChecks                  // a refresh makes it due; creates and guards decide
)

// Type is a resource type: its name, its properties and how an entry becomes a Spec.
type Type struct {
	Name       string
	Meaning    string     // one sentence, for explain, the schema and the README
	Properties []Property // its own; those of every type are in Common
	Decode     func(*Body) Spec
}

// Spec is what one resource declares, and the only thing a type must be.
type Spec interface {
	// About says what is known without looking at the machine.
	About() About
	// Check looks and changes nothing: has the resource to act, and why.
	// An error means that neither yes nor no can be said.
	Check(ctx context.Context, ask Ask) (Decision, error)
	// Run acts. The error is why it failed, without the resource's name; the
	// effect tells how it went in both cases.
	Run(ctx context.Context, stage Stage) (Effect, error)
}

// About is what can be said of a resource without looking at the machine.
type About struct {
	Command    string // for people: can be pasted into a shell
	Cwd        string
	Expects    string // what counts as success, e.g. "returns 0"
	User       string // who it runs as, when that needs rights that settle may lack; "" for itself
	Quiet      bool   // its output is for reports only
	Creates    bool   // it has creates
	Check      bool   // every success leaves all unchanged: never something to do
	MayChange  bool   // a success changes something or not: only a run can tell
	Journaled  bool   // the journal must know when it acts, whatever its edges are
	KeepsState bool   // its last state stays true while it acts, so a killed run does not lose it
	Apart      bool   // it reads and changes one thing only: no two such resources change what the other reads
}

// Ask is what a walk knows of a resource when it reaches it.
type Ask struct {
	ID          string        // the resource's, for texts that tell a person what to do
	Refresh     Certainty     // whether it is refreshed (row 2 of the decision table)
	RefreshedBy []string      // ids of publishers that changed in this run, in the order of Upstream
	Owed        []OwedRefresh // what is owed to it from earlier runs
	Unfinished  string        // row 3's mark: the run that left creates unfinished, "" for none
	LastState   string        // what its last Effect told it to remember, "" when there is none or no one knows
	SkipGuards  bool          // start no process: guards stay unread
	Untouched   bool          // no resource of this run has acted yet: the answer of one query may serve for all of a type
	Probe       bool          // also start programs that can tell what acting would change
}

// Certainty is how sure a walk is of something.
type Certainty int

// The degrees of certainty. Only a preview is ever unsure.
const (
	No Certainty = iota
	Maybe
	Yes
)

// Decision is the answer of a Check.
type Decision struct {
	Act       bool
	Action    Action        // the kind of change, as far as it is known
	Reason    string        // why it acts or why not
	Read      []string      // properties whose reading decided: what runs upstream may change the answer
	Unread    []string      // properties that would have decided but were not read (Ask.SkipGuards)
	Guards    []GuardResult // every guard that was read
	Missing   bool          // something in creates was missing
	Diff      string        // what acting would change, as far as it can be shown
	MayChange bool          // acting may turn out to change nothing: a plan says may_run
	Warnings  []string      // what to know beside the reason: warnings
	Obstacles []string      // what would keep it from acting if it were now: for those who only look
}

// Action is the kind of change that a resource makes or would make.
type Action string

// The actions. NoAction is that of a command about whose effect nothing is known.
const (
	NoAction     Action = ""
	ActionCreate Action = "create"
	ActionChange Action = "change"
	ActionRemove Action = "remove"
	ActionCheck  Action = "check" // of a resource that can never change anything
)

// GuardResult is one guard that was read.
type GuardResult struct {
	Property string `json:"property"` // onlyif or unless
	Command  string `json:"command"`
	Exit     *int   `json:"exit"` // nil when it did not exit by itself
}

// ErrNotPermitted is wrapped by an error of Check or Run that more rights would have avoided.
var ErrNotPermitted = errors.New("not permitted")

// Stage is what a running resource may tell the run around it, until its Run
// returns: Output from any goroutine, Started only from that of Run itself.
type Stage struct {
	Output         func(line []byte)     // one line for people, without its end, as it comes; nil: nobody listens
	Started        func(p Process) error // a process of the resource leads from now on
	Refreshed      bool                  // the resource is refreshed
	LastState      string                // as in Ask
	ProcessTag     string                // for the process of this attempt; "" leaves the choice to the type
	RemembersState bool                  // a later run will know the effect's LastState
}

// Process identifies a process beyond the reuse of its pid.
type Process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`          // clock ticks since boot, as in /proc/PID/stat; 0 where unknown
	Boot  string `json:"boot,omitempty"` // id of the boot in which it runs; "" where unknown
}

// Measures are values that a type counts, by name. A result has the sum over
// the attempts of its resource.
type Measures map[string]float64

// Add adds other measures to these.
func (m *Measures) Add(other Measures) {
	if *m == nil && len(other) > 0 {
		*m = make(Measures, len(other))
	}
	for name, value := range other {
		(*m)[name] += value
	}
}

// Effect is how a Run went.
type Effect struct {
	Began     bool     // a process started or something was replaced: the run had an effect
	Again     bool     // after a failure another attempt is worthwhile although nothing began
	Measures  Measures // what its type counts over all runs
	Unchanged bool     // it succeeded and changed nothing
	Ended     Status   // Deferred or Shutdown; else the zero value
	Reason    string   // for Deferred, Shutdown and a success that has more to say
	Exit      *int
	Signal    string
	Output    string
	Truncated bool
	Diff      string
	Appeared  string   // a creates path that was missing before and is there after a failure
	Warnings  []string // e.g. creates is still missing after a success
	LastState string   // of a success: how it left things, short, for its next Check; "" is nothing
}
