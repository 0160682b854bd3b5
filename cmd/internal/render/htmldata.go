package render

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
)

// pageRun is one report as the page shows it.
type pageRun struct {
	Key                  string // tells the runs of a page apart in anchors
	Mode, Manifest, Name string
	Verdict, Tone        string
	Line                 string // the sentence that the text report ends with
	Error                string
	Facts                []fact
	Tiles                []tile
	Problems, Warnings   []string
	Failures             []pageFailure
	Graph, Timeline      template.HTML
	Resources            []pageResource
	Refused              bool
	Total                int
}

// fact is a label with its text.
type fact struct{ Label, Text string }

// tile counts one status, and filters by it.
type tile struct {
	look
	Status string
	N      int
}

// pageFailure is what went wrong, in a line: what, why, and what it cost.
type pageFailure struct {
	Anchors      []anchor
	Reason, Cost string
}

// anchor is a resource to go to.
type anchor struct{ Href, Text string }

// pageResource is one resource as the page shows it.
type pageResource struct {
	look
	Key, ID, Type, Name, Status string
	Reason, Took, Place         string
	Alias, Description          string
	Tags                        []string
	Command, Cwd, Ended         string
	Guards, Values              []string
	RefreshedBy, Before, After  []anchor
	RootCause                   *anchor
	Output                      string
	Truncated                   bool
	Diff                        []diffLine
	Warnings                    []string
	Open                        bool
}

// diffLine is a line of a diff with what it is: add, del, at or nothing.
type diffLine struct{ Class, Text string }

func newPageRun(r *model.Report, t Trace, n int) pageRun {
	p := pageRun{
		Key: fmt.Sprintf("r%d", n), Mode: r.Mode, Manifest: Escape(r.Manifest), Name: Escape(r.Name),
		Line: summary(r), Error: Escape(r.Error), Total: len(r.Resources), Refused: len(r.Resources) == 0 && r.Error != "",
	}
	p.Verdict, p.Tone = verdict(r)
	p.Facts = facts(r)
	for _, problem := range r.Problems {
		p.Problems = append(p.Problems, ProblemLine(problem))
	}
	for _, warning := range warnings(r) {
		p.Warnings = append(p.Warnings, ProblemLine(warning))
	}
	p.Tiles = tiles(r)
	p.resources(r, t)
	target := func(n int) string { return "#" + p.Resources[n].Key }
	if len(p.Resources) > 0 && len(t.Graph.Edges) > 0 {
		p.Graph = drawn(r, t.Graph, target)
	}
	p.Timeline = template.HTML(timeline(r, t.Spans, target)) //nolint:gosec // it escapes all texts
	return p
}

// drawn is the graph of a report: its nodes are the resources.
func drawn(r *model.Report, g Graph, target func(n int) string) template.HTML {
	f := figure{Graph: Graph{Edges: g.Edges}, target: target}
	for i := range r.Resources {
		o := &r.Resources[i]
		f.Nodes = append(f.Nodes, Node{ID: o.ID})
		f.looks = append(f.looks, lookOf(o))
	}
	f.titles = func(n int) string {
		o := &r.Resources[n]
		return Escape(o.ID) + "\n" + f.looks[n].Word + ": " + Escape(o.Reason)
	}
	return template.HTML(f.svg("")) //nolint:gosec // it escapes all texts
}

// verdict is the whole in a few words, and the tone to say them in.
func verdict(r *model.Report) (words, tone string) {
	n := &r.Summary.Count
	switch {
	case len(r.Problems) > 0:
		return count(len(r.Problems), "problem"), "bad"
	case n[model.Failed] > 0:
		return fmt.Sprintf("%d failed", n[model.Failed]), "bad"
	case r.Error != "":
		return "not run", "bad"
	case n[model.Interrupted]+n[model.NotReached] > 0:
		return "interrupted", "bad"
	case r.Mode == "validate":
		return "valid", "run"
	case n[model.Deferred] > 0:
		return fmt.Sprintf("%d deferred", n[model.Deferred]), "off"
	case r.Mode == "plan" && r.Pending() > 0:
		return fmt.Sprintf("%d to do", r.Pending()), "run"
	case n[model.Changed] > 0:
		return fmt.Sprintf("%d changed", n[model.Changed]), "run"
	case r.Summary.Total == 0:
		return "no resources", "still"
	}
	return "all as declared", "run"
}

