// Package spool decides which runs of settle's journal a machine still has to
// tell. The journal is the spool: whatever the broker loses is read from there
// again. It does no IO.
package spool

import (
	"fmt"
	"strings"
	"time"
)

// Told is the memory of a machine: the last run that was acknowledged, and its
// sequence in the stream.
type Told struct {
	Run      string `json:"run"`
	Sequence uint64 `json:"sequence"`
}

// Last is the last message on a machine's own subject.
type Last struct {
	Sequence uint64
	Run      string
	Instance string
}

// Run is a run of the journal.
type Run struct {
	ID      string
	Started time.Time
}

// Machine is who tells.
type Machine struct {
	Instance string
	Adopted  []string // earlier instances, which this one replaces
}

// Decision says which runs are to be told, and with which expected sequence.
type Decision struct {
	Told     Told   // what to remember before anything is sent
	Send     []Run  // in this order, the first with Told.Sequence expected
	Conflict string // the instance of another machine that tells under this name
	Lost     bool   // the broker seems to have lost acknowledged messages
	Note     string // for the log and the status; empty when all is as expected
}

// Decide compares the memory of a machine, the broker's last message, and the
// journal, oldest run first. Runs older than oldest are not sent again.
func Decide(told Told, last *Last, me Machine, journal []Run, oldest time.Time) Decision {
	if last == nil {
		return decideEmpty(told, journal, oldest)
	}
	if last.Instance != me.Instance && !contains(me.Adopted, last.Instance) {
		return Decision{Told: told, Conflict: last.Instance, Note: "another machine tells under this name: stop it, or run settle-fleet adopt here"}
	}
	at, remembered := index(journal, last.Run), index(journal, told.Run)
	next := Told{Run: last.Run, Sequence: last.Sequence}
	switch {
	case last.Instance != me.Instance:
		return Decision{Told: Told{told.Run, last.Sequence}, Send: journal[remembered+1:]}
	case last.Run == told.Run:
		return Decision{Told: next, Send: journal[remembered+1:]}
	case at >= 0 && at < remembered:
		return Decision{Told: next, Send: journal[at+1:], Lost: true, Note: fmt.Sprintf("the broker has lost reports after run %s: they are sent again", last.Run)}
	case at >= 0:
		return Decision{Told: next, Send: journal[at+1:]} // the acknowledgement did not arrive
	case last.Sequence < told.Sequence:
		return Decision{Told: next, Send: journal, Lost: true, Note: "the broker has lost reports: all that the journal has are sent again"}
	}
	return Decision{
		Told: Told{told.Run, last.Sequence}, Send: journal[remembered+1:],
		Note: fmt.Sprintf("run %s was told by this instance and is not in the journal: the state was restored or cloned", last.Run),
	}
}

// decideEmpty is for a subject without a message: the first run, messages that
// are too old, or a stream that was lost.
func decideEmpty(told Told, journal []Run, oldest time.Time) Decision {
	d := Decision{}
	for _, run := range journal {
		if !run.Started.Before(oldest) {
			d.Send = append(d.Send, run)
		}
	}
	if told.Run != "" {
		d.Lost = true
		d.Note = "the broker has no report of this machine any more: all that the journal has are sent again"
	}
	return d
}

// MessageID returns the identity of a run on the bus.
func MessageID(machine, name, run string) string { return machine + "/" + name + "/" + run }

// RunOf returns the run of a message identity.
func RunOf(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

func index(journal []Run, id string) int {
	for i, run := range journal {
		if run.ID == id {
			return i
		}
	}
	return -1
}

func contains(all []string, one string) bool {
	for _, other := range all {
		if other == one {
			return true
		}
	}
	return false
}
