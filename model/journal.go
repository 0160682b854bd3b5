package model

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// FactKind says what a journal entry states.
type FactKind string

// The kinds of facts. A kind's text is never reused for another meaning, and a
// new kind is a new version of the journal.
const (
	FactRun     FactKind = "run"    // a run began: Run, Time, User, PID
	FactDone    FactKind = "done"   // that run ended: the same, and Took, Exit, Summary, Keep
	FactBegan   FactKind = "begin"  // a resource is about to act: Run, ID, Alias, Subscribers, Missing
	FactProcess FactKind = "pid"    // its process leads: Run, ID, Process
	FactEnded   FactKind = "end"    // it ended: Run, ID, Alias, End
	FactSettled FactKind = "settle" // a "no" paid what was owed to it: Run, ID, Alias
	FactOwe     FactKind = "owe"    // a refresh is owed: ID (subscriber), By, Run (since)
	FactMark    FactKind = "mark"   // an attempt left creates unfinished: ID, Run (which)
	FactForget  FactKind = "forget" // debts and mark of ID (and Alias) are dropped; of all when ID is ""
)

// Known says whether the kind is one that this settle understands.
func (k FactKind) Known() bool {
	switch k {
	case FactRun, FactDone, FactBegan, FactProcess, FactEnded, FactSettled, FactOwe, FactMark, FactForget:
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
	EndDeferred    End = "deferred"    // the same, because a helper said so
	EndShutdown    End = "shutdown"    // a helper said to stop the server, and it was stopped
)

// Fact is one line of the journal. Which fields are set depends on the kind.
type Fact struct {
	Kind        FactKind  `json:"kind"`
	Run         string    `json:"run,omitempty"`
	ID          string    `json:"id,omitempty"`
	Alias       string    `json:"alias,omitempty"` // as type#alias
	Subscribers []string  `json:"subscribers,omitempty"`
	Missing     bool      `json:"missing,omitempty"`
	End         End       `json:"end,omitempty"`
	By          string    `json:"by,omitempty"`
	Process     *Process  `json:"process,omitempty"`
	Time        time.Time `json:"time,omitzero"` // when the run began
	User        string    `json:"user,omitempty"`
	PID         int       `json:"pid,omitempty"`
	Took        int64     `json:"took_ms,omitempty"`
	Exit        *int      `json:"exit,omitempty"`
	Summary     *Summary  `json:"summary,omitempty"`
	Keep        int       `json:"keep,omitempty"` // how many runs of each sort the history keeps; 0 is DefaultKeep
}

// Debt is one refresh that is owed: to a subscriber, by a publisher, since a run.
type Debt struct {
	ID    string // the subscriber
	By    string // the publisher, "" when only the loss of the state owes it
	Since string // the run
}

// Left is a process of an attempt that never ended, as far as the journal knows.
type Left struct {
	Process
	Run string
}

// Memory is what the journal's facts add up to.
type Memory struct {
	Debts   []Debt            // in the order in which they were made; one for each subscriber and publisher
	Marks   map[string]string // id -> the run that left its creates unfinished
	Left    map[string]Left   // id -> the process it may still have
	Shut    map[string]string // id -> the last run in which its helper said shutdown, and nothing else since
	Running []string          // what a run that still goes on has begun and not ended

	owed map[string][]int // id -> indexes into Debts
}

// Replay folds the facts of a journal, oldest first, into what they add up to
// now that no run goes on.
//
// A publisher that changed, that failed or was interrupted after its process
// started, or that began and never ended owes each subscriber of that moment
// one refresh; the subscriber's next success, or a "no" that settles, pays.
func Replay(facts []Fact) Memory { return ReplayDuring(facts, "") }

// ReplayDuring is Replay while a run still goes on: what that run has begun is
// not lost, its end is just not there yet.
func ReplayDuring(facts []Fact, run string) Memory {
	f := newFold(facts)
	if run == "" || f.run() != run {
		f.abandon()
	}
	m := f.memory()
	for _, id := range f.begun {
		if _, ok := f.open[id]; !ok {
			continue
		}
		m.Running = append(m.Running, id)
		if m.Left[id].Run == run {
			delete(m.Left, id)
		}
	}
	return m
}

// fold is a replay under way. Everything in it is found by id, so that a fact
// costs the same however much is owed.
type fold struct {
	owed  map[string][]numbered // by subscriber
	made  map[[2]string]bool    // subscriber and publisher of every debt in owed
	count int                   // debts ever made
	marks map[string]string
	left  map[string]Left
	shut  map[string]string
	open  map[string]Fact // began and not ended
	begun []string        // ids of open, oldest first, and of some that have ended
}

type numbered struct {
	Debt
	n int
}

func newFold(facts []Fact) *fold {
	f := &fold{
		owed: map[string][]numbered{}, made: map[[2]string]bool{},
		marks: map[string]string{}, left: map[string]Left{}, shut: map[string]string{}, open: map[string]Fact{},
	}
	for _, fact := range facts {
		f.add(fact)
	}
	return f
}

// run returns whose attempts are open: all of one run, since the next one's
// first fact closes them.
func (f *fold) run() string {
	for _, fact := range f.open {
		return fact.Run
	}
	return ""
}

func (f *fold) add(fact Fact) {
	switch fact.Kind {
	case FactRun, FactDone: // a run starts when no other goes on
		f.abandon()
	case FactBegan:
		if before, ok := f.open[fact.ID]; ok {
			f.lose(before)
		}
		f.open[fact.ID] = fact
		f.begun = append(f.begun, fact.ID)
	case FactProcess:
		if fact.Process != nil {
			f.left[fact.ID] = Left{*fact.Process, fact.Run}
		}
	case FactEnded:
		f.end(fact)
	case FactSettled:
		f.pay(fact.ID, fact.Alias)
	case FactOwe:
		f.owe(Debt{fact.ID, fact.By, fact.Run})
	case FactMark:
		f.marks[fact.ID] = fact.Run
	case FactForget:
		f.forget(fact)
	}
}

func (f *fold) end(fact Fact) {
	began := f.open[fact.ID]
	delete(f.open, fact.ID)
	if fact.End != EndNothing || f.left[fact.ID].Run == fact.Run {
		delete(f.left, fact.ID) // one of an earlier run is dead, or this attempt would not have been
		delete(f.left, fact.Alias)
	}
	switch fact.End {
	case EndStable, EndChanged:
		f.pay(fact.ID, fact.Alias)
		f.unmark(fact.ID, fact.Alias)
	case EndFailed, EndIgnored, EndInterrupted:
		if began.Missing {
			f.marks[fact.ID] = fact.Run
		}
	}
	switch fact.End {
	case EndChanged, EndFailed, EndInterrupted:
		f.charge(began)
	}
	switch fact.End {
	case EndShutdown:
		f.shut[fact.ID] = fact.Run
	case EndNothing: // nobody has said anything
	default:
		delete(f.shut, fact.ID)
		delete(f.shut, fact.Alias)
	}
}

// abandon closes what a run that was killed left open.
func (f *fold) abandon() {
	for _, id := range f.begun {
		if began, ok := f.open[id]; ok {
			delete(f.open, id)
			f.lose(began)
		}
	}
	f.begun = f.begun[:0]
}

// lose counts an attempt that never ended: whether it changed anything no one
// can tell, so it is as if it had, and as if it had failed.
func (f *fold) lose(began Fact) {
	if began.Missing {
		f.marks[began.ID] = began.Run
	}
	f.charge(began)
}

func (f *fold) charge(began Fact) {
	for _, subscriber := range began.Subscribers {
		f.owe(Debt{subscriber, began.ID, began.Run})
	}
}

// owe adds a debt; one that is owed already keeps its first run.
func (f *fold) owe(debt Debt) {
	key := [2]string{debt.ID, debt.By}
	if f.made[key] {
		return
	}
	f.made[key] = true
	f.owed[debt.ID] = append(f.owed[debt.ID], numbered{debt, f.count})
	f.count++
}

func (f *fold) pay(ids ...string) {
	for _, id := range ids {
		for _, debt := range f.owed[id] {
			delete(f.made, [2]string{debt.ID, debt.By})
		}
		delete(f.owed, id)
	}
}

func (f *fold) unmark(ids ...string) {
	for _, id := range ids {
		delete(f.marks, id)
	}
}

// forget drops what is remembered at its moment, so also what a killed run has
// left open: no run goes on while someone forgets.
func (f *fold) forget(fact Fact) {
	f.abandon()
	if fact.ID == "" {
		clear(f.owed)
		clear(f.made)
		clear(f.marks)
		clear(f.shut)
		return
	}
	delete(f.shut, fact.ID)
	delete(f.shut, fact.Alias)
	f.pay(fact.ID, fact.Alias)
	f.unmark(fact.ID, fact.Alias)
}

func (f *fold) memory() Memory {
	var all []numbered
	for _, debts := range f.owed {
		all = append(all, debts...)
	}
	slices.SortFunc(all, func(a, b numbered) int { return cmp.Compare(a.n, b.n) })
	m := Memory{Marks: f.marks, Left: f.left, Shut: f.shut}
	for _, debt := range all {
		m.Debts = append(m.Debts, debt.Debt)
	}
	m.index()
	return m
}

func (m *Memory) index() {
	m.owed = make(map[string][]int, len(m.Debts))
	for i, debt := range m.Debts {
		m.owed[debt.ID] = append(m.owed[debt.ID], i)
	}
}

// OwedTo returns what is owed to a resource, under its name or its alias, in
// the order in which it was made.
func (m *Memory) OwedTo(r *Resource) []Debt {
	if len(m.Debts) == 0 {
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
	var owed []Debt
	for _, i := range at {
		owed = append(owed, m.Debts[i])
	}
	return owed
}

// Mark returns the run that left the resource's creates unfinished, "" for none.
func (m *Memory) Mark(r *Resource) string {
	if run, ok := m.Marks[r.ID()]; ok {
		return run
	}
	return m.Marks[r.AliasID()]
}

// WasShut says whether the last thing that the resource's helper said was shutdown.
func (m *Memory) WasShut(r *Resource) bool {
	_, shut := m.Shut[r.ID()]
	_, before := m.Shut[r.AliasID()]
	return shut || before
}

// LeftBy returns the process that an attempt of the resource left, if the
// journal knows of one. Whether it still runs is for the caller to find out.
func (m *Memory) LeftBy(r *Resource) (Left, bool) {
	if left, ok := m.Left[r.ID()]; ok {
		return left, true
	}
	left, ok := m.Left[r.AliasID()]
	return left, ok
}

// Orphans returns the debts that nothing in the manifest can pay: their
// subscriber is gone, and no alias carries its name.
func (m *Memory) Orphans(manifest *Manifest) []Debt {
	if len(m.Debts) == 0 {
		return nil
	}
	there := make(map[string]bool, len(manifest.Resources))
	for i := range manifest.Resources {
		r := &manifest.Resources[i]
		there[r.ID()], there[r.AliasID()] = true, true
	}
	var orphans []Debt
	for _, debt := range m.Debts {
		if !there[debt.ID] {
			orphans = append(orphans, debt)
		}
	}
	return orphans
}

// Facts returns the shortest journal that adds up to the same memory.
func (m *Memory) Facts() []Fact {
	facts := make([]Fact, 0, len(m.Debts)+len(m.Marks)+len(m.Left)+len(m.Shut))
	for _, id := range slices.Sorted(maps.Keys(m.Shut)) { // first: it ends what else is said of the id
		facts = append(facts, Fact{Kind: FactEnded, ID: id, Run: m.Shut[id], End: EndShutdown})
	}
	for _, id := range slices.Sorted(maps.Keys(m.Marks)) {
		facts = append(facts, Fact{Kind: FactMark, ID: id, Run: m.Marks[id]})
	}
	for _, id := range slices.Sorted(maps.Keys(m.Left)) {
		left := m.Left[id]
		facts = append(facts, Fact{Kind: FactProcess, ID: id, Run: left.Run, Process: &left.Process})
	}
	for _, debt := range m.Debts {
		facts = append(facts, Fact{Kind: FactOwe, ID: debt.ID, By: debt.By, Run: debt.Since})
	}
	return facts
}

// OweAll returns the facts by which every subscriber of a manifest is owed one
// refresh: for a state that was lost, from which no one can tell who changed.
func OweAll(manifest *Manifest, run string) []Fact {
	var facts []Fact
	for i := range manifest.Resources {
		if r := &manifest.Resources[i]; r.Subscribes() {
			facts = append(facts, Fact{Kind: FactOwe, ID: r.ID(), Run: run})
		}
	}
	return facts
}
