package pkg

import (
	"strings"
	"testing"

	"github.com/settle-cm/settle/model/packages"
	"github.com/settle-cm/settle/providers/apt"
)

var manager = Manager{Name: "apt", Compare: apt.Compare, Matches: apt.Manager{}.Matches}

func entry(state packages.State, version string) packages.Package {
	return packages.Package{Name: "x", Arch: "amd64", Version: version, State: state, Detail: "unpacked, not configured"}
}

func held(version string) packages.Package {
	p := entry(packages.Installed, version)
	p.Held = true
	return p
}

func flag(value bool) *bool { return &value }

func TestNeedFollowsTheTable(t *testing.T) {
	none := []packages.Package{}
	one := func(p packages.Package) []packages.Package { return []packages.Package{p} }
	offer := packages.Offer{Candidate: "2.0-1", Versions: []string{"2.0-1", "1.0-1"}}
	for name, row := range map[string]struct {
		resource resource
		version  string
		entries  []packages.Package
		offer    packages.Offer
		action   string // install, remove, repair, hold, unhold, or ""
		reason   string
		fails    string
	}{
		"present: missing":               {resource: resource{ensure: "present"}, entries: none, action: "install", reason: "x is not installed"},
		"present: configuration files":   {resource: resource{ensure: "present"}, entries: one(entry(packages.ConfigFiles, "1.0")), action: "install", reason: "x is not installed"},
		"present: unpacked":              {resource: resource{ensure: "present"}, entries: one(entry(packages.Broken, "1.0")), action: "repair", reason: "x: unpacked, not configured"},
		"present: any version":           {resource: resource{ensure: "present"}, entries: one(entry(packages.Installed, "0.1"))},
		"latest: candidate is higher":    {resource: resource{ensure: "latest"}, entries: one(entry(packages.Installed, "1.0-1")), offer: offer, action: "install", reason: "x 2.0-1 is available"},
		"latest: candidate is installed": {resource: resource{ensure: "latest"}, entries: one(entry(packages.Installed, "2.0-1")), offer: offer},
		"latest: candidate is lower":     {resource: resource{ensure: "latest"}, entries: one(entry(packages.Installed, "3.0-1")), offer: offer},
		"latest: no candidate":           {resource: resource{ensure: "latest"}, entries: one(entry(packages.Installed, "1.0")), fails: "apt has no candidate for x"},
		"version: equal":                 {resource: resource{ensure: "present"}, version: "1.0-1", entries: one(entry(packages.Installed, "1.0-1"))},
		"version: equal with an epoch":   {resource: resource{ensure: "present"}, version: "0:1.0-1", entries: one(entry(packages.Installed, "1.0-1"))},
		"version: pattern fits":          {resource: resource{ensure: "present"}, version: "1.0*", entries: one(entry(packages.Installed, "1.0-1"))},
		"version: lower":                 {resource: resource{ensure: "present"}, version: "2.0-1", entries: one(entry(packages.Installed, "1.0-1")), action: "install", reason: "x is 1.0-1"},
		"version: one of several":        {resource: resource{ensure: "present"}, version: "1.0-1", entries: []packages.Package{entry(packages.Installed, "1.0-1"), entry(packages.Installed, "2.0-1")}},
		"absent: installed":              {resource: resource{ensure: "absent"}, entries: one(entry(packages.Installed, "1.0")), action: "remove", reason: "x is installed"},
		"absent: half-way":               {resource: resource{ensure: "absent"}, entries: one(entry(packages.Broken, "1.0")), action: "remove", reason: "x is installed"},
		"absent: configuration files":    {resource: resource{ensure: "absent"}, entries: one(entry(packages.ConfigFiles, "1.0"))},
		"purged: configuration files":    {resource: resource{ensure: "purged"}, entries: one(entry(packages.ConfigFiles, "1.0")), action: "remove", reason: "x has configuration files left"},
		"purged: missing":                {resource: resource{ensure: "purged"}, entries: none},
		"hold: not held":                 {resource: resource{ensure: "present", hold: flag(true)}, entries: one(entry(packages.Installed, "1.0")), action: "hold", reason: "x is not held"},
		"hold: held":                     {resource: resource{ensure: "present", hold: flag(true)}, entries: one(held("1.0"))},
		"no hold: held":                  {resource: resource{ensure: "present", hold: flag(false)}, entries: one(held("1.0")), action: "unhold", reason: "x is held"},
		"held by others, satisfied":      {resource: resource{ensure: "present"}, entries: one(held("1.0"))},
		"held by others, must change":    {resource: resource{ensure: "present"}, version: "2.0", entries: one(held("1.0")), fails: "x is held at 1.0 (apt-mark hold)"},
		"held and must change":           {resource: resource{ensure: "present", hold: flag(true)}, version: "2.0", entries: one(held("1.0")), action: "install", reason: "x is 1.0"},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := row.resource.need(manager, target{"x", row.version}, row.entries, row.offer)
			if row.fails != "" {
				if err == nil || !strings.Contains(err.Error(), row.fails) {
					t.Fatalf("error %v, want %q", err, row.fails)
				}
				return
			}
			if err != nil || actionOf(n) != row.action || n.reason != row.reason {
				t.Errorf("%q because %q, error %v; want %q because %q", actionOf(n), n.reason, err, row.action, row.reason)
			}
		})
	}
}

