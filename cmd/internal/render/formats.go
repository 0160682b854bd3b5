// Package render writes reports as bytes: one pure function for each format, all
// over the same value. It decides nothing: the result of a run is in the report,
// this package only chooses how to show it.
package render

import (
	"slices"

	"github.com/settle-cm/settle/model"
)

// Format is one way to write reports. The flags, the messages and the completion
// of every command follow from the table of formats.
type Format struct {
	Name   string
	Render func(reports []model.Report, o Options) []byte // one report for each manifest of a call

	OnOutput bool // --output of plan, apply and validate takes it
	InFile   bool // --report takes it
	Events   bool // with --report and --output it is written event by event, while the run goes on
	Traced   bool // Render needs Options.Traces
	Follows  bool // Render needs Options.Families, and Options.Previous of the file that it replaces
}

// Formats is the table of formats, sorted by name.
var Formats = []Format{
	{Name: "html", Render: HTML, InFile: true, Traced: true},
	{Name: "json", Render: JSON, OnOutput: true, InFile: true},
	{Name: "jsonl", Render: Events, OnOutput: true, InFile: true, Events: true},
	{Name: "junit", Render: JUnit, InFile: true},
	{Name: "markdown", Render: Markdown, InFile: true},
	{Name: "metrics", Render: Metrics, InFile: true, Follows: true},
	{Name: "text", Render: Text, OnOutput: true},
}

// FindFormat returns the format of a name, and false when there is no such format.
func FindFormat(name string) (Format, bool) {
	i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return Formats[i], true
}

// FormatNames returns the names of the formats for which accept is true, sorted.
// A nil accept stands for all formats.
func FormatNames(accept func(Format) bool) []string {
	var names []string
	for _, f := range Formats {
		if accept == nil || accept(f) {
			names = append(names, f.Name)
		}
	}
	return names
}
