package render

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/settle-cm/settle/model"
)

// pageRun is one report on the page.
type pageRun struct {
	Key                  string // prefix of the anchors of this run
	Heading              string // the manifest's name, or its path
	ResourcesTitle       string
	ListFirst            bool   // the list of resources comes before the graph
	Checks               string // how many checks a plan found, "" for zero
	Legend               []edgeStyle
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
	Anchors                []pageLink
	Reason, LastLine, Cost string
}

func newPageRun(r *model.Report, t Trace, n int) pageRun {
	p := pageRun{
		Key: fmt.Sprintf("r%d", n), Mode: r.Mode, Manifest: Escape(r.Manifest), Name: Escape(r.Name),
		Heading: Escape(displayName(r)), ResourcesTitle: "Resources", Line: summaryLine(r), Error: Escape(r.Error), Total: len(r.Resources), Refused: len(r.Resources) == 0 && r.Error != "",
	}
	p.Verdict, p.Tone = verdict(r)
	if r.Mode == "plan" {
		p.ResourcesTitle, p.ListFirst = "What apply would do", true
	}
	if n := countKinds(r).check; n > 0 {
		p.Checks = fmt.Sprintf("%d to check", n)
	}
	p.Facts = listFacts(r)
	for _, problem := range r.Problems {
		p.Problems = append(p.Problems, ProblemLine(problem))
	}
	for _, warning := range allWarnings(r) {
		p.Warnings = append(p.Warnings, ProblemLine(warning))
	}
	p.Tiles = countTiles(r)
	p.addResources(r, t)
	target := func(n int) string { return "#" + p.resourceKey(n) }
	if len(p.Resources) > 0 && len(t.Graph.Edges) > 0 {
		p.Graph = drawGraph(r, t.Graph, target)
		p.Legend = usedEdgeStyles(t.Graph.Edges)
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
		{"manifest", Escape(r.Manifest)},
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

// countTiles returns a tile for each result that occurs, worst first.
func countTiles(r *model.Report) []tile {
	index := map[string]int{}
	var all []tile
	groups := map[string]pageGroup{}
	for i := range r.Resources {
		o := &r.Resources[i]
		key := resultKey(o)
		if n, ok := index[key]; ok {
			all[n].N++
			continue
		}
		index[key], groups[key] = len(all), groupOf(o)
		all = append(all, tile{tileStyle(o), key, 1})
	}
	slices.SortStableFunc(all, func(a, b tile) int {
		return cmp.Or(cmp.Compare(groups[a.Status], groups[b.Status]), cmp.Compare(symbolRank(a.Marker), symbolRank(b.Marker)), cmp.Compare(a.Status, b.Status))
	})
	return all
}

// tileStyle is the style of all resources with the result of this one.
func tileStyle(o *model.ResourceReport) style {
	s := model.ResourceReport{Status: o.Status, Ignored: o.Ignored}
	if o.Status == model.WouldRun || o.Status == model.Changed && o.Command == "" {
		s.Action, s.Command = o.Action, o.Command
	}
	return styleOf(&s)
}

// symbolRank returns the position of a symbol in the legend.
func symbolRank(symbol string) int {
	for i, l := range legend {
		if l.symbol == symbol {
			return i
		}
	}
	return len(legend)
}

// addResources adds the resources with the links between them, and the failures.
func (p *pageRun) addResources(r *model.Report, t Trace) {
	anchors := make(map[string]pageLink, len(r.Resources))
	for i := range r.Resources {
		id := r.Resources[i].ID
		anchors[id] = pageLink{"#" + p.resourceKey(i), Escape(id)}
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
		x.Key = p.resourceKey(i)
		x.Before, x.After = before[o.ID], after[o.ID]
		for _, id := range o.RefreshedBy {
			x.RefreshedBy = append(x.RefreshedBy, linked(id))
		}
		if o.RootCause != "" {
			a := linked(o.RootCause)
			x.RootCause = &a
		}
		if x.Open {
			p.Failures = append(p.Failures, pageFailure{[]pageLink{anchors[o.ID]}, x.Reason, lastOutputLine(o), failureCost(r, o)})
		}
		p.Resources = append(p.Resources, x)
	}
	p.sortResources()
}

// resourceKey returns the anchor of the resource with index n in the report.
func (p *pageRun) resourceKey(n int) string { return fmt.Sprintf("%s-%d", p.Key, n) }

// sortResources puts the groups of resources in their order, and a title on the
// first resource of each, if there are several.
func (p *pageRun) sortResources() {
	slices.SortStableFunc(p.Resources, func(a, b pageResource) int { return cmp.Compare(a.group, b.group) })
	if n := len(p.Resources); n == 0 || p.Resources[0].group == p.Resources[n-1].group {
		return
	}
	for i := range p.Resources {
		if i == 0 || p.Resources[i].group != p.Resources[i-1].group {
			p.Resources[i].GroupTitle = groupTitles[p.Resources[i].group]
		}
	}
}
