package pkg

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/settle-cm/settle/model/packages"
)

// need is the work that is due for one declared package.
type need struct {
	target
	installed string // version that is installed, "" for none
	install   bool   // in the wanted or the newest version
	remove    bool
	repair    bool
	hold      *bool // set or clear the mark
	reason    string
}

// find returns the entries of the database that a declared name means: those of
// the written architecture, else of the native one or of all.
func find(table packages.Table, name string) []packages.Package {
	base, arch, qualified := strings.Cut(name, ":")
	native := ""
	if own := table["dpkg"]; len(own) > 0 {
		native = own[0].Arch
	}
	var found []packages.Package
	for _, p := range table[base] {
		switch {
		case qualified && p.Arch != arch, !qualified && native != "" && p.Arch != native && p.Arch != "all":
		default:
			found = append(found, p)
		}
	}
	return found
}

// needs compares the declared packages with the database. The error says why the
// declared state must not be reached. With latest, offers holds the candidates.
func (r *resource) needs(m Manager, table packages.Table, offers map[string]packages.Offer) ([]need, error) {
	var all []need
	for _, t := range r.targets {
		n, err := r.need(m, t, find(table, t.name), offers[t.name])
		if err != nil {
			return nil, err
		}
		if n.reason != "" {
			all = append(all, n)
		}
	}
	return all, nil
}

func (r *resource) need(m Manager, t target, entries []packages.Package, offer packages.Offer) (need, error) {
	n := need{target: t}
	current := best(m, entries, t.version)
	if current.State >= packages.Broken {
		n.installed = current.Version
	}
	if r.removes() {
		return n.decideRemoval(r.ensure, current), nil
	}
	switch {
	case current.State == packages.Broken:
		n.repair, n.reason = true, t.name+": "+current.Detail
	case current.State != packages.Installed:
		n.install, n.reason = true, t.name+" is not installed"
	case t.version != "" && !matches(m, current.Version, t.version):
		n.install, n.reason = true, fmt.Sprintf("%s is %s", t.name, current.Version)
	case r.ensure == "latest" && offer.Candidate == "":
		return n, fmt.Errorf("%s has no candidate for %s", m.Name, t.name)
	case r.ensure == "latest" && m.Compare(offer.Candidate, current.Version) > 0:
		n.install, n.reason = true, fmt.Sprintf("%s %s is available", t.name, offer.Candidate)
	}
	return n, r.decideHold(&n, current)
}

// best returns the entry that decides: of several installed versions the wanted
// one, else the highest.
func best(m Manager, entries []packages.Package, wanted string) packages.Package {
	var current packages.Package
	for _, p := range entries {
		switch {
		case p.State < current.State:
		case p.State > current.State:
			current = p
		case wanted != "" && matches(m, current.Version, wanted):
		case wanted != "" && matches(m, p.Version, wanted), m.Compare(p.Version, current.Version) > 0:
			current = p
		}
	}
	return current
}

func (n need) decideRemoval(ensure string, current packages.Package) need {
	switch {
	case current.State >= packages.Broken:
		n.remove, n.reason = true, n.name+" is installed"
	case current.State == packages.ConfigFiles && ensure == "purged":
		n.remove, n.reason = true, n.name+" has configuration files left"
	}
	return n
}

// decideHold adds or removes a hold, and refuses to change a package
// that another program or person holds.
func (r *resource) decideHold(n *need, current packages.Package) error {
	if r.hold == nil && current.Held && n.install && current.State == packages.Installed {
		return fmt.Errorf("%s is held at %s (apt-mark hold): set hold, or apt-mark unhold it", n.name, current.Version)
	}
	if r.hold == nil || *r.hold == current.Held && !(current.Held && n.install) {
		return nil
	}
	n.hold = r.hold
	if n.reason == "" {
		n.reason = n.name + map[bool]string{true: " is not held", false: " is held"}[*r.hold]
	}
	return nil
}

// matches reports whether a version is the wanted one: equal in the manager's
// own order, or fitting the pattern.
func matches(m Manager, version, wanted string) bool {
	if wanted == "" {
		return true
	}
	if strings.ContainsAny(wanted, "*?") {
		ok, _ := path.Match(wanted, version) // decode accepts no brackets
		return ok
	}
	return m.Matches(version, wanted)
}

// choose returns the version to install for a need: the newest that fits.
func choose(m Manager, n need, offer packages.Offer) (string, error) {
	if n.version == "" && offer.Candidate != "" {
		return offer.Candidate, nil
	}
	best := ""
	for _, v := range offer.Versions {
		if n.version != "" && matches(m, v, n.version) && (best == "" || m.Compare(v, best) > 0) {
			best = v
		}
	}
	switch {
	case best != "":
		return best, nil
	case len(offer.Versions) == 0:
		return "", fmt.Errorf("%s knows no package %s", m.Name, n.name)
	case n.version == "":
		return "", fmt.Errorf("%s has no candidate for %s", m.Name, n.name)
	}
	known := slices.Compact(slices.Clone(offer.Versions))
	message := fmt.Sprintf("%s knows no version %s of %s: %s", m.Name, n.version, n.name, strings.Join(known[:min(len(known), 5)], ", "))
	for _, v := range known {
		if strings.HasPrefix(v, n.version+"-") {
			return "", fmt.Errorf("%s; write %s-* for any revision", message, n.version)
		}
	}
	return "", fmt.Errorf("%s", message)
}

// judge refuses changes of packages that are not named, as far as the resource
// does not allow them.
func (r *resource) judge(m Manager, changes []packages.Change, table packages.Table) error {
	var removed []string
	for _, c := range changes {
		if r.names(c.Name) {
			continue
		}
		entries := find(table, c.Name)
		switch {
		case c.New == "":
			removed = append(removed, c.Name)
		case len(entries) > 0 && entries[0].Held:
			return fmt.Errorf("would change %s, which is held", c.Name)
		case c.Old != "" && m.Compare(c.New, c.Old) < 0:
			return fmt.Errorf("would downgrade %s from %s to %s: name it, with a version", c.Name, c.Old, c.New)
		}
	}
	if len(removed) > 0 && !r.removals {
		return fmt.Errorf("would remove %s: set removals: true", strings.Join(removed, ", "))
	}
	return nil
}

// names reports whether the resource names a package, with or without its
// architecture.
func (r *resource) names(name string) bool {
	base, _, _ := strings.Cut(name, ":")
	return slices.ContainsFunc(r.targets, func(t target) bool {
		own, _, _ := strings.Cut(t.name, ":")
		return t.name == name || own == base
	})
}

// reasons joins the reasons of needs, at most four of them.
func reasons(needs []need) string {
	var texts []string
	for i, n := range needs {
		if i == 4 {
			texts = append(texts, fmt.Sprintf("and %d more", len(needs)-i))
			break
		}
		texts = append(texts, n.reason)
	}
	return strings.Join(texts, ", ")
}
