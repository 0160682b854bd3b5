// Package render turns reports into bytes: one pure function for each format,
// all over the same value, none of which decides anything. What a run led to is
// in the report; how it looks is here and nowhere else.
package render

import "github.com/settle-cm/settle/model"

// Format turns the reports of one call of settle, one for each manifest, into
// bytes for a reader.
type Format func(reports []model.Report, o Options) []byte

// Options is what a reader may ask of a format that is made for people.
type Options struct {
	Verbose bool // list every resource, and all that is known of it
	Quiet   bool // say nothing unless something failed
	Color   bool
	Titled  bool // put the manifest's name above its report: several are shown in turn

	Excerpts bool // show the lines that problems stand in
	Beside
}

// Formats is the table of what a report can be turned into, by the name that
// the command line knows it by.
var Formats = map[string]Format{
	"text":     Text,
	"json":     JSON,
	"jsonl":    Events,
	"junit":    JUnit,
	"markdown": Markdown,
	"metrics":  Metrics,
	"html":     HTML,
}
