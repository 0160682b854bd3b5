package model

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// RecordKind says what a journal entry states.
type RecordKind string

// The kinds of facts. A kind's text is never reused for another meaning, and a
// new kind is a new version of the journal.
const (
	RecordRun        RecordKind = "run"    // a run began: Run, Time, User, PID
	RecordDone       RecordKind = "done"   // that run ended: the same, and Took, Exit, Summary, Keep
	RecordBegan      RecordKind = "begin"  // a resource is about to act: Run, ID, Alias, Subscribers, Missing, Tag
	RecordProcess    RecordKind = "pid"    // its process leads: Run, ID, Process; compacted also Tag
	RecordEnded      RecordKind = "end"    // it ended: Run, ID, Alias, End
	RecordSettled    RecordKind = "settle" // a "no" paid what was owed to it: Run, ID, Alias
	RecordOwed       RecordKind = "owe"    // a refresh is owed: ID (subscriber), By, Run (since)
	RecordUnfinished RecordKind = "mark"   // an attempt left creates unfinished: ID, Run (which)
	RecordLastState  RecordKind = "last"   // how a resource left things, "" for no one knows: ID, Alias, Last
	RecordForget     RecordKind = "forget" // what is remembered of ID (and Alias) is dropped; of all when ID is ""
)

// Known says whether the kind is one that this settle understands.
func (k RecordKind) Known() bool {
	switch k {
	case RecordRun, RecordDone, RecordBegan, RecordProcess, RecordEnded, RecordSettled, RecordOwed, RecordUnfinished, RecordLastState, RecordForget:
		return true
	}
	return false
}

// End is how an attempt ended, as the journal has it.
type End string

// The ends of a resource that began.
const (
	EndStable      End = "stable"
	EndChanged     End = "changed"
	EndFailed      End = "failed"
	EndIgnored     End = "ignored"     // failed, with ignore_failure
	EndInterrupted End = "interrupted" // by a signal to settle or its run timeout
	EndNothing     End = "nothing"     // without effect: it could not start, or wrote nothing
	EndDeferred    End = "deferred"    // the same, because the resource is to be left alone for now
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
	Labels      map[string]string `json:"labels,omitempty"` // of the run, as its caller gave them
	Synced      int64             `json:"synced,omitempty"` // so many bytes of the journal were synced before this record
	Keep        int               `json:"keep,omitempty"`   // how many runs of each sort the history keeps; 0 is DefaultKeep
}

// OwedRefresh is one refresh that is owed: to a subscriber, by a publisher, since a run.
type OwedRefresh struct {
	ID    string // the subscriber
	By    string // the publisher, "" when only the loss of the state owes it
	Since string // the run
}

