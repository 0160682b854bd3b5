package render

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/settle-cm/settle/model"
)

// EventsSchema names the form of the lines of -o jsonl.
const EventsSchema = "settle.events/v1"

// Event is one line of -o jsonl. Type says which of the other fields are set;
// Seq and Time are always there.
type Event struct {
	Type     string                `json:"type"`
	Seq      int                   `json:"seq"`
	Time     time.Time             `json:"time"`
	Schema   string                `json:"schema,omitempty"`  // version
	Version  string                `json:"version,omitempty"` // version
	Run      string                `json:"run,omitempty"`     // all but version
	Mode     string                `json:"mode,omitempty"`    // run_started
	Manifest string                `json:"manifest,omitempty"`
	Name     string                `json:"name,omitempty"`
	ID       string                `json:"id,omitempty"`   // resource_started, output
	Line     *string               `json:"line,omitempty"` // output
	Resource *model.ResourceReport `json:"resource,omitempty"`
	Report   *model.Report         `json:"report,omitempty"` // run_finished, without its resources
}

// The types of events, in the order in which a run sends them.
const (
	EventVersion          = "version"
	EventRunStarted       = "run_started"
	EventResourceStarted  = "resource_started"
	EventOutput           = "output"
	EventResourceFinished = "resource_finished"
	EventRunFinished      = "run_finished"
)

// headless is a report without its resources: they went out one by one.
type headless struct {
	model.Report
	Resources *struct{} `json:"resources,omitempty"` // hides the report's own
}

// Line returns an event as one line of JSON.
func Line(e Event) []byte {
	var value any = e
	switch {
	case e.Resource != nil:
		whole := completeOutcome(*e.Resource)
		e.Resource = &whole
		value = e
	case e.Report != nil:
		head := headless{Report: complete(*e.Report)}
		e.Report = nil
		value = struct {
			Event
			Report headless `json:"report"`
		}{e, head}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic(err) // our own types: only a mistake in their declaration can fail
	}
	return b.Bytes()
}

// Events tells finished reports again as the events they were, as far as that is
// still known: a resource's own times and its lines of output are not.
func Events(reports []model.Report, _ Options) []byte {
	var b bytes.Buffer
	seq := 0
	tell := func(e Event, at time.Time) {
		seq++
		e.Seq, e.Time = seq, at.UTC()
		b.Write(Line(e))
	}
	for i := range reports {
		r := &reports[i]
		end := r.Started.Add(time.Duration(r.DurationMS) * time.Millisecond)
		if i == 0 {
			tell(Event{Type: EventVersion, Schema: EventsSchema, Version: r.Version}, r.Started)
		}
		tell(Event{Type: EventRunStarted, Run: r.Run, Mode: r.Mode, Manifest: r.Manifest, Name: r.Name}, r.Started)
		for n := range r.Resources {
			tell(Event{Type: EventResourceFinished, Run: r.Run, Resource: &r.Resources[n]}, end)
		}
		tell(Event{Type: EventRunFinished, Run: r.Run, Report: r}, end)
	}
	return b.Bytes()
}
