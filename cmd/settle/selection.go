package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/spelling"
)

// selectResources reduces each manifest to its selected resources, and returns the
// selection with a type in front of every name. A name that is in no manifest, or that
// several resources have, is a mistake in the command line: then all manifests are
// refused.
func selectResources(all []*loaded, s model.Selection) model.Selection {
	var manifests []*model.Manifest
	var paths []string
	for _, l := range all {
		if l.manifest == nil {
			return s // nothing will run, and it may be the one that knows the name
		}
		manifests, paths = append(manifests, l.manifest), append(paths, l.report.Manifest)
	}
	s, ambiguous := s.AddTypes(manifests)
	refs, tags := s.FindUnknown(manifests)
	var ids, carried []string
	if len(refs)+len(tags) > 0 {
		ids, carried = listNames(manifests)
	}
	if len(refs) > 0 && !strings.Contains(refs[0], "#") {
		for i, id := range ids {
			_, ids[i], _ = strings.Cut(id, "#") // suggest in the form that was given
		}
	}
	where := strings.Join(paths, ", ")
	for _, l := range all {
		switch {
		case len(ambiguous) > 0:
			l.refuse(exit.Refuse(exit.Usage, "--only: several resources have this name: %s: name one with its type", strings.Join(ambiguous, ", ")))
		case len(refs) > 0:
			l.refuse(exit.Refuse(exit.Usage, "--only: no resource %s in %s%s", refs[0], where, suggestName(refs[0], ids, "settle list names them")))
		case len(tags) > 0:
			l.refuse(exit.Refuse(exit.Usage, "no resource in %s has the tag %q%s", where, tags[0], suggestName(tags[0], carried, "settle list shows tags")))
		default:
			l.manifest = s.Select(l.manifest)
		}
	}
	return s
}

// listNames returns the names that resources can be selected by: ids and tags.
func listNames(manifests []*model.Manifest) (ids, tags []string) {
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

// suggestName returns the end of a message about an unknown name: the closest known
// name, or else where to find the names.
func suggestName(word string, known []string, otherwise string) string {
	if meant := spelling.Suggest(word, known); meant != "" {
		return fmt.Sprintf("; did you mean %q?", meant)
	}
	return ": " + otherwise
}

// errSeveral refuses several manifests for one saved plan.
var errSeveral = errors.New("a saved plan is of one manifest: name one")
