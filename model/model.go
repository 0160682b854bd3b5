// Package model defines the data types of settle (manifest, resource, plan, result,
// report, journal record) and the pure functions over them. It does no IO: it
// uses no files, processes, clock or log. Packages above it pass functions that
// read or change the machine.
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

// String returns the reference as a manifest writes it.
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

// Manifest is a valid manifest. Package manifests returns one only when it has no
// problems.
type Manifest struct {
	Path           string // as the user gave it; "-" is standard input
	Dir            string // absolute; the base of relative paths
	Name           string // the name key, "" when not given
	Identity       string // of the journal: Name, else the absolute path, "" for a nameless "-"
	Hash           string // of the files' bytes and of all inserted values, for saved plans
	TextHash       string // of the files' bytes alone
	Description    string
	Parallel       int // at least 1
	FailFast       bool
	CleanEnv       bool
	OnMissingState string // "", ignore, refresh or fail
	Secrets        []string
	SecretValues   []string // the values of these names in the environment of resources
	PreMessage     string   // a ccm manifest's log lines
	PostMessage    string
	Resources      []Resource // in the order of the file; an index into it is a resource's identity in a run
	Order          []int      // indexes, upstream first; the file's order breaks ties
}

// Edge is a dependency of a resource on another one that goes first.
type Edge struct {
	On      int    // index of the resource that goes first
	Refresh bool   // a change of that resource refreshes this one
	By      string // the property that made the edge: require, subscribe, before, notify; parent or source for an edge that follows from a directory or a file that is read
	Pos     Pos    // where the edge is declared
}

// Resource is one resource of a manifest: the properties of every type, and its Spec.
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
	Upstream      []Edge   // in the order of the file: require, subscribe, then edges written at the other end
	Subscribers   []string // ids of the resources that it refreshes and that are not off, selected or not
	// HasUnselectedPublisher is set when it subscribes to a resource that is not
	// selected. That resource may still owe it a refresh later.
	HasUnselectedPublisher bool
	Off                    string     // why it is not for this machine (its when is false), else ""
	Values                 []ValueUse // the values that were inserted into its properties
	Spec                   Spec
}

// ValueUse is a value that replaced an expression of a manifest.
type ValueUse struct {
	Expression string `json:"expression"`     // as it is written: ${var.x}
	Value      string `json:"value"`          // as text; *** for a secret
	From       string `json:"from,omitempty"` // the levels that gave it; "" for a value that no level gave
	Pos
}

// ID returns the resource's reference as text: its identity in reports and in the journal.
func (r *Resource) ID() string { return r.Ref.String() }

// AliasID returns the reference by alias as text, or "" without an alias.
func (r *Resource) AliasID() string {
	if r.Alias == "" {
		return ""
	}
	return Ref{r.Type, r.Alias}.String()
}

// Publishes reports whether anything subscribes to the resource.
func (r *Resource) Publishes() bool { return len(r.Subscribers) > 0 }

// Subscribes reports whether the resource subscribes to anything.
func (r *Resource) Subscribes() bool {
	for _, e := range r.Upstream {
		if e.Refresh {
			return true
		}
	}
	return false
}

// Journaled reports whether the journal must record when the resource acts: it
// publishes, subscribes, has creates, or its type asks for it.
func (r *Resource) Journaled() bool {
	about := r.Spec.About()
	return r.Publishes() || r.Subscribes() || r.HasUnselectedPublisher || about.Creates || about.Journaled
}

// OnRefresh is the effect of a refresh on a resource.
type OnRefresh int

// The values of on_refresh.
const (
	RefreshRuns   OnRefresh = iota // a refresh runs it, regardless of creates and guards
	RefreshChecks                  // a refresh makes it due; creates and guards decide
)

// Type is a resource type: its name, its properties and the function that decodes
// an entry into a Spec.
type Type struct {
	Name       string
	Meaning    string     // one sentence, for explain, the schema and the README
	Properties []Property // its own; those of every type are in Common
	Decode     func(*Body) Spec
}

