// Package journal stores the state that settle keeps between runs. Each manifest
// identity has one directory with the journal itself (append-only, versioned,
// checksummed, one record a line), the lock of the running apply, a pause, and
// the reports of runs that did something.
//
// The package knows files and how they survive a crash. The meaning of records
// belongs to package model, which replays them. A reader never writes and never
// locks; a writer always holds the lock.
//
//	<state>/<identity, escaped>/journal
//	<state>/<identity, escaped>/lock
//	<state>/<identity, escaped>/paused
//	<state>/<identity, escaped>/runs/<run>.json
//	<state>/.paused                             for every identity
//	<state>/.key                                of every identity, to sum up what must not be guessed
//	<state>/.backup/<run>/…                     what the run replaced, as long as the history has it
package journal

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/settle-cm/settle/model"
)

// Store is where the state of one identity is kept. Making one touches nothing.
type Store struct {
	Dir      string // the state directory, absolute
	Identity string
	// Alive says whether a process is still the one it was. It tells a run
	// that goes on from one that was killed. nil: nothing is alive.
	Alive func(model.Process) bool

	// readFile, but for tests of a writer that comes between
	readJournal func(path string) ([]byte, error)
}

// Holder identifies the process that holds the lock of an identity, and its run.
type Holder struct {
	model.Process
	Run     string            `json:"run,omitempty"` // "" when it is not an apply
	Since   time.Time         `json:"since"`
	User    string            `json:"user,omitempty"`
	Running []string          `json:"running,omitempty"` // ids of the resources that run
	Labels  map[string]string `json:"labels,omitempty"`  // of the run
}

// Snapshot is the state of an identity as it was when it was read.
type Snapshot struct {
	Found  bool    // the journal has a record; a first line alone remembers nothing
	Active *Holder // the process that holds the lock now, nil without one

	store    Store
	records  []model.Record
	size     int64 // of the journal's whole lines
	position string
}

// Path returns the directory of the identity's state.
func (s Store) Path() string { return filepath.Join(s.Dir, escape(s.Identity)) }

func (s Store) file(name string) string { return filepath.Join(s.Path(), name) }

// Read returns the state. Missing state is no error.
func (s Store) Read() (*Snapshot, error) {
	before := s.holder()
	snap, err := s.read()
	if err != nil {
		return nil, err
	}
	holder := s.holder()
	if holder == nil {
		holder = before // it ended during the read: its run still counts
	}
	snap.records = append(snap.records, snap.missingRecords(holder)...)
	if holder != nil && s.isAlive(holder) {
		snap.Active = holder
	}
	return snap, nil
}

// read reads the journal until it is consistent: while a writer repairs a torn
// line, a reader may see parts of two versions.
func (s Store) read() (*Snapshot, error) {
	path, look := s.file("journal"), readFile
	if s.readJournal != nil {
		look = s.readJournal
	}
	for attempt := 1; ; attempt++ {
		text, err := look(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, s.explain("read state", path, err)
		}
		records, good, err := decode(path, text)
		if err == nil {
			return &Snapshot{Found: len(records) > 0, store: s, records: records, size: int64(good), position: endPosition(text[:good])}, nil
		}
		if attempt == 3 {
			return nil, err
		}
	}
}

// missingRecords returns the run record of a holder when the journal has no record
// of its run: the holder was killed before its first line, or has not written yet.
func (p *Snapshot) missingRecords(h *Holder) []model.Record {
	if h == nil || h.Run == "" {
		return nil
	}
	for i := range p.records {
		if p.records[i].Run == h.Run {
			return nil
		}
	}
	return []model.Record{h.runRecord()}
}

func (h *Holder) runRecord() model.Record {
	return model.Record{Kind: model.RecordRun, Run: h.Run, Time: h.Since, User: h.User, PID: h.PID, Labels: h.Labels}
}

// Memory returns the replayed state of the journal.
func (p *Snapshot) Memory() model.Memory { return model.ReplayDuring(p.records, p.activeRun()) }

// Position identifies the end of the journal that was read. Every apply and every
// forget changes it, and no two journals share one.
func (p *Snapshot) Position() string { return p.position }

// Runs returns the history, oldest run first.
func (p *Snapshot) Runs() []model.RunRecord { return model.History(p.records, p.activeRun()) }

func (p *Snapshot) activeRun() string {
	if p.Active == nil {
		return ""
	}
	return p.Active.Run
}

func (s Store) isAlive(h *Holder) bool { return s.Alive != nil && s.Alive(h.Process) }
