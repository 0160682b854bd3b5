package model

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// ReportSchema is the schema name of a report. Its version is independent of settle's.
const ReportSchema = "settle.report/v1"

// Report is the result of a run, a plan or a validation. Every output format is
// rendered from it.
type Report struct {
	Schema     string            `json:"schema"`
	Version    string            `json:"version"` // settle's
	Mode       string            `json:"mode"`    // apply, plan or validate
	Manifest   string            `json:"manifest"`
	Name       string            `json:"name"`
	Run        string            `json:"run"`
	Host       string            `json:"host"`
	Started    time.Time         `json:"started"`
	Labels     map[string]string `json:"labels,omitempty"` // given with --label
	DurationMS int64             `json:"duration_ms"`
	ExitCode   int               `json:"exit_code"`
	Error      string            `json:"error"`
	State      State             `json:"state"`
	Summary    Summary           `json:"summary"`
	Problems   Problems          `json:"problems"`
	Warnings   Problems          `json:"warnings"`
	Resources  []ResourceReport  `json:"resources"`

	// Times is stored with the report, and is not part of its JSON document.
	Times []Times `json:"-"` // by resource; may be missing
}

// Times is when a resource was started and when it had finished, in milliseconds
// from the start of its run. Both are zero for a resource that was never started.
type Times struct {
	FromMS int64 `json:"from_ms"`
	ToMS   int64 `json:"to_ms"`
}

// State holds the state directory of a run, and whether it had a journal before.
type State struct {
	Dir   string `json:"dir"`
	Found bool   `json:"found"`
}

// Summary counts the resources of a report by status. A plan has its own statuses,
// every other mode those of apply. Every key of the mode is always present.
type Summary struct {
	Plan    bool // it has the keys of a plan
	Total   int
	Ignored int // failures with ignore_failure; not in Count[Failed]
	Owed    int // refreshes owed at the end of the run
	Count   [len(statusNames)]int
}

var (
	applyStatuses = []Status{Stable, Changed, Failed, Skipped, Deferred, Shutdown, Interrupted, NotReached}
	planStatuses  = []Status{WouldRun, WouldRefresh, MayRun, Stable, Failed, Skipped}
)

// Summarize returns the summary of some resources.
func Summarize(plan bool, resources []ResourceReport, owed int) Summary {
	s := Summary{Plan: plan, Total: len(resources), Owed: owed}
	for i := range resources {
		if resources[i].Status == Failed && resources[i].Ignored {
			s.Ignored++
			continue
		}
		s.Count[resources[i].Status]++
	}
	return s
}

// Statuses returns the statuses of the report's mode, in a fixed order.
func (s *Summary) Statuses() []Status {
	if s.Plan {
		return planStatuses
	}
	return applyStatuses
}

// MarshalJSON writes the keys of the report's mode, in a fixed order.
func (s Summary) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	put := func(key string, n int) {
		b.WriteString(map[bool]string{true: "{", false: ","}[b.Len() == 0])
		_ = json.NewEncoder(&b).Encode(key) // a bytes.Buffer takes every write
		b.Truncate(b.Len() - 1)
		b.WriteByte(':')
		_ = json.NewEncoder(&b).Encode(n)
		b.Truncate(b.Len() - 1)
	}
	put("total", s.Total)
	for _, status := range s.Statuses() {
		put(status.String(), s.Count[status])
		if status == Failed {
			put("ignored", s.Ignored)
		}
	}
	put("owed", s.Owed)
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads a summary of a stored report.
func (s *Summary) UnmarshalJSON(text []byte) error {
	var counts map[string]int
	if err := json.Unmarshal(text, &counts); err != nil {
		return err
	}
	*s = Summary{}
	for key, n := range counts {
		s.Set(key, n)
	}
	return nil
}

// Set sets the count of a JSON key. It reports whether there is such a key.
func (s *Summary) Set(key string, n int) bool {
	switch key {
	case "total":
		s.Total = n
	case "ignored":
		s.Ignored = n
	case "owed":
		s.Owed = n
	default:
		i := slices.Index(statusNames[:], key)
		if i < 0 {
			return false
		}
		s.Count[i] = n
		s.Plan = s.Plan || Status(i) == WouldRun
	}
	return true
}

// Pending returns how many resources of a plan are due. Checks do not count,
// resources that may run do.
func (r *Report) Pending() int {
	n := 0
	for i := range r.Resources {
		switch r.Resources[i].Status {
		case WouldRun, WouldRefresh, MayRun:
			if r.Resources[i].Action != ActionCheck {
				n++
			}
		}
	}
	return n
}
