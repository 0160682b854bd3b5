package render

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/settle-cm/settle/model"
)

// EventsSchema names the form of the lines of -o jsonl.
const EventsSchema = "settle.events/v1"

// Event is one line of -o jsonl. Type determines which of the other fields are
// set; Seq and Time always are.
type Event struct {
	Type     string                `json:"type"`
	Seq      int                   `json:"seq"`
	Time     time.Time             `json:"time"`
	Schema   string                `json:"schema,omitempty"`  // version
	Version  string                `json:"version,omitempty"` // version
	Run      string                `json:"run,omitempty"`     // all events except version
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

// reportHead is a report without its resources, which were sent one by one.
type reportHead struct {
	model.Report
	Resources *struct{} `json:"resources,omitempty"` // hides the field of the report
}

// Line returns an event as one line of JSON, with the line end.
func Line(e Event) []byte {
	var value any = e
	switch {
	case e.Resource != nil:
		resource := resourceWithoutNulls(*e.Resource)
		e.Resource = &resource
		value = e
	case e.Report != nil:
		head := reportHead{Report: withoutNulls(*e.Report)}
		e.Report = nil
		value = struct {
			Event
			Report reportHead `json:"report"`
		}{e, head}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic(err) // only a mistake in the declaration of our own types can fail
	}
	return b.Bytes()
}

// Events returns finished reports as the events of their runs, as far as they are
// still known: the times of resources and their lines of output are not.
func Events(reports []model.Report, _ Options) []byte {
	var b bytes.Buffer
	seq := 0
	send := func(e Event, at time.Time) {
		seq++
		e.Seq, e.Time = seq, at.UTC()
		b.Write(Line(e))
	}
	for i := range reports {
		r := &reports[i]
		end := r.Started.Add(time.Duration(r.DurationMS) * time.Millisecond)
		if i == 0 {
			send(Event{Type: EventVersion, Schema: EventsSchema, Version: r.Version}, r.Started)
		}
		send(Event{Type: EventRunStarted, Run: r.Run, Mode: r.Mode, Manifest: r.Manifest, Name: r.Name}, r.Started)
		for n := range r.Resources {
			send(Event{Type: EventResourceFinished, Run: r.Run, Resource: &r.Resources[n]}, end)
		}
		send(Event{Type: EventRunFinished, Run: r.Run, Report: r}, end)
	}
	return b.Bytes()
}
