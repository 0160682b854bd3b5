package render

import (
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/settle-cm/settle/model"
)

// pageRun is one report on the page.
type pageRun struct {
	Key                  string // prefix of the anchors of this run
	Mode, Manifest, Name string
	Verdict, Tone        string
	Line                 string // the summary line of the text report
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

// tile shows the count of one status, and filters by it.
type tile struct {
	style
	Status string
	N      int
}

// pageFailure is one line of "What went wrong".
type pageFailure struct {
	Anchors      []pageLink
	Reason, Cost string
}

func newPageRun(r *model.Report, t Trace, n int) pageRun {
	p := pageRun{
		Key: fmt.Sprintf("r%d", n), Mode: r.Mode, Manifest: Escape(r.Manifest), Name: Escape(r.Name),
		Line: summaryLine(r), Error: Escape(r.Error), Total: len(r.Resources), Refused: len(r.Resources) == 0 && r.Error != "",
	}
	p.Verdict, p.Tone = verdict(r)
	p.Facts = listFacts(r)
	for _, problem := range r.Problems {
		p.Problems = append(p.Problems, ProblemLine(problem))
	}
	for _, warning := range allWarnings(r) {
		p.Warnings = append(p.Warnings, ProblemLine(warning))
	}
	p.Tiles = countTiles(r)
	p.addResources(r, t)
	target := func(n int) string { return "#" + p.Resources[n].Key }
	if len(p.Resources) > 0 && len(t.Graph.Edges) > 0 {
		p.Graph = drawGraph(r, t.Graph, target)
	}
	p.Timeline = template.HTML(drawTimeline(r, t.Spans, target)) //nolint:gosec // every text in it is escaped
	return p
}

// drawGraph returns the graph of a report, with its resources as nodes.
func drawGraph(r *model.Report, g Graph, target func(n int) string) template.HTML {
	f := figure{Graph: Graph{Edges: g.Edges}, target: target}
	for i := range r.Resources {
		o := &r.Resources[i]
		f.Nodes = append(f.Nodes, Node{ID: o.ID})
		f.styles = append(f.styles, styleOf(o))
	}
	f.titles = func(n int) string {
		o := &r.Resources[n]
		return Escape(o.ID) + "\n" + f.styles[n].Word + ": " + Escape(o.Reason)
	}
	return template.HTML(f.svg("")) //nolint:gosec // every text in it is escaped
}

// verdict returns the result of a run in a few words, and their tone.
func verdict(r *model.Report) (words, tone string) {
	n := &r.Summary.Count
	switch {
	case len(r.Problems) > 0:
		return countOf(len(r.Problems), "problem"), "bad"
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

// listFacts returns the facts about the run, without those that are not known.
func listFacts(r *model.Report) []fact {
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

// countTiles returns a tile for each status that occurs, worst first.
func countTiles(r *model.Report) []tile {
	var all []tile
	for _, s := range []model.Status{
		model.Failed, model.Interrupted, model.Changed, model.WouldRun, model.WouldRefresh, model.MayRun,
		model.Skipped, model.Deferred, model.Shutdown, model.NotReached, model.Stable,
	} {
		if n := r.Summary.Count[s]; n > 0 {
			all = append(all, tile{statusStyle(s), s.String(), n})
		}
		if s == model.Failed && r.Summary.Ignored > 0 {
			all = append(all, tile{styleOf(&model.ResourceReport{Status: s, Ignored: true}), "ignored", r.Summary.Ignored})
		}
	}
	return all
}

// addResources adds the resources with the links between them, and the failures.
func (p *pageRun) addResources(r *model.Report, t Trace) {
	anchors := make(map[string]pageLink, len(r.Resources))
	for i := range r.Resources {
		id := r.Resources[i].ID
		anchors[id] = pageLink{fmt.Sprintf("#%s-%d", p.Key, i), Escape(id)}
	}
	linked := func(id string) pageLink {
		if a, ok := anchors[id]; ok {
			return a
		}
		return pageLink{Text: Escape(id)}
	}
	before, after := map[string][]pageLink{}, map[string][]pageLink{}
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
			p.Failures = append(p.Failures, pageFailure{[]pageLink{anchors[o.ID]}, x.Reason, failureCost(r, o)})
		}
		p.Resources = append(p.Resources, x)
	}
}
