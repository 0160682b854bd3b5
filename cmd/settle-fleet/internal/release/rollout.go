package release

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// The states of a rollout.
const (
	Running = "running"
	Paused  = "paused"
	Halted  = "halted"
	Aborted = "aborted"
	Done    = "done"
)

// Rollout is a signed statement: this version is open to this share of the
// machines. The key `rollout.NAME` holds the one in force.
type Rollout struct {
	Schema   string   `json:"schema"`
	Fleet    string   `json:"fleet"`
	N        int64    `json:"n"` // grows with every change; a machine remembers the highest
	Name     string   `json:"name"`
	Version  int64    `json:"version"`
	Before   int64    `json:"before"` // 0: machines that are not meant have nothing
	Selector string   `json:"selector,omitempty"`
	First    []string `json:"first,omitempty"` // selectors of machines that come before all others
	Open     string   `json:"open"`            // 16 hex digits: the highest place that is open
	Salt     string   `json:"salt"`

	Waves       []string `json:"waves,omitempty"`
	Wave        int      `json:"wave"` // counts from 1; 0 before the first
	MaxFailures string   `json:"max_failures,omitempty"`
	MinAnswers  int      `json:"min_answers,omitempty"`
	Wait        string   `json:"wait,omitempty"`
	Soak        string   `json:"soak,omitempty"`

	State  string `json:"state"`
	By     string `json:"by,omitempty"`
	Halted string `json:"halted,omitempty"` // why
	Revert bool   `json:"revert,omitempty"`
}

// EverythingOpen is the value of Open that every place is below.
const EverythingOpen = "ffffffffffffffff"

var openForm = regexp.MustCompile(`^[0-9a-f]{16}$`)

// OpenAll returns the rollout in its simplest form: the version is in force
// for every machine.
func OpenAll(fleet, name string, version, before, n int64) *Rollout {
	return &Rollout{
		Schema: RolloutSchema, Fleet: fleet, N: n, Name: name, Version: version, Before: before,
		Open: EverythingOpen, Salt: fmt.Sprintf("%s@%d", name, version), State: Done,
	}
}

// Encode returns the text that is signed.
func (r *Rollout) Encode() []byte { return encode(r) }

// ParseRollout reads the text of a rollout and checks its form.
func ParseRollout(text []byte) (*Rollout, error) {
	var r Rollout
	if err := decode(text, &r, RolloutSchema); err != nil {
		return nil, fmt.Errorf("read rollout: %w", err)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("read rollout: %w", err)
	}
	return &r, nil
}

func (r *Rollout) check() error {
	for _, selector := range append([]string{r.Selector}, r.First...) {
		if _, err := ParseSelector(selector); err != nil {
			return err
		}
	}
	switch {
	case CheckName("fleet", r.Fleet) != nil:
		return CheckName("fleet", r.Fleet)
	case CheckName("name", r.Name) != nil:
		return CheckName("name", r.Name)
	case r.N < 1 || r.Version < 1 || r.Before < 0:
		return errors.New("n and version begin with 1, before with 0")
	case !openForm.MatchString(r.Open):
		return fmt.Errorf("open %q is not 16 hex digits", r.Open)
	}
	switch r.State {
	case Running, Paused, Halted, Aborted, Done:
		return nil
	}
	return fmt.Errorf("state %q is unknown", r.State)
}

// Place returns a machine's place in a rollout: the lower, the earlier it is
// opened to. Another salt gives another order.
func Place(salt, machine string) uint64 {
	sum := sha256.Sum256([]byte(salt + "\n" + machine))
	return binary.BigEndian.Uint64(sum[:8])
}

// FormatPlace writes a place as the key open has it.
func FormatPlace(place uint64) string { return fmt.Sprintf("%016x", place) }

// ParsePlace reads the key open of a checked rollout.
func ParsePlace(text string) uint64 {
	place, _ := strconv.ParseUint(text, 16, 64) // its form was checked
	return place
}

// IsFirst reports whether a machine is one of the named ones that come before
// all others.
func (r *Rollout) IsFirst(machine string, labels map[string]string) bool {
	for _, text := range r.First {
		if selector, err := ParseSelector(text); err == nil && selector.Matches(machine, labels) {
			return true
		}
	}
	return false
}

// Selects reports whether the rollout is meant for a machine at all.
func (r *Rollout) Selects(machine string, labels map[string]string) bool {
	selector, err := ParseSelector(r.Selector)
	return err == nil && selector.Matches(machine, labels)
}

// IsOpen reports whether the version is open to a machine now.
func (r *Rollout) IsOpen(machine string, labels map[string]string) bool {
	switch {
	case !r.Selects(machine, labels):
		return false
	case r.State == Done:
		return true
	case r.Wave < 1:
		return false
	case r.IsFirst(machine, labels):
		return true
	}
	return r.Open != "0000000000000000" && Place(r.Salt, machine) <= ParsePlace(r.Open)
}

// Choice is the version that a machine should have in force.
type Choice struct {
	Version int64 // 0: nothing changes
	Revert  bool  // the version is older, and its release allows that
	Why     string
}

// Pick decides which version a machine should have. inForce is the version
// that it has now, 0 for none. It looks at nothing but its arguments.
func Pick(machine string, labels map[string]string, r *Rollout, inForce int64) Choice {
	name := fmt.Sprintf("%s@%d", r.Name, r.Version)
	open := r.IsOpen(machine, labels)
	reverted := r.Revert && (r.State == Halted || r.State == Aborted)
	switch {
	case open && reverted && inForce == r.Version:
		return Choice{r.Before, r.Before > 0, name + " was halted and is reverted"}
	case open && reverted && inForce < r.Version && inForce != 0:
		return Choice{0, false, name + " was halted and is reverted"}
	case open && !reverted && (r.State != Halted && r.State != Aborted || inForce == r.Version):
		return Choice{r.Version, false, name + " is open to this machine"}
	case inForce < r.Before:
		return Choice{r.Before, false, name + " is not open to this machine"}
	}
	return Choice{0, false, name + " is not open to this machine"}
}
