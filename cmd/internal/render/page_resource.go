package render

import (
	"fmt"
	"strings"

	"github.com/settle-cm/settle/model"
)

// pageLink is a link to a resource of the page. A resource that the selection left
// out has no Href.
type pageLink struct{ Href, Text string }

// pageLinks are the links of a resource to others.
type pageLinks struct {
	RefreshedBy, Before, After []pageLink
	RootCause                  *pageLink
}

// pageResource is one resource as the page shows it.
type pageResource struct {
	style
	Key, ID, Type, Name, Status string
	Reason, Took, Place         string
	Alias, Description          string
	Tags                        []string
	Command, Cwd, Ended         string
	Guards, Values              []string
	pageLinks
	Output    string
	Truncated bool
	Diff      []diffLine
	Warnings  []string
	Open      bool
}

// diffLine is a line of a diff. Class is add, del, at or empty.
type diffLine struct{ Class, Text string }

// newPageResource returns a resource without its key and its links.
func newPageResource(o *model.ResourceReport) pageResource {
	x := pageResource{
		style: styleOf(o), ID: Escape(o.ID), Type: Escape(o.Type), Name: Escape(o.Name), Status: o.Status.String(), Reason: Escape(o.Reason),
		Place: Escape(o.String()), Alias: Escape(o.Alias), Description: Escape(o.Description),
		Command: escapeLines(o.Command), Cwd: Escape(o.Cwd), Output: escapeLines(strings.Join(outputLines(o), "\n")), Truncated: o.Truncated,
		Ended: endText(o), Diff: diffLines(o.Diff), Open: isFailure(o),
	}
	if o.Ignored {
		x.Status = "ignored"
	}
	if o.Attempts > 0 {
		x.Took = Duration(o.DurationMS)
	}
	for _, tag := range o.Tags {
		x.Tags = append(x.Tags, Escape(tag))
	}
	for _, g := range o.Guards {
		x.Guards = append(x.Guards, guardText(g))
	}
	x.Values = valueLines(o)
	for _, w := range o.Warnings {
		x.Warnings = append(x.Warnings, Escape(w.Message))
	}
	return x
}

// endText returns how the last attempt ended.
func endText(o *model.ResourceReport) string {
	var parts []string
	switch {
	case o.Signal != "":
		parts = append(parts, "killed by "+Escape(o.Signal))
	case o.Exit != nil:
		parts = append(parts, fmt.Sprintf("exit %d", *o.Exit))
	}
	if o.Expects != "" && len(parts) > 0 {
		parts = append(parts, "success is "+Escape(o.Expects))
	}
	if o.Attempts > 1 {
		parts = append(parts, fmt.Sprintf("%d attempts", o.Attempts))
	}
	return strings.Join(parts, ", ")
}

func diffLines(diff string) []diffLine {
	var all []diffLine
	for _, line := range splitLines(escapeLines(diff)) {
		class := ""
		switch {
		case strings.HasPrefix(line, "+"):
			class = "add"
		case strings.HasPrefix(line, "-"):
			class = "del"
		case strings.HasPrefix(line, "@@"):
			class = "at"
		}
		all = append(all, diffLine{class, line})
	}
	return all
}
