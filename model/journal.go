package model

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// RecordKind is the kind of a journal entry.
type RecordKind string

// The kinds of records. The text of a kind is never reused for another meaning. A
// new kind needs a new version of the journal.
const (
	RecordRun        RecordKind = "run"    // a run began: Run, Time, User, PID
	RecordDone       RecordKind = "done"   // that run ended: the same, and Took, Exit, Summary, Keep
	RecordBegan      RecordKind = "begin"  // a resource is about to act: Run, ID, Alias, Subscribers, Missing, Tag
	RecordProcess    RecordKind = "pid"    // it started this process: Run, ID, Process; compacted also Tag
	RecordEnded      RecordKind = "end"    // it ended: Run, ID, Alias, End
	RecordSettled    RecordKind = "settle" // a check decided not to act, which settles its owed refreshes: Run, ID, Alias
	RecordOwed       RecordKind = "owe"    // a refresh is owed: ID (subscriber), By, Run (since)
	RecordUnfinished RecordKind = "mark"   // an attempt left creates unfinished: ID, Run (of the attempt)
	RecordLastState  RecordKind = "last"   // the last state of a resource, "" when it is unknown: ID, Alias, LastState
	RecordForget     RecordKind = "forget" // the memory of ID (and Alias) is dropped; of all resources when ID is ""
)

// IsKnown reports whether this version of settle understands the kind.
func (k RecordKind) IsKnown() bool {
	switch k {
	case RecordRun, RecordDone, RecordBegan, RecordProcess, RecordEnded, RecordSettled, RecordOwed, RecordUnfinished, RecordLastState, RecordForget:
		return true
	}
	return false
}

// End is the end of an attempt, in the words of the journal.
type End string

// The ends of a resource that began.
const (
	EndStable      End = "stable"
	EndChanged     End = "changed"
	EndFailed      End = "failed"
	EndIgnored     End = "ignored"     // failed, with ignore_failure
	EndInterrupted End = "interrupted" // by a signal to settle or by the run timeout
	EndNothing     End = "nothing"     // no effect: it could not start, or wrote nothing
	EndDeferred    End = "deferred"    // no effect, because the resource was deferred
	EndShutdown    End = "shutdown"    // the resource was stopped for good
)

// Record is one line of the journal. Which fields are set depends on the kind.
type Record struct {
	Kind        RecordKind        `json:"kind"`
	Run         string            `json:"run,omitempty"`
	ID          string            `json:"id,omitempty"`
	Alias       string            `json:"alias,omitempty"` // as type#alias
	Subscribers []string          `json:"subscribers,omitempty"`
	Missing     bool              `json:"missing,omitempty"`
	End         End               `json:"end,omitempty"`
	By          string            `json:"by,omitempty"`
	LastState   string            `json:"last,omitempty"`
	Tag         string            `json:"tag,omitempty"` // ProcessTag of the first attempt's process
	Process     *Process          `json:"process,omitempty"`
	Time        time.Time         `json:"time,omitzero"` // when the run began
	User        string            `json:"user,omitempty"`
	PID         int               `json:"pid,omitempty"`
	Took        int64             `json:"took_ms,omitempty"`
	Exit        *int              `json:"exit,omitempty"`
	Summary     *Summary          `json:"summary,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"` // of the run
	Synced      int64             `json:"synced,omitempty"` // number of bytes of the journal that were synced before this record
	Keep        int               `json:"keep,omitempty"`   // number of runs of each sort that the history keeps; 0 is DefaultKeep
}

// OwedRefresh is a refresh that a publisher owes to a subscriber since a run.
type OwedRefresh struct {
	ID    string // the subscriber
	By    string // the publisher, "" when it is owed because the state was lost
	Since string // the run
}

// StrayProcess is a process of an attempt that has no end in the journal.
type StrayProcess struct {
	Process        // PID is 0 when settle was killed before it could record the process
	Run     string // the run that started it
	ID      string // its resource
	// Tag identifies a later attempt whose process was started but not recorded:
	// it carries a tag of AttemptTag with a higher attempt. "" excludes one.
	Tag string
}

// AttemptTag returns the ProcessTag of an attempt, counted from 1, of a resource
// that began with this tag.
func AttemptTag(tag string, attempt int) string {
	if attempt == 1 || tag == "" {
		return tag
	}
	return tag + "." + strconv.Itoa(attempt)
}

// IsUnrecorded reports whether a process with this ProcessTag belongs to an attempt
// of the resource that has no process in the journal.
func (s *StrayProcess) IsUnrecorded(tag string) bool {
	base, last, ok := cutAttempt(s.Tag)
	if !ok || !strings.HasPrefix(tag, base) {
		return false
	}
	attempt := 1
	if tag != base {
		other, n, ok := cutAttempt(tag)
		if !ok || other != base {
			return false
		}
		attempt = n
	}
	return attempt > last
}

// cutAttempt splits a tag of the form run/n.attempt into run/n and the attempt.
func cutAttempt(tag string) (base string, attempt int, ok bool) {
	i := strings.LastIndexByte(tag, '.')
	if i < 0 {
		return "", 0, false
	}
	attempt, err := strconv.Atoi(tag[i+1:])
	return tag[:i], attempt, err == nil
}

// Memory is the state that the records of a journal add up to.
type Memory struct {
	Owed       []OwedRefresh           // oldest first; one for each subscriber and publisher
	Unfinished map[string]string       // by id: the run that left its creates unfinished
	Strays     map[string]StrayProcess // by id: the process that may still run
	LastStates map[string]string       // by id: its last state, in the type's own form
	Running    []string                // ids of the resources that a run in progress has begun and not ended

	owed map[string][]int // by id: indexes into Owed
}