// Spec is the declaration of one resource. It is the only interface of a type.
type Spec interface {
	// About returns the facts that are known without reading the machine.
	About() About
	// Check decides whether the resource has to act, and why. It changes nothing.
	// An error means that it could not decide.
	Check(ctx context.Context, ask Ask) (Decision, error)
	// Run acts. The error is the cause of a failure, without the resource's name.
	// The effect is valid in both cases.
	Run(ctx context.Context, stage Stage) (Effect, error)
}

// About holds the facts about a resource that are known without reading the machine.
type About struct {
	Command    string // as text that a shell reads back
	Cwd        string
	Expects    string // what counts as success, e.g. "returns 0"
	User       string // the user it runs as when that needs root; "" for the user of settle
	Quiet      bool   // text formats leave its output out
	Creates    bool   // it has creates
	Check      bool   // every success leaves the machine unchanged, so it never counts as due
	MayChange  bool   // a success may change nothing; only the run can tell
	Journaled  bool   // the journal must record when it acts, even without edges
	KeepsState bool   // its last state stays true while it acts, so a killed run does not lose it
	// Independent is set when the resource reads and changes one object only, such
	// as one file. No two independent resources then affect each other's checks.
	Independent bool
}

// Ask is the knowledge of a walk about a resource when it reaches the resource.
type Ask struct {
	ID          string        // of the resource, for messages that name it
	Refresh     Certainty     // whether it is refreshed (row 2 of the decision table)
	RefreshedBy []string      // ids of publishers that changed in this run, in the order of Upstream
	Owed        []OwedRefresh // refreshes that earlier runs owe to it
	Unfinished  string        // row 3: the run that left creates unfinished, "" without one
	LastState   string        // Effect.LastState of its last run, "" when it is unknown
	SkipGuards  bool          // start no process: guards are not read
	Untouched   bool          // no resource of this run has acted yet, so one query may answer for all resources of a type
	Probe       bool          // also start programs that predict the changes
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
	Read      []string      // properties whose reading decided: resources upstream may change them
	Unread    []string      // properties that would have decided but were not read (Ask.SkipGuards)
	Guards    []GuardResult // every guard that was read
	Missing   bool          // a path in creates was missing
	Diff      string        // the changes that acting would make, as far as they can be shown
	MayChange bool          // acting may change nothing: a plan says may_run
	Warnings  []string      // for the user, beside the reason
	Obstacles []string      // why acting would fail now; a preview reports them as warnings
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

// ErrNotPermitted is wrapped by errors of Check and Run that occur because settle
// lacks rights.
var ErrNotPermitted = errors.New("not permitted")

// Stage connects a running resource with its walk until its Run returns. Output may
// be called from any goroutine, Started only from the goroutine of Run.
type Stage struct {
	Output         func(line []byte)     // one line of output without its end; nil: output is not shown
	Started        func(p Process) error // reports a process of the resource that has started
	Refreshed      bool                  // the resource is refreshed
	LastState      string                // as in Ask
	ProcessTag     string                // for the process of this attempt; "" leaves the choice to the type
	RemembersState bool                  // a later run will read the effect's LastState
}

// Process identifies a process, also after its pid was reused.
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

// Effect is the result of a Run.
type Effect struct {
	Began     bool     // a process started or something was replaced: the run had an effect
	Again     bool     // after a failure another attempt is worthwhile although nothing began
	Measures  Measures // values that its type counts
	Unchanged bool     // it succeeded and changed nothing
	Ended     Status   // Deferred or Shutdown; else the zero value
	Reason    string   // for Deferred, Shutdown and a success with details
	Exit      *int
	Signal    string
	Output    string
	Truncated bool
	Diff      string
	Appeared  string   // a creates path that was missing before and exists after a failure
	Warnings  []string // e.g. creates is still missing after a success
	LastState string   // of a success: a short text for its next Check; "" for none
}
