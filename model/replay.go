package model

import (
	"cmp"
	"slices"
	"strconv"
)

// Replay folds the facts of a journal, oldest first, into what they add up to
// now that no run goes on.
//
// A publisher that changed, that failed or was interrupted after its process
// started, or that began and never ended owes each subscriber of that moment
// one refresh; the subscriber's next success, or a "no" that settles, pays.
func Replay(facts []Record) Memory { return ReplayDuring(facts, "") }

// ReplayDuring is Replay while a run still goes on: what that run has begun is
// not lost, its end is just not there yet.
func ReplayDuring(facts []Record, run string) Memory {
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
		if m.Strays[id].Run == run {
			delete(m.Strays, id)
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
	left  map[string]StrayProcess
	last  map[string]string
	open  map[string]Record // began and not ended
	begun []string          // ids of open, oldest first, and of some that have ended

	recorded map[string]int // how many processes of the latest attempts of an id have a record
}

type numbered struct {
	OwedRefresh
	n int
}

func newFold(facts []Record) *fold {
	f := &fold{
		owed: map[string][]numbered{}, made: map[[2]string]bool{},
		marks: map[string]string{}, left: map[string]StrayProcess{}, last: map[string]string{}, open: map[string]Record{},
		recorded: map[string]int{},
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

func (f *fold) add(fact Record) {
	switch fact.Kind {
	case RecordRun, RecordDone: // a run starts when no other goes on
		f.abandon()
	case RecordBegan:
		if before, ok := f.open[fact.ID]; ok {
			f.lose(before)
		}
		f.open[fact.ID] = fact
		f.recorded[fact.ID] = 0
		f.begun = append(f.begun, fact.ID)
	case RecordProcess:
		if fact.Process != nil {
			f.left[fact.ID] = StrayProcess{Process: *fact.Process, Run: fact.Run, ID: fact.ID, Tag: fact.Tag}
			f.recorded[fact.ID]++
		}
	case RecordEnded:
		f.end(fact)
	case RecordSettled:
		f.pay(fact.ID, fact.Alias)
	case RecordOwed:
		f.owe(OwedRefresh{fact.ID, fact.By, fact.Run})
	case RecordUnfinished:
		f.marks[fact.ID] = fact.Run
	case RecordLastState:
		delete(f.last, fact.ID)
		delete(f.last, fact.Alias)
		if fact.LastState != "" {
			f.last[fact.ID] = fact.LastState
		}
	case RecordForget:
		f.forget(fact)
	}
}

// lastShutdown is the last state of a resource whose latest end is EndShutdown.
// Older journals have no record of that state itself.
const lastShutdown = string(EndShutdown)

func (f *fold) end(fact Record) {
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
		f.last[fact.ID] = lastShutdown
	case EndNothing: // the attempt had no effect
	default:
		for _, id := range []string{fact.ID, fact.Alias} {
			if f.last[id] == lastShutdown {
				delete(f.last, id)
			}
		}
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
func (f *fold) lose(began Record) {
	if began.Missing {
		f.marks[began.ID] = began.Run
	}
	f.expectStray(began)
	f.charge(began)
}

// expectStray notes that the run may have been killed after it started a process
// and before it recorded that process.
func (f *fold) expectStray(began Record) {
	if began.Tag == "" {
		return
	}
	stray, ok := f.left[began.ID]
	if !ok || stray.Run != began.Run {
		stray = StrayProcess{Run: began.Run, ID: began.ID}
	}
	stray.Tag = began.Tag + "." + strconv.Itoa(f.recorded[began.ID])
	f.left[began.ID] = stray
}

func (f *fold) charge(began Record) {
	for _, subscriber := range began.Subscribers {
		f.owe(OwedRefresh{subscriber, began.ID, began.Run})
	}
}

// owe adds a debt; one that is owed already keeps its first run.
func (f *fold) owe(debt OwedRefresh) {
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
func (f *fold) forget(fact Record) {
	f.abandon()
	if fact.ID == "" {
		clear(f.owed)
		clear(f.made)
		clear(f.marks)
		clear(f.last)
		for id := range f.left {
			f.dropExpected(id)
		}
		return
	}
	f.dropExpected(fact.ID)
	f.dropExpected(fact.Alias)
	delete(f.last, fact.ID)
	delete(f.last, fact.Alias)
	f.pay(fact.ID, fact.Alias)
	f.unmark(fact.ID, fact.Alias)
}

// dropExpected stops the search for a process that has no record. It is the way
// out when a daemon of the killed command carries the same tag.
func (f *fold) dropExpected(id string) {
	stray, ok := f.left[id]
	switch {
	case !ok:
	case stray.PID == 0:
		delete(f.left, id)
	default:
		stray.Tag = ""
		f.left[id] = stray
	}
}

func (f *fold) memory() Memory {
	var all []numbered
	for _, debts := range f.owed {
		all = append(all, debts...)
	}
	slices.SortFunc(all, func(a, b numbered) int { return cmp.Compare(a.n, b.n) })
	m := Memory{Unfinished: f.marks, Strays: f.left, LastStates: f.last}
	for _, debt := range all {
		m.Owed = append(m.Owed, debt.OwedRefresh)
	}
	m.index()
	return m
}
