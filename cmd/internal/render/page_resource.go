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
	Output     string
	Truncated  bool
	Diff       []diffLine
	Warnings   []string
	Open       bool
	GroupTitle string // above the first resource of a group
	group      pageGroup
}

// diffLine is a line of a diff. Class is add, del, at or empty.
type diffLine struct{ Class, Text string }

// pageGroup orders the resources of a page: failures first, unchanged ones last.
type pageGroup int

const (
	failedGroup pageGroup = iota
	ignoredGroup
	pendingGroup // of a plan: to do
	changedGroup
	checkGroup
	skippedGroup
	stableGroup
)

var groupTitles = map[pageGroup]string{
	failedGroup: "Failed", ignoredGroup: "Failed and ignored", pendingGroup: "To do", changedGroup: "Changed",
	checkGroup: "To check", skippedGroup: "Skipped", stableGroup: "Unchanged",
}

func groupOf(o *model.ResourceReport) pageGroup {
	switch {
	case isFailure(o):
		return failedGroup
	case isUnresolved(o):
		return ignoredGroup
	case isDueCheck(o):
		return checkGroup
	case isDue(o):
		return pendingGroup
	case o.Status == model.Changed:
		return changedGroup
	case o.Status == model.Stable:
		return stableGroup
	}
	return skippedGroup
}

// resultKey returns the key by which the page filters: the status, or for a plan
// the kind of change.
func resultKey(o *model.ResourceReport) string {
	switch {
	case o.Ignored:
		return "ignored"
	case isDueCheck(o):
		return "check"
	case o.Status == model.WouldRun && o.Command == "" && o.Action != model.NoAction:
		return "would_" + string(o.Action)
	case o.Status == model.Changed && o.Command == "" && (o.Action == model.ActionCreate || o.Action == model.ActionRemove):
		return string(o.Action) + "d"
	case o.Status == model.WouldRun && o.Action == model.ActionCreate:
		return "would_run_create"
	}
	return o.Status.String()
}

// newPageResource returns a resource without its key and its links.
func newPageResource(o *model.ResourceReport) pageResource {
	x := pageResource{
		style: styleOf(o), ID: Escape(o.ID), Type: Escape(o.Type), Name: Escape(o.Name), Status: resultKey(o), group: groupOf(o), Reason: Escape(o.Reason),
		Place: Escape(o.String()), Alias: Escape(o.Alias), Description: Escape(o.Description),
		Command: escapeLines(o.Command), Cwd: Escape(o.Cwd), Output: escapeLines(strings.Join(outputLines(o), "\n")), Truncated: o.Truncated,
		Ended: endText(o), Diff: diffLines(o.Diff), Open: isFailure(o),
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
