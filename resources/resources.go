// Package resources is the table of resource types: each with what it runs on.
// A new type is a folder beside this file and a line in Types.
package resources

import (
	"context"
	"os"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/providers/apt"
	"github.com/settle-cm/settle/providers/facts"
	"github.com/settle-cm/settle/providers/fetch"
	"github.com/settle-cm/settle/providers/files"
	"github.com/settle-cm/settle/providers/helper"
	"github.com/settle-cm/settle/providers/journal"
	"github.com/settle-cm/settle/providers/openrc"
	"github.com/settle-cm/settle/providers/posix"
	"github.com/settle-cm/settle/providers/proc"
	"github.com/settle-cm/settle/providers/shell"
	"github.com/settle-cm/settle/providers/system"
	"github.com/settle-cm/settle/providers/systemd"
	"github.com/settle-cm/settle/providers/tokens"
	"github.com/settle-cm/settle/providers/unpack"
	"github.com/settle-cm/settle/resources/archive"
	"github.com/settle-cm/settle/resources/exec"
	"github.com/settle-cm/settle/resources/file"
	pkg "github.com/settle-cm/settle/resources/package"
	"github.com/settle-cm/settle/resources/provision"
	"github.com/settle-cm/settle/resources/service"
)

// World is what the types need to know of the program around them. The zero
// value is enough to load a manifest, not to apply one.
type World struct {
	Environ  []string       // settle's own environment
	CleanEnv bool           // start every process from a clean one
	Grace    time.Duration  // between TERM and KILL
	Run      string         // the id of the run
	Mask     model.Redactor // takes secrets out of output; nil: there are no secrets
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
	child := func(argv []string) model.Command { return commands.Commands.New(model.Base{Dir: "/"}, argv) }
	return []model.Type{
		exec.Type(commands),
		file.Type(file.Options{
			Disk: files.Disk(),
			Run:  proc.Run, LookPath: proc.LookPath, Argv: posix.Argv, Join: posix.Join,
			Command: commands.Commands.New, SearchPath: commands.Commands.SearchPath,
			Key: journal.Key(w.StateDir), BackupDir: journal.BackupDir(w.StateDir, w.Run),
		}),
		provision.Type(provisions(w, commands)),
		service.Type(services(system.Commands(child))),
		pkg.Type(packageManagers(system.Commands(child))),
		archive.Type(archives(w)),
	}
}

// archives joins the archive type to what downloads and unpacks.
func archives(w World) archive.Options {
	uid, gid := file.Owners()
	return archive.Options{
		Disk: files.Disk(), Download: (&fetch.Client{}).Functions(), Format: unpack.Format,
		UID: uid, GID: gid, StateDir: w.StateDir,
		Stage: func(path string, purge bool) (archive.Staging, error) {
			s, err := files.NewStaging(path, purge)
			if err != nil {
				return archive.Staging{}, err
			}
			place := func(ctx context.Context, p archive.Placement) (bool, error) { return s.Place(ctx, files.Placement(p)) }
			return archive.Staging{Root: s.Root, Place: place, Close: s.Close}, nil
		},
		Unpack: func(ctx context.Context, from *os.File, into *os.Root, how archive.Unpacking) (archive.Unpacked, error) {
			done, err := unpack.Unpack(ctx, from, into, unpack.Options{Format: how.Format, Strip: how.Strip, UID: how.UID, GID: how.GID})
			return archive.Unpacked(done), err
		},
	}
}

// services joins the service type to the service managers.
func services(command func(argv []string, extra ...string) model.Command) service.Options {
	sd := systemd.Manager{Run: proc.Run, Command: command}
	rc := openrc.Manager{Run: proc.Run, Command: command}
	return service.Options{
		Systemd: service.Manager{
			Show: func(ctx context.Context, timeout time.Duration, names ...string) ([]service.Unit, error) {
				return convert(sd.Show(ctx, timeout, names...))
			},
			Do: sd.Do, IsEnabled: sd.IsEnabled,
			Log: func(ctx context.Context, timeout time.Duration, u service.Unit) string {
				return sd.Log(ctx, timeout, systemd.Unit(u))
			},
		},
		OpenRC: service.Manager{
			Show: func(ctx context.Context, timeout time.Duration, names ...string) ([]service.Unit, error) {
				return convert(rc.Show(ctx, timeout, names...))
			},
			Do: rc.Do, IsEnabled: rc.IsEnabled,
			Log: func(context.Context, time.Duration, service.Unit) string { return "" }, // OpenRC keeps no output
		},
		Detect: system.ServiceManager, Root: os.Geteuid() == 0,
	}
}

// convert turns a provider's units into those of the service type.
func convert[U systemd.Unit | openrc.Unit](units []U, err error) ([]service.Unit, error) {
	converted := make([]service.Unit, len(units))
	for i := range units {
		converted[i] = service.Unit(units[i])
	}
	return converted, err
}

// provisions holds the dependencies of the type provision.
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

// packageManagers joins the package type to the package managers.
func packageManagers(command func(argv []string, extra ...string) model.Command) pkg.Options {
	m := apt.Manager{Run: proc.Run, Command: command}
	return pkg.Options{
		Managers: map[string]pkg.Manager{
			"apt": {
				Name: "apt", Compare: apt.Compare, Matches: m.Matches,
				Stamp: m.Stamp, Table: m.Table, Offers: m.Offers, Simulate: m.Simulate, Apply: m.Apply,
				Interrupted: m.Interrupted, Repair: m.Repair, Update: m.Update, IndexTime: m.IndexTime,
				Hold: m.Hold, LockHolder: m.LockHolder, IsLocked: m.IsLocked,
			},
		},
		Detect: system.PackageManager, Root: os.Geteuid() == 0, Now: time.Now,
	}
}
