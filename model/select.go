package model

import "slices"

// Selection chooses the resources of a manifest for a run. The zero value chooses
// all of them.
type Selection struct {
	Only     []string `json:"only,omitempty"`      // references; everything upstream of them is selected too
	Tags     []string `json:"tags,omitempty"`      // the same for every resource with one of these tags
	SkipTags []string `json:"skip_tags,omitempty"` // resources with one of these tags are removed, even when Only or Tags selects them
}

// SelectsAll reports whether the selection is that of all resources.
func (s Selection) SelectsAll() bool { return len(s.Only)+len(s.Tags)+len(s.SkipTags) == 0 }

// Select returns the manifest with the selected resources only. Everything
// upstream of Only and Tags is selected too, and an edge to a resource that
// SkipTags removed counts as met. Subscribers stay those of the whole manifest, so
// that unselected resources stay owed their refreshes. Unknown names select nothing.
func (s Selection) Select(m *Manifest) *Manifest {
	if s.SelectsAll() {
		return m
	}
	selected := s.markSelected(m)
	for i := range m.Resources {
		if haveCommon(m.Resources[i].Tags, s.SkipTags) {
			selected[i] = false
		}
	}
	return m.keepSelected(selected)
}

// markSelected marks the resources that Only and Tags select, and everything
// upstream of them, by index.
func (s Selection) markSelected(m *Manifest) []bool {
	selected := make([]bool, len(m.Resources))
	var todo []int
	for i := range m.Resources {
		r := &m.Resources[i]
		if len(s.Only)+len(s.Tags) == 0 || slices.Contains(s.Only, r.ID()) ||
			r.Alias != "" && slices.Contains(s.Only, r.AliasID()) || haveCommon(r.Tags, s.Tags) {
			selected[i] = true
			todo = append(todo, i)
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range m.Resources[n].Upstream {
			if !selected[e.On] {
				selected[e.On] = true
				todo = append(todo, e.On)
			}
		}
	}
	return selected
}

// AddTypes returns the selection with references in place of names without a type.
// A name that no resource has stays as it is. When resources of several types have
// a name, their references are returned in ambiguous, sorted.
func (s Selection) AddTypes(manifests []*Manifest) (full Selection, ambiguous []string) {
	full = s
	full.Only = slices.Clone(s.Only)
	for n, name := range s.Only {
		if _, ok := ParseRef(name); ok {
			continue
		}
		ids := findByName(manifests, name)
		switch len(ids) {
		case 0:
		case 1:
			full.Only[n] = ids[0]
		default:
			return s, ids
		}
	}
	return full, nil
}

// findByName returns the ids of the resources with this name or alias, sorted. An id
// that several manifests have is returned once.
func findByName(manifests []*Manifest, name string) []string {
	var ids []string
	for _, m := range manifests {
		for i := range m.Resources {
			if r := &m.Resources[i]; r.Name == name || r.Alias == name {
				ids = append(ids, r.ID())
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// FindUnknown returns the references and tags of the selection that no manifest
// has. They are typing mistakes that would silently select or skip nothing.
func (s Selection) FindUnknown(manifests []*Manifest) (refs, tags []string) {
	if s.SelectsAll() {
		return nil, nil
	}
	knownRefs := map[string]bool{}
	knownTags := map[string]bool{}
	for _, m := range manifests {
		for i := range m.Resources {
			r := &m.Resources[i]
			knownRefs[r.ID()], knownRefs[r.AliasID()] = true, true
			for _, tag := range r.Tags {
				knownTags[tag] = true
			}
		}
	}
	for _, ref := range s.Only {
		if !knownRefs[ref] {
			refs = append(refs, ref)
		}
	}
	for _, tag := range slices.Concat(s.Tags, s.SkipTags) {
		if !knownTags[tag] {
			tags = append(tags, tag)
		}
	}
	return refs, tags
}

// keepSelected returns the manifest with the selected resources and the edges
// between them.
func (m *Manifest) keepSelected(selected []bool) *Manifest {
	small := *m
	small.Resources, small.Order = nil, nil
	index := make([]int, len(m.Resources))
	for i, r := range m.Resources {
		if !selected[i] {
			continue
		}
		index[i] = len(small.Resources)
		small.Resources = append(small.Resources, r)
	}
	for i := range small.Resources {
		r := &small.Resources[i]
		edges := make([]Edge, 0, len(r.Upstream))
		for _, e := range r.Upstream {
			r.HasUnselectedPublisher = r.HasUnselectedPublisher || e.Refresh && !selected[e.On]
			if selected[e.On] {
				e.On = index[e.On]
				edges = append(edges, e)
			}
		}
		r.Upstream = edges
	}
	for _, n := range m.Order {
		if selected[n] {
			small.Order = append(small.Order, index[n])
		}
	}
	return &small
}

func haveCommon(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}
