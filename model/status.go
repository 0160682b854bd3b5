package model

import "fmt"

// Status is how a resource ended, or how it would end.
type Status int

// The statuses. The zero value is the safe one: the resource was not touched.
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

// String returns the name of the status in reports.
func (s Status) String() string { return statusNames[s] }

// MarshalText returns the name of the status, for JSON.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the status of a stored report.
func (s *Status) UnmarshalText(text []byte) error {
	for i, name := range statusNames {
		if name == string(text) {
			*s = Status(i)
			return nil
		}
	}
	return fmt.Errorf("unknown status %q", text)
}
