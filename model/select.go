package model

import (
	"fmt"
	"slices"
)

// Selection says which resources of a manifest a run is about. The zero value
// is all of them.
type Selection struct {
	Only     []string `json:"only,omitempty"`      // references; closed over everything upstream
	Tags     []string `json:"tags,omitempty"`      // the same for all that carry one of these tags
	SkipTags []string `json:"skip_tags,omitempty"` // removed, whatever else selects them
}

// All says whether nothing is left out.
func (s Selection) All() bool { return len(s.Only)+len(s.Tags)+len(s.SkipTags) == 0 }

// Select returns the manifest with only the selected resources in it. What Only
// and Tags name is closed over everything upstream; an edge to a resource that
// SkipTags removed counts as met. Subscribers stay those of the whole manifest:
// what is not selected goes on being owed its refreshes.
//
// The error names a reference or a tag that the manifest does not have.
func (s Selection) Select(m *Manifest) (*Manifest, error) {
	if s.All() {
		return m, nil
	}
	wanted, err := s.wanted(m)
	if err != nil {
		return nil, err
	}
	for i := range m.Resources {
		if overlap(m.Resources[i].Tags, s.SkipTags) {
			wanted[i] = false
		}
	}
	return m.reduce(wanted), nil
}

// wanted marks what Only and Tags name, and all upstream of it.
func (s Selection) wanted(m *Manifest) ([]bool, error) {
	wanted := make([]bool, len(m.Resources))
	if len(s.Only)+len(s.Tags) == 0 {
		for i := range wanted {
			wanted[i] = true
		}
		return wanted, s.known(m)
	}
	byID := map[string]int{}
	for i := range m.Resources {
		byID[m.Resources[i].ID()] = i
		if alias := m.Resources[i].AliasID(); alias != "" {
			byID[alias] = i
		}
		wanted[i] = overlap(m.Resources[i].Tags, s.Tags)
	}
	for _, id := range s.Only {
		i, ok := byID[id]
		if !ok {
			return nil, fmt.Errorf("no resource %s in %s", id, m.Path)
		}
		wanted[i] = true
	}
	if err := s.known(m); err != nil {
		return nil, err
	}
	for i := len(m.Order) - 1; i >= 0; i-- { // downstream first, so one pass closes it
		if n := m.Order[i]; wanted[n] {
			for _, e := range m.Resources[n].Upstream {
				wanted[e.On] = true
			}
		}
	}
	return wanted, nil
}

// known refuses a tag that no resource carries: a slip that would select
// nothing, or skip nothing, in silence.
func (s Selection) known(m *Manifest) error {
	for _, tag := range slices.Concat(s.Tags, s.SkipTags) {
		if !slices.ContainsFunc(m.Resources, func(r Resource) bool { return slices.Contains(r.Tags, tag) }) {
			return fmt.Errorf("no resource in %s has the tag %q", m.Path, tag)
		}
	}
	return nil
}

// reduce keeps the wanted resources and the edges between them.
func (m *Manifest) reduce(wanted []bool) *Manifest {
	small := *m
	small.Resources, small.Order = nil, nil
	index := make([]int, len(m.Resources))
	for i, r := range m.Resources {
		if !wanted[i] {
			continue
		}
		index[i] = len(small.Resources)
		small.Resources = append(small.Resources, r)
	}
	for i := range small.Resources {
		r := &small.Resources[i]
		edges := make([]Edge, 0, len(r.Upstream))
		for _, e := range r.Upstream {
			r.CutOff = r.CutOff || e.Refresh && !wanted[e.On]
			if wanted[e.On] {
				e.On = index[e.On]
				edges = append(edges, e)
			}
		}
		r.Upstream = edges
	}
	for _, n := range m.Order {
		if wanted[n] {
			small.Order = append(small.Order, index[n])
		}
	}
	return &small
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}
