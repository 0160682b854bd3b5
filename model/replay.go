package model

import (
	"cmp"
	"slices"
	"strconv"
)

// Replay returns the memory that the records of a journal, oldest first, add up to
// when no run goes on.
//
// A publisher that changed, that failed or was interrupted after its process
// started, or that began and never ended owes each of its subscribers at that
// moment one refresh. The subscriber's next success settles it, and so does a
// check of the subscriber that decides not to act.
func Replay(records []Record) Memory { return ReplayDuring(records, "") }

// ReplayDuring is Replay while a run goes on: the attempts of that run are still
// open, so they do not count as killed.
func ReplayDuring(records []Record, run string) Memory {
	f := newFold(records)
	if run == "" || f.openRun() != run {
		f.closeOpen()
	}
	m := f.toMemory()
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

// fold is the state of a replay. All of it is found by id, so that the cost of a
// record does not depend on how much is owed.
type fold struct {
	owed       map[string][]numberedRefresh // by subscriber
	isOwed     map[[2]string]bool           // by subscriber and publisher: whether owed holds the refresh
	count      int                          // of all refreshes ever owed
	unfinished map[string]string
	strays     map[string]StrayProcess
	lastStates map[string]string
	open       map[string]Record // attempts that began and have not ended
	begun      []string          // ids of open, oldest first, and of some that have ended

	recorded map[string]int // by id: how many processes of the latest attempts have a record
}

// numberedRefresh is an owed refresh with its number in the order of the journal.
type numberedRefresh struct {
	OwedRefresh
	n int
}

func newFold(records []Record) *fold {
	f := &fold{
		owed: map[string][]numberedRefresh{}, isOwed: map[[2]string]bool{}, unfinished: map[string]string{},
		strays: map[string]StrayProcess{}, lastStates: map[string]string{}, open: map[string]Record{}, recorded: map[string]int{},
	}
	for _, record := range records {
		f.addRecord(record)
	}
	return f
}

// openRun returns the run of the open attempts. It is one run, because the first
// record of the next run closes them.
func (f *fold) openRun() string {
	for _, record := range f.open {
		return record.Run
	}
	return ""
}

func (f *fold) addRecord(record Record) {
	switch record.Kind {
	case RecordRun, RecordDone: // runs of one journal never overlap
		f.closeOpen()
	case RecordBegan:
		if before, ok := f.open[record.ID]; ok {
			f.countAsFailed(before)
		}
		f.open[record.ID] = record
		f.recorded[record.ID] = 0
		f.begun = append(f.begun, record.ID)
	case RecordProcess:
		if record.Process != nil {
			f.strays[record.ID] = StrayProcess{Process: *record.Process, Run: record.Run, ID: record.ID, Tag: record.Tag}
			f.recorded[record.ID]++
		}
	case RecordEnded:
		f.endAttempt(record)
	case RecordSettled:
		f.settle(record.ID, record.Alias)
	case RecordOwed:
		f.owe(OwedRefresh{record.ID, record.By, record.Run})
	case RecordUnfinished:
		f.unfinished[record.ID] = record.Run
	case RecordLastState:
		delete(f.lastStates, record.ID)
		delete(f.lastStates, record.Alias)
		if record.LastState != "" {
			f.lastStates[record.ID] = record.LastState
		}
	case RecordForget:
		f.forget(record)
	}
}

// lastShutdown is the last state of a resource whose latest end is EndShutdown.
// Older journals have no record of that state itself.
const lastShutdown = string(EndShutdown)

// endAttempt counts the end of an attempt.
func (f *fold) endAttempt(record Record) {
	began := f.open[record.ID]
	delete(f.open, record.ID)
	if record.End != EndNothing || f.strays[record.ID].Run == record.Run {
		delete(f.strays, record.ID) // a stray of an earlier run has ended, or this attempt would not have begun
		delete(f.strays, record.Alias)
	}
	switch record.End {
	case EndStable, EndChanged:
		f.settle(record.ID, record.Alias)
		f.clearUnfinished(record.ID, record.Alias)
	case EndFailed, EndIgnored, EndInterrupted:
		if began.Missing {
			f.unfinished[record.ID] = record.Run
		}
	}
	switch record.End {
	case EndChanged, EndFailed, EndInterrupted:
		f.oweSubscribers(began)
	}
	switch record.End {
	case EndShutdown:
		f.lastStates[record.ID] = lastShutdown
	case EndNothing: // the attempt had no effect
	default:
		for _, id := range []string{record.ID, record.Alias} {
			if f.lastStates[id] == lastShutdown {
				delete(f.lastStates, id)
			}
		}
	}
}

// closeOpen closes the attempts that a killed run left open.
func (f *fold) closeOpen() {
	for _, id := range f.begun {
		if began, ok := f.open[id]; ok {
			delete(f.open, id)
			f.countAsFailed(began)
		}
	}
	f.begun = f.begun[:0]
}

// countAsFailed counts an attempt that never ended. It may have changed something,
// so it counts as one that changed something and failed.
func (f *fold) countAsFailed(began Record) {
	if began.Missing {
		f.unfinished[began.ID] = began.Run
	}
	f.expectStray(began)
	f.oweSubscribers(began)
}

// expectStray notes that the run may have been killed after it started a process
// and before it recorded that process.
func (f *fold) expectStray(began Record) {
	if began.Tag == "" {
		return
	}
	stray, ok := f.strays[began.ID]
	if !ok || stray.Run != began.Run {
		stray = StrayProcess{Run: began.Run, ID: began.ID}
	}
	stray.Tag = began.Tag + "." + strconv.Itoa(f.recorded[began.ID])
	f.strays[began.ID] = stray
}

// oweSubscribers adds a refresh for each subscriber of an attempt.
func (f *fold) oweSubscribers(began Record) {
	for _, subscriber := range began.Subscribers {
		f.owe(OwedRefresh{subscriber, began.ID, began.Run})
	}
}

// owe adds an owed refresh. One that is owed already keeps its first run.
func (f *fold) owe(refresh OwedRefresh) {
	key := [2]string{refresh.ID, refresh.By}
	if f.isOwed[key] {
		return
	}
	f.isOwed[key] = true
	f.owed[refresh.ID] = append(f.owed[refresh.ID], numberedRefresh{refresh, f.count})
	f.count++
}

// settle drops the refreshes that are owed to these ids.
func (f *fold) settle(ids ...string) {
	for _, id := range ids {
		for _, refresh := range f.owed[id] {
			delete(f.isOwed, [2]string{refresh.ID, refresh.By})
		}
		delete(f.owed, id)
	}
}

func (f *fold) clearUnfinished(ids ...string) {
	for _, id := range ids {
		delete(f.unfinished, id)
	}
}

// forget drops the memory of one resource or of all, with the attempts that a
// killed run has left open: settle forget never runs beside another run.
func (f *fold) forget(record Record) {
	f.closeOpen()
	if record.ID == "" {
		clear(f.owed)
		clear(f.isOwed)
		clear(f.unfinished)
		clear(f.lastStates)
		for id := range f.strays {
			f.dropExpectedStray(id)
		}
		return
	}
	f.dropExpectedStray(record.ID)
	f.dropExpectedStray(record.Alias)
	delete(f.lastStates, record.ID)
	delete(f.lastStates, record.Alias)
	f.settle(record.ID, record.Alias)
	f.clearUnfinished(record.ID, record.Alias)
}

// dropExpectedStray stops the search for a process that has no record. The user
// needs it when a daemon of the killed command carries the same tag.
func (f *fold) dropExpectedStray(id string) {
	stray, ok := f.strays[id]
	switch {
	case !ok:
	case stray.PID == 0:
		delete(f.strays, id)
	default:
		stray.Tag = ""
		f.strays[id] = stray
	}
}

func (f *fold) toMemory() Memory {
	var all []numberedRefresh
	for _, refreshes := range f.owed {
		all = append(all, refreshes...)
	}
	slices.SortFunc(all, func(a, b numberedRefresh) int { return cmp.Compare(a.n, b.n) })
	m := Memory{Unfinished: f.unfinished, Strays: f.strays, LastStates: f.lastStates}
	for _, refresh := range all {
		m.Owed = append(m.Owed, refresh.OwedRefresh)
	}
	m.indexOwed()
	return m
}
