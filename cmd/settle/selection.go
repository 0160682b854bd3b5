package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/spelling"
)

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
	var ids, carried []string
	if len(refs)+len(tags) > 0 {
		ids, carried = named(manifests)
	}
	where := strings.Join(paths, ", ")
	for _, l := range all {
		switch {
		case len(refs) > 0:
			l.refuse(refuse(exitUsage, "--only: no resource %s in %s%s", refs[0], where, hint(refs[0], ids, "settle list names them")))
		case len(tags) > 0:
			l.refuse(refuse(exitUsage, "no resource in %s has the tag %q%s", where, tags[0], hint(tags[0], carried, "settle list shows tags")))
		default:
			l.manifest = s.Select(l.manifest)
		}
	}
}

// named returns what resources can be selected by: their ids and their tags.
func named(manifests []*model.Manifest) (ids, tags []string) {
	for _, m := range manifests {
		for i := range m.Resources {
			r := &m.Resources[i]
			ids, tags = append(ids, r.ID()), append(tags, r.Tags...)
			if r.Alias != "" {
				ids = append(ids, r.AliasID())
			}
		}
	}
	return ids, tags
}

// hint ends a message about a name that nothing has: with the name that was
// probably meant, else with where names are to be seen.
func hint(word string, known []string, otherwise string) string {
	if meant := spelling.Suggest(word, known); meant != "" {
		return fmt.Sprintf("; did you mean %q?", meant)
	}
	return ": " + otherwise
}

// errSeveral is what is wrong with a saved plan of more than one manifest.
var errSeveral = errors.New("a saved plan is of one manifest: name one")
