package model

import "fmt"

// Status says how a resource ended, or how it would end.
type Status int

// The statuses. The zero value is the safe one: nothing was done.
const (
	NotReached Status = iota
	Stable
	Changed
	Failed
	Skipped
	Deferred
	Shutdown
	Interrupted
	WouldRun
	WouldRefresh
	MayRun
)

var statusNames = [...]string{
	"not_reached", "stable", "changed", "failed", "skipped", "deferred", "shutdown", "interrupted",
	"would_run", "would_refresh", "may_run",
}

// String returns the status as reports spell it.
func (s Status) String() string { return statusNames[s] }

// MarshalText makes a status its name in JSON.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a status back from a stored report.
func (s *Status) UnmarshalText(text []byte) error {
	for i, name := range statusNames {
		if name == string(text) {
			*s = Status(i)
			return nil
		}
	}
	return fmt.Errorf("unknown status %q", text)
}
