package model

import (
	"slices"
	"time"
)

// DefaultKeep is the number of runs that a history keeps of each sort: runs that
// converged at once (see Converged), and the others.
const DefaultKeep = 50

// RunRecord is one run in the history.
type RunRecord struct {
	Run        string            `json:"run"`
	Started    time.Time         `json:"started"`
	DurationMS int64             `json:"duration_ms"`
	User       string            `json:"user"`
	Mode       string            `json:"mode"`
	ExitCode   *int              `json:"exit_code"` // nil without an end in the journal
	Summary    Summary           `json:"summary"`
	Labels     map[string]string `json:"labels,omitempty"` // given with --label
	Running    bool              `json:"-"`                // it has not ended yet; if false and without an exit code, it was killed
}

// Converged reports whether the run found every resource stable.
func (r *RunRecord) Converged() bool {
	return r.ExitCode != nil && *r.ExitCode == 0 && r.Summary.Count[Stable] == r.Summary.Total
}

// History returns the runs of a journal, oldest first. It keeps the last ones of
// each sort, as many as the last run was told to keep. A run without an end in the
// journal was killed, unless it is the run named by running.
func History(records []Record, running string) []RunRecord {
	var runs []RunRecord
	at := map[string]int{} // indexes into runs
	keep := 0
	for _, record := range records {
		if record.Kind != RecordRun && record.Kind != RecordDone {
			continue
		}
		run := RunRecord{Run: record.Run, Started: record.Time, DurationMS: record.Took, User: record.User, Mode: "apply", ExitCode: record.Exit, Labels: record.Labels}
		if record.Summary != nil {
			run.Summary = *record.Summary
		}
		if record.Kind == RecordDone {
			keep = record.Keep
		}
		if i, ok := at[record.Run]; ok {
			runs[i] = run
			continue
		}
		at[record.Run] = len(runs)
		runs = append(runs, run)
	}
	if i, ok := at[running]; ok {
		runs[i].Running = runs[i].ExitCode == nil
	}
	if keep == 0 {
		keep = DefaultKeep
	}
	return retain(runs, keep)
}

// retain drops the oldest runs of each sort beyond keep, in place.
func retain(runs []RunRecord, keep int) []RunRecord {
	room := map[bool]int{true: keep, false: keep}
	first := len(runs)
	for i := len(runs) - 1; i >= 0; i-- {
		sort := runs[i].Converged()
		if room[sort]--; room[sort] < 0 {
			continue
		}
		first--
		runs[first] = runs[i]
	}
	return runs[first:]
}

// Compact returns a shorter journal with the same memory and the same history. It
// must not be called while a run goes on.
func Compact(records []Record) []Record {
	var short []Record
	kept := map[string]bool{}
	for _, record := range records {
		if record.Kind == RecordDone {
			clear(kept)
			kept[record.Run] = true // the last end tells how many runs to keep
		}
	}
	for _, run := range History(records, "") {
		kept[run.Run] = true
	}
	ended := map[string]bool{}
	for _, record := range slices.Backward(records) {
		if !kept[record.Run] || record.Kind != RecordRun && record.Kind != RecordDone || ended[record.Run] {
			continue
		}
		ended[record.Run] = true
		short = append(short, record)
	}
	slices.Reverse(short)
	memory := Replay(records)
	return append(short, memory.Records()...)
}
