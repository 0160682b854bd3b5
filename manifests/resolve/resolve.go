// Package resolve connects the entries of a manifest: references become edges,
// edges an order. It finds names given twice, references to nothing, paths that two
// resources write and dependency cycles. It knows no YAML.
package resolve

import (
	"slices"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/graph"
)

// Options are what Resolve knows beyond the entries.
type Options struct {
	Types   []string // names of all types
	Partial bool     // a file could not be read, so references to nothing are not reported
}

// Result is the order of the resources.
type Result struct {
	Order  []int   // indexes, upstream first; incomplete when there are cycles
	Cycles [][]int // one problem each; every resource of a cycle waits for the next
}

// Resolve adds the dependencies and subscribers to the resources of the entries
// and returns their order. Problems go to the sink.
func Resolve(in entry.Entries, opts Options, sink *entry.Sink) Result {
	checkClaims(in, sink)
	names := indexNames(in, sink)
	cycles := addEdges(in, names, opts, sink)
	addSubscribers(in, sink)
	addParents(in, sink)
	order, more := sortResources(in, sink)
	return Result{order, append(cycles, more...)}
}

// verbs say how a resource stands to the one that a property names.
var verbs = map[string]string{
	"require": "requires", "subscribe": "subscribes to", "before": "goes before", "notify": "notifies",
}

// isBackward reports whether a property belongs to the resource that goes first.
func isBackward(property string) bool { return property == "before" || property == "notify" }

// addEdges turns references into edges. It returns the resources that refer to
// themselves, as cycles of one.
func addEdges(in entry.Entries, names *names, opts Options, sink *entry.Sink) (cycles [][]int) {
	for i, property := range entry.LinkProperties {
		for _, link := range in.Links[i] {
			to, ok := names.find(link, property, opts, sink)
			if !ok {
				continue
			}
			if to == link.From {
				if !link.ByDefault { // a default may name one of the resources that it is for
					refuseSelf(in, link, property, sink)
					cycles = append(cycles, []int{to})
				}
				continue
			}
			e := model.Edge{On: to, Refresh: property == "subscribe" || property == "notify", By: property, Pos: link.Pos}
			r := &in.Resources[link.From]
			if isBackward(property) {
				r, e.On = &in.Resources[to], link.From
			}
			r.Upstream = append(r.Upstream, e)
			if property == "notify" && in.Guarded[to] {
				warnGuarded(in, link, to, sink)
			}
		}
	}
	return cycles
}

// warnGuarded warns of a notify whose refresh ignores the guards of its target. The
// type of the target warns of its own subscribe.
func warnGuarded(in entry.Entries, link entry.Link, to int, sink *entry.Sink) {
	s := entry.Subject{ID: in.IDs[link.From], Property: "notify"}
	p := s.Problem(link.Pos, "a refresh runs "+in.IDs[to]+" whatever its creates and guards say",
		"write on_refresh: run there if that is meant, on_refresh: check if they should decide")
	sink.Warn(entry.Attribute(p, in.Resources[link.From].Values))
}

func refuseSelf(in entry.Entries, link entry.Link, property string, sink *entry.Sink) {
	id := in.IDs[link.From]
	s := entry.Subject{ID: id, Property: property}
	p := s.Problem(link.Pos, id+" "+verbs[property]+" itself", "take it out")
	sink.Refuse(entry.Attribute(p, in.Resources[link.From].Values))
}

// addSubscribers drops edges that are given twice and lists the subscribers of
// each resource.
func addSubscribers(in entry.Entries, sink *entry.Sink) {
	resources := in.Resources
	// By Refresh: the resource, plus 1, that last had an edge on the one of that index.
	// Comparing each edge with all others would take quadratic time.
	var seen [2][]int
	for i := range seen {
		seen[i] = make([]int, len(resources))
	}
	for n := range resources {
		resources[n].Upstream = slices.DeleteFunc(resources[n].Upstream, func(e model.Edge) bool {
			last := &seen[0][e.On]
			if e.Refresh {
				last = &seen[1][e.On]
			}
			twice := *last == n+1
			*last = n + 1
			// A resource that is off is owed no refresh, like one that is added later.
			if e.Refresh && !twice && resources[n].Off == "" {
				resources[e.On].Subscribers = append(resources[e.On].Subscribers, in.IDs[n])
			}
			return twice
		})
	}
	for _, r := range in.RefreshOnly {
		if !resources[r.From].Subscribes() && sink.Count() == 0 {
			s := entry.Subject{ID: in.IDs[r.From], Property: "refreshonly"}
			p := s.Problem(r.Pos, "nothing refreshes it: it never runs", "add subscribe, or notify in what should refresh it")
			sink.Warn(entry.Attribute(p, resources[r.From].Values))
		}
	}
}

// listUpstream returns the graph of the resources, with room for more edges.
func listUpstream(resources []model.Resource) [][]int {
	upstream := make([][]int, len(resources))
	for n := range upstream {
		for _, e := range resources[n].Upstream {
			upstream[n] = append(upstream[n], e.On)
		}
	}
	return upstream
}

// sortResources returns the order of the resources. It reports each cycle.
func sortResources(in entry.Entries, sink *entry.Sink) (order []int, cycles [][]int) {
	upstream := listUpstream(in.Resources)
	order, ok := graph.Order(upstream)
	if ok {
		return order, nil
	}
	cycles = graph.Loops(upstream)
	for _, cycle := range cycles {
		refuseCycle(in, cycle, sink)
	}
	return order, cycles
}