func facts(r *model.Report) []fact {
	state := Escape(r.State.Dir)
	switch {
	case state == "":
		state = "none"
	case !r.State.Found:
		state += " (none there before)"
	}
	all := []fact{
		{"name", Escape(r.Name)},
		{"host", Escape(r.Host)},
		{"run", Escape(r.Run)},
		{"started", r.Started.UTC().Format(time.RFC3339)},
		{"took", Duration(r.DurationMS)},
		{"exit code", fmt.Sprint(r.ExitCode)},
		{"state", state},
		{"settle", Escape(r.Version)},
	}
	if r.Summary.Owed > 0 {
		all = append(all, fact{"refreshes owed", fmt.Sprint(r.Summary.Owed)})
	}
	return slices.DeleteFunc(all, func(f fact) bool { return f.Text == "" })
}

// tiles counts the statuses that there are, worst first.
func tiles(r *model.Report) []tile {
	var all []tile
	for _, s := range []model.Status{
		model.Failed, model.Interrupted, model.Changed, model.WouldRun, model.WouldRefresh, model.MayRun,
		model.Skipped, model.Deferred, model.Shutdown, model.NotReached, model.Stable,
	} {
		if n := r.Summary.Count[s]; n > 0 {
			all = append(all, tile{statusLook(s), s.String(), n})
		}
		if s == model.Failed && r.Summary.Ignored > 0 {
			all = append(all, tile{lookOf(&model.ResourceReport{Status: s, Ignored: true}), "ignored", r.Summary.Ignored})
		}
	}
	return all
}

func (p *pageRun) resources(r *model.Report, t Trace) {
	anchors := make(map[string]anchor, len(r.Resources))
	for i := range r.Resources {
		id := r.Resources[i].ID
		anchors[id] = anchor{fmt.Sprintf("#%s-%d", p.Key, i), Escape(id)}
	}
	// What a selection left out has no anchor, and is named only.
	linked := func(id string) anchor {
		if a, ok := anchors[id]; ok {
			return a
		}
		return anchor{Text: Escape(id)}
	}
	before, after := map[string][]anchor{}, map[string][]anchor{}
	for _, e := range t.Graph.Edges {
		before[e.To] = append(before[e.To], linked(e.From))
		after[e.From] = append(after[e.From], linked(e.To))
	}
	for i := range r.Resources {
		o := &r.Resources[i]
		x := newPageResource(o)
		x.Key = fmt.Sprintf("%s-%d", p.Key, i)
		x.Before, x.After = before[o.ID], after[o.ID]
		for _, id := range o.RefreshedBy {
			x.RefreshedBy = append(x.RefreshedBy, linked(id))
		}
		if o.RootCause != "" {
			a := linked(o.RootCause)
			x.RootCause = &a
		}
		if x.Open {
			p.Failures = append(p.Failures, pageFailure{[]anchor{anchors[o.ID]}, x.Reason, cost(r, o)})
		}
		p.Resources = append(p.Resources, x)
	}
}

// cost is what a failure kept from happening, "" for nothing.
func cost(r *model.Report, o *model.ResourceReport) string {
	if skipped := skippedFor(r, o); len(skipped) > 0 {
		return "skipped: " + skipped[0]
	}
	return ""
}

func newPageResource(o *model.ResourceReport) pageResource {
	x := pageResource{
		look: lookOf(o), ID: Escape(o.ID), Type: Escape(o.Type), Name: Escape(o.Name), Status: o.Status.String(), Reason: Escape(o.Reason),
		Place: Escape(o.String()), Alias: Escape(o.Alias), Description: Escape(o.Description),
		Command: multiline(o.Command), Cwd: Escape(o.Cwd), Output: multiline(o.Output), Truncated: o.Truncated,
		Ended: ended(o), Diff: diffLines(o.Diff), Open: o.Status == model.Failed && !o.Ignored || o.Status == model.Interrupted,
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
		x.Guards = append(x.Guards, guard(g))
	}
	x.Values = valueLines(o)
	for _, w := range o.Warnings {
		x.Warnings = append(x.Warnings, Escape(w.Message))
	}
	return x
}

// ended is how the last attempt ended.
func ended(o *model.ResourceReport) string {
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
	for _, line := range lines(multiline(diff)) {
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
