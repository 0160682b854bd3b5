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
	Type     string         `json:"type"`
	Seq      int            `json:"seq"`
	Time     time.Time      `json:"time"`
	Schema   string         `json:"schema,omitempty"`  // version
	Version  string         `json:"version,omitempty"` // version
	Run      string         `json:"run,omitempty"`     // all but version
	Mode     string         `json:"mode,omitempty"`    // run_started
	Manifest string         `json:"manifest,omitempty"`
	Name     string         `json:"name,omitempty"`
	ID       string         `json:"id,omitempty"`   // resource_started, output
	Line     *string        `json:"line,omitempty"` // output
	Resource *model.Outcome `json:"resource,omitempty"`
	Report   *model.Report  `json:"report,omitempty"` // run_finished, without its resources
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
