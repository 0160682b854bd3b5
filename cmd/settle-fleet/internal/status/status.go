// Package status holds the status of a machine, and pure questions about it.
package status

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Schema names the form of a status.
const Schema = "settle.status/v1"

// MaxText bounds a status, in bytes.
const MaxText = 4 << 10

// The states of a release on a machine.
const (
	OK      = "ok"
	Failed  = "failed"
	Later   = "later"   // paused, locked or deferred: settle exits 75
	Blocked = "blocked" // settle's state needs a person: settle exits 73
	Nothing = "nothing" // no release is in force
	Planned = "planned" // mode plan: nothing was done
)

// Status is one machine's own account.
type Status struct {
	Schema   string             `json:"schema"`
	Fleet    string             `json:"fleet"`
	Machine  string             `json:"machine"`
	Instance string             `json:"instance"`
	Other    string             `json:"other_instance,omitempty"` // another machine tells under this name
	Labels   map[string]string  `json:"labels"`
	Settle   string             `json:"settle"`
	Agent    string             `json:"settle_fleet"`
	BootID   string             `json:"boot_id,omitempty"`
	Seen     time.Time          `json:"seen"` // the machine's clock; readers use the broker's
	Interval int64              `json:"interval_s"`
	Mode     string             `json:"mode"`
	Releases map[string]Release `json:"releases"`
	Asked    *Asked             `json:"asked,omitempty"` // the end of the last request of an operator
	Unsent   int                `json:"unsent"`          // reports that wait
	Notes    []string           `json:"notes,omitempty"`
}

// Release is where a machine stands with one release name.
type Release struct {
	Version int64     `json:"version"` // 0: none is in force
	Digest  string    `json:"digest,omitempty"`
	Signer  string    `json:"signer,omitempty"`
	Since   time.Time `json:"since,omitzero"` // in force
	Stale   bool      `json:"stale,omitempty"`
	State   string    `json:"state"`
	Why     string    `json:"why,omitempty"`
	Run     *Run      `json:"run,omitempty"`     // the last one
	Good    time.Time `json:"good,omitzero"`     // since when every run of this version exits 0
	Applied bool      `json:"applied,omitempty"` // this version has once been applied with exit 0
	Drift   *Drift    `json:"drift,omitempty"`
	Refused *Refused  `json:"refused,omitempty"`
	News    string    `json:"news,omitempty"` // why the source could not be asked
	Failure []string  `json:"failure,omitempty"`
	N       int64     `json:"n,omitempty"` // of the rollout that this machine follows
}

// Run is the end of one run.
type Run struct {
	ID      string         `json:"id"`
	Started time.Time      `json:"started,omitzero"`
	Exit    int            `json:"exit_code"`
	Summary map[string]int `json:"summary,omitempty"`
}

// Drift lists the changes of a run whose version was unchanged.
type Drift struct {
	Run       string    `json:"run"`
	At        time.Time `json:"at"`
	Count     int       `json:"count"`
	Resources []string  `json:"resources"`
}

// Refused is a release that the machine did not take up.
type Refused struct {
	Version int64  `json:"version"` // 0: it could not be read
	Why     string `json:"why"`
}

// Name returns NAME@VERSION, or "nothing".
func (r *Release) Name(name string) string {
	if r.Version == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%s@%d", name, r.Version)
}

// Silent reports whether a machine was last seen more than two intervals before now.
func Silent(interval int64, seen, now time.Time) bool {
	return now.Sub(seen) > 2*time.Duration(interval)*time.Second
}

// Short returns the status without the texts that can be long.
func (s *Status) Short() *Status {
	short := *s
	short.Notes = nil
	short.Labels = map[string]string{}
	size := 0
	for _, key := range slices.Sorted(maps.Keys(s.Labels)) {
		if size += len(key) + len(s.Labels[key]); size < 1024 {
			short.Labels[key] = s.Labels[key]
		}
	}
	short.Releases = map[string]Release{}
	for name, r := range s.Releases {
		r.Why, r.News, r.Drift, r.Signer = "", "", nil, ""
		if len(r.Failure) > 1 {
			r.Failure = r.Failure[:1]
		}
		short.Releases[name] = r
	}
	return &short
}
