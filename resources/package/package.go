// Package pkg is the resource type for packages of the machine's package manager.
// (The folder is called package, which is a word of the language.) It decides
// which packages have to change; the managers (apt, dnf) are handed in as functions.
package pkg

import (
	"context"
	"sync"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/packages"
)

// Manager is a package manager as functions. See package apt for their contracts.
type Manager struct {
	Name        string
	Compare     func(a, b string) int
	Matches     func(installed, wanted string) bool // whether an installed version is the wanted one
	Stamp       func() string
	Table       func(context.Context) (packages.Table, error)
	Offers      func(context.Context, []string) (map[string]packages.Offer, error)
	Simulate    func(context.Context, packages.Request) ([]packages.Change, error)
	Apply       func(context.Context, packages.Request, model.Stage) (model.Exit, error)
	Interrupted func() bool
	Repair      func(context.Context, packages.Request, model.Stage) (model.Exit, error)
	Update      func(context.Context, packages.Request, model.Stage) (model.Exit, error)
	IndexTime   func() time.Time
	Hold        func(ctx context.Context, hold bool, names []string, stage model.Stage) (model.Exit, error)
	LockHolder  func() (string, error)
	IsLocked    func(error) bool // whether an error of Apply says that another manager runs
}

// Options are what the type needs from the program around it.
type Options struct {
	Managers map[string]Manager // by the name that provider has for it
	Detect   func() string      // the manager of this machine, "" without one
	Root     bool               // settle runs as root
	Now      func() time.Time
}

// Type returns the package type.
func Type(opts Options) model.Type {
	m := &machine{Options: opts, turn: make(chan struct{}, 1)}
	m.detect = sync.OnceValue(func() string {
		if opts.Detect == nil {
			return ""
		}
		return opts.Detect()
	})
	return model.Type{
		Name:       "package",
		Meaning:    "packages of the machine: installed, at a version, absent or purged",
		Properties: properties,
		Decode:     m.decode,
	}
}

// machine is what all packages of a run share.
type machine struct {
	Options
	detect   func() string
	declared sync.Map      // package name → *declaration, to find contradictions
	turn     chan struct{} // held by the resource that changes packages: they take turns
	database database
	updated  bool // the index was read in this run; guarded by turn
}

// declaration is the declared state of one package.
type declaration struct {
	ref    model.Ref
	pos    model.Pos
	ensure string
}

// target is one package as declared.
type target struct {
	name    string // as the manager takes it, with the architecture where it is written
	version string // wanted, may be a pattern; "" for any
}

// resource is one package resource as declared.
type resource struct {
	machine     *machine
	targets     []target
	ensure      string // present, latest, absent or purged
	downgrade   bool
	removals    bool
	recommends  *bool
	hold        *bool
	newConfig   bool
	update      string        // auto, never or "" for a maximal age
	maxAge      time.Duration // of the index
	lockTimeout time.Duration
	provider    string
	timeout     time.Duration
}

// About describes the resource without asking the package manager.
func (r *resource) About() model.About {
	return model.About{Command: r.command()}
}

func (r *resource) command() string {
	verb := map[string]string{"absent": "remove", "purged": "purge"}[r.ensure]
	if verb == "" {
		verb = "install"
	}
	text := "package " + verb
	for _, t := range r.targets {
		text += " " + t.name
		if t.version != "" {
			text += "=" + t.version
		}
	}
	return text
}

// manager returns the package manager that handles the resource.
func (r *resource) manager() (Manager, error) {
	name := r.provider
	if name == "" {
		name = r.machine.detect()
	}
	m, ok := r.machine.Managers[name]
	if !ok {
		return Manager{}, errNoManager
	}
	return m, nil
}

// database caches the package database for as long as its stamp is the same.
type database struct {
	mu    sync.Mutex
	stamp string
	table packages.Table
}

func (d *database) read(ctx context.Context, m Manager) (packages.Table, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	stamp := m.Stamp()
	if d.table != nil && stamp != "" && stamp == d.stamp {
		return d.table, nil
	}
	table, err := m.Table(ctx)
	if err != nil {
		return nil, err
	}
	d.table, d.stamp = table, stamp
	return table, nil
}