func (m *Memory) indexOwed() {
	m.owed = make(map[string][]int, len(m.Owed))
	for i, owed := range m.Owed {
		m.owed[owed.ID] = append(m.owed[owed.ID], i)
	}
}

// OwedTo returns the refreshes that are owed to a resource, under its name or its
// alias, oldest first.
func (m *Memory) OwedTo(r *Resource) []OwedRefresh {
	if len(m.Owed) == 0 {
		return nil
	}
	if m.owed == nil { // not made by Replay
		m.indexOwed()
	}
	at := m.owed[r.ID()]
	if alias := r.AliasID(); alias != "" && alias != r.ID() {
		at = slices.Concat(at, m.owed[alias])
		slices.Sort(at)
	}
	var owed []OwedRefresh
	for _, i := range at {
		owed = append(owed, m.Owed[i])
	}
	return owed
}

// UnfinishedIn returns the run that left the resource's creates unfinished, ""
// without one.
func (m *Memory) UnfinishedIn(r *Resource) string {
	if run, ok := m.Unfinished[r.ID()]; ok {
		return run
	}
	return m.Unfinished[r.AliasID()]
}

// StrayOf returns the process that an attempt of the resource left in the journal.
// The caller has to find out whether it still runs.
func (m *Memory) StrayOf(r *Resource) (StrayProcess, bool) {
	if stray, ok := m.Strays[r.ID()]; ok {
		return stray, true
	}
	stray, ok := m.Strays[r.AliasID()]
	return stray, ok
}

// LastStateOf returns the last state of the resource, "" when it is unknown.
func (m *Memory) LastStateOf(r *Resource) string {
	if len(m.LastStates) == 0 {
		return ""
	}
	if last, ok := m.LastStates[r.ID()]; ok {
		return last
	}
	return m.LastStates[r.AliasID()]
}

// DropLastStates returns the records that drop the last states of resources which
// are no longer in the manifest. Without them the journal of a manifest whose names
// come and go would grow for ever.
func (m *Memory) DropLastStates(manifest *Manifest) []Record {
	present := 0
	for i := 0; len(m.LastStates) > present && i < len(manifest.Resources); i++ {
		r := &manifest.Resources[i]
		present += m.countLastState(r.ID())
		if r.Alias != "" && r.Alias != r.Name {
			present += m.countLastState(r.AliasID())
		}
	}
	if present == len(m.LastStates) { // the usual case, found without a set of all names
		return nil
	}
	var records []Record
	ids := manifest.listIDs()
	for _, id := range slices.Sorted(maps.Keys(m.LastStates)) {
		if !ids[id] {
			records = append(records, Record{Kind: RecordLastState, ID: id})
		}
	}
	return records
}

// countLastState returns 1 when there is a last state under an id, else 0.
func (m *Memory) countLastState(id string) int {
	if _, ok := m.LastStates[id]; ok {
		return 1
	}
	return 0
}

// Size returns how many records the memory needs at least.
func (m *Memory) Size() int {
	return len(m.Owed) + len(m.Unfinished) + len(m.Strays) + len(m.LastStates)
}

// listIDs returns the set of the resources' ids, by name and by alias.
func (m *Manifest) listIDs() map[string]bool {
	ids := make(map[string]bool, len(m.Resources))
	for i := range m.Resources {
		r := &m.Resources[i]
		ids[r.ID()] = true
		if r.Alias != "" {
			ids[r.AliasID()] = true
		}
	}
	return ids
}

// OrphanedRefreshes returns the owed refreshes whose subscriber is no longer in the
// manifest, neither by name nor by alias.
func (m *Memory) OrphanedRefreshes(manifest *Manifest) []OwedRefresh {
	if len(m.Owed) == 0 {
		return nil
	}
	ids := manifest.listIDs()
	var orphans []OwedRefresh
	for _, owed := range m.Owed {
		if !ids[owed.ID] {
			orphans = append(orphans, owed)
		}
	}
	return orphans
}

// Records returns the shortest journal with the same memory.
func (m *Memory) Records() []Record {
	records := make([]Record, 0, m.Size())
	for _, id := range slices.Sorted(maps.Keys(m.Unfinished)) {
		records = append(records, Record{Kind: RecordUnfinished, ID: id, Run: m.Unfinished[id]})
	}
	for _, id := range slices.Sorted(maps.Keys(m.LastStates)) {
		records = append(records, Record{Kind: RecordLastState, ID: id, LastState: m.LastStates[id]})
	}
	for _, id := range slices.Sorted(maps.Keys(m.Strays)) {
		stray := m.Strays[id]
		records = append(records, Record{Kind: RecordProcess, ID: id, Run: stray.Run, Process: &stray.Process, Tag: stray.Tag})
	}
	for _, owed := range m.Owed {
		records = append(records, Record{Kind: RecordOwed, ID: owed.ID, By: owed.By, Run: owed.Since})
	}
	return records
}

// OweAll returns the records that owe one refresh to every subscriber of a
// manifest. It is for a lost state, which no longer tells which publisher changed.
func OweAll(manifest *Manifest, run string) []Record {
	var records []Record
	for i := range manifest.Resources {
		if r := &manifest.Resources[i]; r.Subscribes() && r.Off == "" {
			records = append(records, Record{Kind: RecordOwed, ID: r.ID(), Run: run})
		}
	}
	return records
}
