// Package resources is the table of resource types: each with what it runs on.
// A new type is a folder beside this file and a line in Types.
package resources

import (
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/providers/facts"
	"github.com/settle-cm/settle/providers/files"
	"github.com/settle-cm/settle/providers/helper"
	"github.com/settle-cm/settle/providers/journal"
	"github.com/settle-cm/settle/providers/posix"
	"github.com/settle-cm/settle/providers/proc"
	"github.com/settle-cm/settle/providers/shell"
	"github.com/settle-cm/settle/providers/tokens"
	"github.com/settle-cm/settle/resources/exec"
	"github.com/settle-cm/settle/resources/file"
	"github.com/settle-cm/settle/resources/provision"
)

// World is what the types need to know of the program around them. The zero
// value is enough to load a manifest, not to apply one.
type World struct {
	Environ  []string       // settle's own environment
	CleanEnv bool           // start every process from a clean one
	Grace    time.Duration  // between TERM and KILL
	Run      string         // the id of the run
	Mask     model.Redactor // takes secrets out of output; nil: there are none
	StateDir string         // where what must outlive the run is kept; "" is nowhere
}

// Types returns the table.
func Types(w World) []model.Type {
	commands := exec.Options{
		Run: proc.Run, LookPath: proc.LookPath, Join: posix.Join,
		Posix: exec.Provider{Argv: posix.Argv, Warnings: posix.Warnings},
		Shell: exec.Provider{Argv: shell.Argv, Warnings: shell.Warnings},
		Fill:  shell.Fill,
		Commands: exec.NewCommands(exec.Inherited{
			Environ: w.Environ, CleanEnv: w.CleanEnv, Grace: w.Grace, RunID: w.Run, Redact: w.Mask,
		}),
	}
	return []model.Type{
		exec.Type(commands),
		file.Type(file.Options{
			Disk: files.Disk(),
			Run:  proc.Run, LookPath: proc.LookPath, Argv: posix.Argv, Join: posix.Join,
			Command: commands.Commands.New, SearchPath: commands.Commands.SearchPath,
			Key: journal.Key(w.StateDir), BackupDir: journal.BackupDir(w.StateDir, w.Run),
		}),
		provision.Type(provisions(w, commands)),
	}
}

// provisions is what a provision runs on.
func provisions(w World, commands exec.Options) provision.Options {
	uid, gid := file.Owners()
	return provision.Options{
		Ask: helper.Asker(proc.Run), Run: proc.Run, LookPath: proc.LookPath, Argv: posix.Argv, Join: posix.Join,
		Command: commands.Commands.New, SearchPath: commands.Commands.SearchPath, Conditions: exec.Guards(commands),
		Disk: files.Disk(),
		UID:  uid, GID: gid, Diff: file.Unified, Facts: facts.Gather, Now: time.Now,
		Tokens:   provision.Tokens{Verify: tokens.Verify, Sign: tokens.Sign, IsCurrent: tokens.IsCurrent},
		StateDir: w.StateDir,
	}
}