func actionOf(n need) string {
	switch {
	case n.install:
		return "install"
	case n.remove:
		return "remove"
	case n.repair:
		return "repair"
	case n.hold != nil && *n.hold:
		return "hold"
	case n.hold != nil:
		return "unhold"
	}
	return ""
}

func TestFindPrefersTheWrittenArchitecture(t *testing.T) {
	table := packages.Table{
		"dpkg": {{Name: "dpkg", Arch: "amd64"}},
		"libc": {{Name: "libc", Arch: "amd64", Version: "1"}, {Name: "libc", Arch: "i386", Version: "2"}},
		"doc":  {{Name: "doc", Arch: "all", Version: "3"}},
	}
	for name, want := range map[string]string{"libc": "1", "libc:i386": "2", "libc:arm64": "", "doc": "3"} {
		got := ""
		if found := find(table, name); len(found) == 1 {
			got = found[0].Version
		}
		if got != want {
			t.Errorf("find %s: version %q, want %q", name, got, want)
		}
	}
}

func TestChooseTakesTheNewestThatFits(t *testing.T) {
	offer := packages.Offer{Candidate: "1.9-1", Versions: []string{"1.9-1", "1.10-1", "2.0-1"}}
	for _, row := range []struct{ wanted, want, fails string }{
		{"", "1.9-1", ""},
		{"1.*", "1.10-1", ""},
		{"2.0-1", "2.0-1", ""},
		{"1.10", "", "apt knows no version 1.10 of x: 1.9-1, 1.10-1, 2.0-1; write 1.10-* for any revision"},
		{"3", "", "apt knows no version 3 of x: 1.9-1, 1.10-1, 2.0-1"},
	} {
		got, err := choose(manager, need{target: target{"x", row.wanted}}, offer)
		if got != row.want || (err == nil) != (row.fails == "") || err != nil && err.Error() != row.fails {
			t.Errorf("%q: %q, %v; want %q, %q", row.wanted, got, err, row.want, row.fails)
		}
	}
	if _, err := choose(manager, need{target: target{"x", ""}}, packages.Offer{}); err == nil || err.Error() != "apt knows no package x" {
		t.Errorf("unknown package: %v", err)
	}
}

func TestChangesOfPackagesThatAreNotNamedAreRefused(t *testing.T) {
	table := packages.Table{"kept": {{Name: "kept", State: packages.Installed, Held: true}}}
	for name, row := range map[string]struct {
		change   packages.Change
		removals bool
		fails    string
	}{
		"a named package is removed":   {change: packages.Change{Name: "x", Old: "1"}},
		"a dependency is installed":    {change: packages.Change{Name: "lib", New: "1"}},
		"a dependency is upgraded":     {change: packages.Change{Name: "lib", Old: "1", New: "2"}},
		"another package is removed":   {change: packages.Change{Name: "apache2", Old: "1"}, fails: "would remove apache2: set removals: true"},
		"removals allows it":           {change: packages.Change{Name: "apache2", Old: "1"}, removals: true},
		"a held package changes":       {change: packages.Change{Name: "kept", Old: "1", New: "2"}, fails: "would change kept, which is held"},
		"another package is lowered":   {change: packages.Change{Name: "lib", Old: "2", New: "1"}, fails: "would downgrade lib from 2 to 1"},
		"a named foreign architecture": {change: packages.Change{Name: "x:i386", Old: "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &resource{targets: []target{{name: "x"}}, removals: row.removals}
			err := r.judge(manager, []packages.Change{row.change}, table)
			if (err == nil) != (row.fails == "") || err != nil && !strings.HasPrefix(err.Error(), row.fails) {
				t.Errorf("error %v, want %q", err, row.fails)
			}
		})
	}
}