// StrayProcess is a process of an attempt that never ended, as far as the journal knows.
type StrayProcess struct {
	Process        // PID is 0 when settle was killed before it could record the process
	Run     string // that started it
	ID      string // of its resource
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

// MayCarry reports whether a process with this ProcessTag is an attempt of the
// resource that the journal has no process of.
func (s *StrayProcess) MayCarry(tag string) bool {
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

// cutAttempt splits run/n.attempt behind run/n.
func cutAttempt(tag string) (base string, attempt int, ok bool) {
	i := strings.LastIndexByte(tag, '.')
	if i < 0 {
		return "", 0, false
	}
	attempt, err := strconv.Atoi(tag[i+1:])
	return tag[:i], attempt, err == nil
}

// Memory is what the journal's facts add up to.
type Memory struct {
	Owed       []OwedRefresh           // in the order in which they were made; one for each subscriber and publisher
	Unfinished map[string]string       // id -> the run that left its creates unfinished
	Strays     map[string]StrayProcess // id -> the process it may still have
	LastStates map[string]string       // id -> how it left things when it last acted, in words of its type's own
	Running    []string                // what a run that still goes on has begun and not ended

	owed map[string][]int // id -> indexes into Debts
}

func (m *Memory) index() {
	m.owed = make(map[string][]int, len(m.Owed))
	for i, debt := range m.Owed {
		m.owed[debt.ID] = append(m.owed[debt.ID], i)
	}
}

// OwedTo returns what is owed to a resource, under its name or its alias, in
// the order in which it was made.
func (m *Memory) OwedTo(r *Resource) []OwedRefresh {
	if len(m.Owed) == 0 {
		return nil
	}
	if m.owed == nil { // made by hand
		m.index()
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

// UnfinishedIn returns the run that left the resource's creates unfinished, "" for none.
func (m *Memory) UnfinishedIn(r *Resource) string {
	if run, ok := m.Unfinished[r.ID()]; ok {
		return run
	}
	return m.Unfinished[r.AliasID()]
}

// StrayOf returns the process that an attempt of the resource left, if the
// journal knows of one. Whether it still runs is for the caller to find out.
func (m *Memory) StrayOf(r *Resource) (StrayProcess, bool) {
	if left, ok := m.Strays[r.ID()]; ok {
		return left, true
	}
	left, ok := m.Strays[r.AliasID()]
	return left, ok
}

// LastStateOf returns how the resource left things when it last acted, "" when no
// one knows.
func (m *Memory) LastStateOf(r *Resource) string {
	if len(m.LastStates) == 0 {
		return ""
	}
	if last, ok := m.LastStates[r.ID()]; ok {
		return last
	}
	return m.LastStates[r.AliasID()]
}

// DropLastStates returns the facts that drop how resources left things which the manifest
// does not have any more: else a manifest whose names come and go would make
// the journal grow for ever.
func (m *Memory) DropLastStates(manifest *Manifest) []Record {
	there := 0
	for i := 0; len(m.LastStates) > there && i < len(manifest.Resources); i++ {
		r := &manifest.Resources[i]
		there += m.lasts(r.ID())
		if r.Alias != "" && r.Alias != r.Name {
			there += m.lasts(r.AliasID())
		}
	}
	if there == len(m.LastStates) { // mostly, and found out without making a set of all names
		return nil
	}
	var facts []Record
	names := manifest.names()
	for _, id := range slices.Sorted(maps.Keys(m.LastStates)) {
		if !names[id] {
			facts = append(facts, Record{Kind: RecordLastState, ID: id})
		}
	}
	return facts
}

// lasts is how often something is remembered under a name: once or never.
func (m *Memory) lasts(id string) int {
	if _, ok := m.LastStates[id]; ok {
		return 1
	}
	return 0
}

// Size is how many facts the memory adds up from at least.
func (m *Memory) Size() int {
	return len(m.Owed) + len(m.Unfinished) + len(m.Strays) + len(m.LastStates)
}

// names returns what the manifest's resources are called, by name and alias.
func (m *Manifest) names() map[string]bool {
	names := make(map[string]bool, len(m.Resources))
	for i := range m.Resources {
		r := &m.Resources[i]
		names[r.ID()] = true
		if r.Alias != "" {
			names[r.AliasID()] = true
		}
	}
	return names
}

// OrphanedRefreshes returns the debts that nothing in the manifest can pay: their
// subscriber is gone, and no alias carries its name.
func (m *Memory) OrphanedRefreshes(manifest *Manifest) []OwedRefresh {
	if len(m.Owed) == 0 {
		return nil
	}
	there := manifest.names()
	var orphans []OwedRefresh
	for _, debt := range m.Owed {
		if !there[debt.ID] {
			orphans = append(orphans, debt)
		}
	}
	return orphans
}

// Records returns the shortest journal that adds up to the same memory.
func (m *Memory) Records() []Record {
	facts := make([]Record, 0, m.Size())
	for _, id := range slices.Sorted(maps.Keys(m.Unfinished)) {
		facts = append(facts, Record{Kind: RecordUnfinished, ID: id, Run: m.Unfinished[id]})
	}
	for _, id := range slices.Sorted(maps.Keys(m.LastStates)) {
		facts = append(facts, Record{Kind: RecordLastState, ID: id, LastState: m.LastStates[id]})
	}
	for _, id := range slices.Sorted(maps.Keys(m.Strays)) {
		left := m.Strays[id]
		facts = append(facts, Record{Kind: RecordProcess, ID: id, Run: left.Run, Process: &left.Process, Tag: left.Tag})
	}
	for _, debt := range m.Owed {
		facts = append(facts, Record{Kind: RecordOwed, ID: debt.ID, By: debt.By, Run: debt.Since})
	}
	return facts
}

// OweAll returns the facts by which every subscriber of a manifest is owed one
// refresh: for a state that was lost, from which no one can tell who changed.
func OweAll(manifest *Manifest, run string) []Record {
	var facts []Record
	for i := range manifest.Resources {
		if r := &manifest.Resources[i]; r.Subscribes() && r.Off == "" {
			facts = append(facts, Record{Kind: RecordOwed, ID: r.ID(), Run: run})
		}
	}
	return facts
}
