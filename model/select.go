package model

import "slices"

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
// what is not selected goes on being owed its refreshes. A name that the
// manifest does not have selects nothing in it.
func (s Selection) Select(m *Manifest) *Manifest {
	if s.All() {
		return m
	}
	wanted := s.wanted(m)
	for i := range m.Resources {
		if overlap(m.Resources[i].Tags, s.SkipTags) {
			wanted[i] = false
		}
	}
	return m.reduce(wanted)
}

// wanted marks what Only and Tags name, and all upstream of it.
func (s Selection) wanted(m *Manifest) []bool {
	wanted := make([]bool, len(m.Resources))
	var todo []int
	for i := range m.Resources {
		r := &m.Resources[i]
		if len(s.Only)+len(s.Tags) == 0 || slices.Contains(s.Only, r.ID()) ||
			r.Alias != "" && slices.Contains(s.Only, r.AliasID()) || overlap(r.Tags, s.Tags) {
			wanted[i] = true
			todo = append(todo, i)
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range m.Resources[n].Upstream {
			if !wanted[e.On] {
				wanted[e.On] = true
				todo = append(todo, e.On)
			}
		}
	}
	return wanted
}

// Unknown returns the names of the selection that none of the manifests has:
// slips, that would select or skip nothing in silence.
func (s Selection) Unknown(manifests []*Manifest) (refs, tags []string) {
	if s.All() {
		return nil, nil
	}
	known := map[string]bool{}
	carried := map[string]bool{}
	for _, m := range manifests {
		for i := range m.Resources {
			r := &m.Resources[i]
			known[r.ID()], known[r.AliasID()] = true, true
			for _, tag := range r.Tags {
				carried[tag] = true
			}
		}
	}
	for _, ref := range s.Only {
		if !known[ref] {
			refs = append(refs, ref)
		}
	}
	for _, tag := range slices.Concat(s.Tags, s.SkipTags) {
		if !carried[tag] {
			tags = append(tags, tag)
		}
	}
	return refs, tags
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
