package model

import (
	"slices"
	"time"
)

// DefaultKeep is how many runs of each sort a history keeps: of those that did
// something, and of those that found all as declared.
const DefaultKeep = 50

// RunRecord is one run as the history has it.
type RunRecord struct {
	Run        string            `json:"run"`
	Started    time.Time         `json:"started"`
	DurationMS int64             `json:"duration_ms"`
	User       string            `json:"user"`
	Mode       string            `json:"mode"`
	ExitCode   *int              `json:"exit_code"` // nil when it never came to its end
	Summary    Summary           `json:"summary"`
	Labels     map[string]string `json:"labels,omitempty"` // as the caller of the run gave them
	Going      bool              `json:"-"`                // it has not ended yet; else one without an exit code was killed
}

// Converged says whether the run found everything as declared: its history is one line.
func (p *RunRecord) Converged() bool {
	return p.ExitCode != nil && *p.ExitCode == 0 && p.Summary.Count[Stable] == p.Summary.Total
}

// History returns the runs that a journal still knows, oldest first: the last
// of each sort, as many as the last run was told to keep. A run
// without an end in the journal was killed, unless it is the one that goes on.
func History(facts []Record, going string) []RunRecord {
	var runs []RunRecord
	at := map[string]int{}
	keep := 0
	for _, fact := range facts {
		if fact.Kind != RecordRun && fact.Kind != RecordDone {
			continue
		}
		past := RunRecord{Run: fact.Run, Started: fact.Time, DurationMS: fact.Took, User: fact.User, Mode: "apply", ExitCode: fact.Exit, Labels: fact.Labels}
		if fact.Summary != nil {
			past.Summary = *fact.Summary
		}
		if fact.Kind == RecordDone {
			keep = fact.Keep
		}
		if i, ok := at[fact.Run]; ok {
			runs[i] = past
			continue
		}
		at[fact.Run] = len(runs)
		runs = append(runs, past)
	}
	if i, ok := at[going]; ok {
		runs[i].Going = runs[i].ExitCode == nil
	}
	if keep == 0 {
		keep = DefaultKeep
	}
	return retain(runs, keep)
}

// retain drops the oldest runs of each sort beyond keep.
func retain(runs []RunRecord, keep int) []RunRecord {
	left := map[bool]int{true: keep, false: keep}
	first := len(runs)
	for i := len(runs) - 1; i >= 0; i-- {
		sort := runs[i].Converged()
		if left[sort]--; left[sort] < 0 {
			continue
		}
		first--
		runs[first] = runs[i]
	}
	return runs[first:]
}

// Compact returns a shorter journal that says the same once no run goes on:
// it adds up to the same memory and to the same history.
func Compact(facts []Record) []Record {
	var short []Record
	kept := map[string]bool{}
	for _, fact := range facts {
		if fact.Kind == RecordDone {
			clear(kept)
			kept[fact.Run] = true // the last end says how many runs to keep
		}
	}
	for _, past := range History(facts, "") {
		kept[past.Run] = true
	}
	ended := map[string]bool{}
	for _, fact := range slices.Backward(facts) {
		if !kept[fact.Run] || fact.Kind != RecordRun && fact.Kind != RecordDone || ended[fact.Run] {
			continue
		}
		ended[fact.Run] = true
		short = append(short, fact)
	}
	slices.Reverse(short)
	memory := Replay(facts)
	return append(short, memory.Records()...)
}
