package model

import (
	"slices"
	"time"
)

// FactKind says what a journal entry states.
type FactKind string

// The kinds of facts. A kind's text is never reused for another meaning.
const (
	FactRun     FactKind = "run"    // a run began: Run, Time, User, PID
	FactDone    FactKind = "done"   // that run ended: Run, Time, Exit
	FactBegan   FactKind = "begin"  // a resource is about to act: Run, ID, Alias, Subscribers, Missing
	FactProcess FactKind = "pid"    // its process leads: Run, ID, Process
	FactEnded   FactKind = "end"    // it ended: Run, ID, Alias, End
	FactSettled FactKind = "settle" // a "no" paid what was owed to it: Run, ID, Alias
	FactOwe     FactKind = "owe"    // a refresh is owed: ID (subscriber), By, Run (since)
	FactMark    FactKind = "mark"   // an attempt left creates unfinished: ID, Run (which)
	FactForget  FactKind = "forget" // debts and mark of ID (and Alias) are dropped; of all when ID is ""
)

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
	Time        time.Time `json:"time,omitzero"`
	User        string    `json:"user,omitempty"`
	PID         int       `json:"pid,omitempty"`
	Exit        *int      `json:"exit,omitempty"`
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
	Debts []Debt            // in the order in which they were made
	Marks map[string]string // id -> the run that left its creates unfinished
	Left  map[string]Left   // id -> the process it may still have
}

// Replay folds the facts of a journal, oldest first, into what they add up to.
//
// A publisher that changed, that failed or was interrupted after its process
// started, or that began and never ended owes each subscriber of that moment
// one refresh; the subscriber's next success, or a "no" that settles, pays.
func Replay(facts []Fact) Memory {
	f := fold{open: map[string]Fact{}, m: Memory{Marks: map[string]string{}, Left: map[string]Left{}}}
	for _, fact := range facts {
		f.add(fact)
	}
	f.abandon()
	return f.m
}

type fold struct {
	m    Memory
	open map[string]Fact // began and not ended, by id
	ids  []string        // of open, in order
}

func (f *fold) add(fact Fact) {
	switch fact.Kind {
	case FactRun:
		f.abandon()
	case FactBegan:
		f.open[fact.ID] = fact
		f.ids = append(f.ids, fact.ID)
		delete(f.m.Left, fact.ID)
	case FactProcess:
		f.m.Left[fact.ID] = Left{*fact.Process, fact.Run}
	case FactEnded:
		f.end(fact)
	case FactSettled:
		f.pay(fact.ID, fact.Alias)
	case FactOwe:
		f.owe(Debt{fact.ID, fact.By, fact.Run})
	case FactMark:
		f.m.Marks[fact.ID] = fact.Run
	case FactForget:
		f.forget(fact)
	}
}

func (f *fold) end(fact Fact) {
	began, ok := f.open[fact.ID]
	delete(f.open, fact.ID)
	delete(f.m.Left, fact.ID)
	switch fact.End {
	case EndStable, EndChanged:
		f.pay(fact.ID, fact.Alias)
		delete(f.m.Marks, fact.ID)
		delete(f.m.Marks, fact.Alias)
	case EndFailed, EndIgnored, EndInterrupted:
		if ok && began.Missing {
			f.m.Marks[fact.ID] = fact.Run
		}
	}
	switch fact.End {
	case EndChanged, EndFailed, EndInterrupted:
		f.charge(began)
	}
}

// abandon closes what a run that was killed left open: whether it changed
// anything no one can tell, so it counts as if it had.
func (f *fold) abandon() {
	for _, id := range f.ids {
		began, ok := f.open[id]
		if !ok {
			continue
		}
		delete(f.open, id)
		if began.Missing {
			f.m.Marks[id] = began.Run
		}
		f.charge(began)
	}
	f.ids = f.ids[:0]
}

func (f *fold) charge(began Fact) {
	for _, subscriber := range began.Subscribers {
		f.owe(Debt{subscriber, began.ID, began.Run})
	}
}

// owe adds a debt; one that is owed already keeps its first run.
func (f *fold) owe(debt Debt) {
	if !slices.ContainsFunc(f.m.Debts, func(d Debt) bool { return d.ID == debt.ID && d.By == debt.By }) {
		f.m.Debts = append(f.m.Debts, debt)
	}
}

func (f *fold) pay(id, alias string) {
	f.m.Debts = slices.DeleteFunc(f.m.Debts, func(d Debt) bool { return d.ID == id || (alias != "" && d.ID == alias) })
}

func (f *fold) forget(fact Fact) {
	if fact.ID == "" {
		f.m.Debts = nil
		clear(f.m.Marks)
		return
	}
	f.pay(fact.ID, fact.Alias)
	delete(f.m.Marks, fact.ID)
	delete(f.m.Marks, fact.Alias)
}

// OwedTo returns what is owed to a resource, under its name or its alias.
func (m *Memory) OwedTo(r *Resource) []Debt {
	var owed []Debt
	id, alias := r.ID(), r.AliasID()
	for _, d := range m.Debts {
		if d.ID == id || d.ID == alias {
			owed = append(owed, d)
		}
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

// LeftBy returns the process that an attempt of the resource left, if the
// journal knows of one. Whether it still runs is for the caller to find out.
func (m *Memory) LeftBy(r *Resource) (Left, bool) {
	if left, ok := m.Left[r.ID()]; ok {
		return left, true
	}
	left, ok := m.Left[r.AliasID()]
	return left, ok
}
