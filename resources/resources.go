// Package resources is the table of resource types: each with what it runs on.
// A new type is a folder beside this file and a line in Types.
package resources

import (
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/providers/posix"
	"github.com/settle-cm/settle/providers/proc"
	"github.com/settle-cm/settle/providers/shell"
	"github.com/settle-cm/settle/resources/exec"
)

// World is what the types need to know of the program around them. The zero
// value is enough to load a manifest, not to apply one.
type World struct {
	Environ  []string      // settle's own environment
	CleanEnv bool          // start every process from a clean one
	Grace    time.Duration // between TERM and KILL
	Run      string        // the id of the run
	Mask     model.Masker  // takes secrets out of output; nil: there are none
}

// Types returns the table.
func Types(w World) []model.Type {
	return []model.Type{
		exec.Type(exec.Options{
			Run: proc.Run, LookPath: proc.LookPath, Join: posix.Join,
			Posix:   exec.Provider{Argv: posix.Argv, Doubts: posix.Doubts},
			Shell:   exec.Provider{Argv: shell.Argv, Doubts: shell.Doubts},
			Environ: w.Environ, CleanEnv: w.CleanEnv, Grace: w.Grace, RunID: w.Run, Mask: w.Mask,
		}),
	}
}
