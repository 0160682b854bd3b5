package main

import (
	"errors"
	"strings"

	"github.com/settle-cm/settle/model"
)

// selection returns what the flags select.
func (f *selectFlags) selection() model.Selection {
	return model.Selection{Only: f.Only, Tags: f.Tags, SkipTags: f.SkipTags}
}

// choose keeps of each manifest what is selected. A name that none of them
// knows is a slip of the command line: then none of them is run.
func choose(all []*loaded, s model.Selection) {
	var manifests []*model.Manifest
	var paths []string
	for _, l := range all {
		if l.manifest == nil {
			return // nothing will run, and it may be the one that knows the name
		}
		manifests, paths = append(manifests, l.manifest), append(paths, l.report.Manifest)
	}
	refs, tags := s.Unknown(manifests)
	where := strings.Join(paths, ", ")
	for _, l := range all {
		switch {
		case len(refs) > 0:
			l.refuse(refuse(exitUsage, "--only: no resource %s in %s: settle list names them", refs[0], where))
		case len(tags) > 0:
			l.refuse(refuse(exitUsage, "no resource in %s has the tag %q: settle list shows tags", where, tags[0]))
		default:
			l.manifest = s.Select(l.manifest)
		}
	}
}

// errSeveral is what is wrong with a saved plan of more than one manifest.
var errSeveral = errors.New("a saved plan is of one manifest")
