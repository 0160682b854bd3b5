// Package provision is the resource type that lets a site's own program, the
// helper, decide how a Choria server is configured. It checks the whole reply of
// the helper before it writes the first file, and writes only files that differ.
//
// Package contract defines the exchange with the helper. Functions that touch the
// machine come in with Options.
//
// The files in the order of the work: decode (the declared server), run (Check and
// Run), exchange (material and inventory to a verdict), targets (the reply as files),
// files (their comparison and replacement), commands (on_shutdown and on_upgrade).
package provision

import (
	"github.com/settle-cm/settle/model"
)

// Type returns the provision type.
func Type(opts Options) model.Type {
	w := &world{Options: opts}
	return model.Type{
		Name:       "provision",
		Meaning:    "a Choria server whose configuration, credentials and policies a helper decides",
		Properties: properties,
		Decode:     w.decode,
	}
}

// About describes the resource without looking at the machine.
func (s *server) About() model.About {
	return model.About{
		Command: s.text, Cwd: s.base.Dir, Creates: s.creates, MayChange: true, Journaled: true, KeepsState: true,
	}
}
