package pkg

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/packages"
)

// diffLimit bounds the lines of a diff.
const diffLimit = 200

var errNotRoot = fmt.Errorf("changing packages needs root: %w", model.ErrNotPermitted)

// Check reads the package database, and where something is due the transaction
// that the package manager would make of it.
func (r *resource) Check(ctx context.Context, ask model.Ask) (model.Decision, error) {
	if ask.SkipGuards {
		return model.Decision{Unread: []string{"package"}}, nil
	}
	m, err := r.manager()
	if err != nil {
		return model.Decision{}, err
	}
	v, err := r.look(ctx, m)
	d := model.Decision{Read: []string{"package"}}
	if err != nil {
		return d, err
	}
	if len(v.needs) == 0 && !v.stale {
		d.Reason = r.stableReason(v.table)
		return d, nil
	}
	d.Act, d.Reason, d.MayChange = true, reasons(v.needs), v.stale && len(v.needs) == 0
	if v.unknown != "" || v.stale {
		d.Reason = joinReasons(d.Reason, v.indexReason(m))
	}
	if !r.machine.Root {
		d.Obstacles = append(d.Obstacles, errNotRoot.Error())
	}
	t, err := r.prepare(ctx, m, v)
	if err != nil {
		return d, err
	}
	d.Diff = diff(t.changes)
	return d, nil
}

// view is the state of the declared packages at one moment.
type view struct {
	table   packages.Table
	offers  map[string]packages.Offer
	needs   []need
	unknown string    // error about a name or version that the index does not know
	stale   bool      // the index is older than declared, and a newer one may change the answer
	index   time.Time // when the index was read
}

// look reads the database and, as far as they matter, the offers of the index.
func (r *resource) look(ctx context.Context, m Manager) (view, error) {
	table, err := r.machine.database.read(ctx, m)
	if err != nil {
		return view{}, err
	}
	v := view{table: table, index: m.IndexTime()}
	if r.ensure == "latest" {
		if v.offers, err = m.Offers(ctx, r.targetNames()); err != nil {
			return v, err
		}
	}
	if v.needs, err = r.needs(m, table, v.offers); err != nil {
		return v, err
	}
	fresh := r.machine.updated || r.maxAge == 0 || r.machine.Now().Sub(v.index) < r.maxAge
	v.stale = !fresh && (r.ensure == "latest" || len(v.needs) > 0)
	if v.offers == nil && installs(v.needs) {
		if v.offers, err = m.Offers(ctx, r.targetNames()); err != nil {
			return v, err
		}
	}
	for _, n := range v.needs {
		if !n.install {
			continue
		}
		if _, err := choose(m, n, v.offers[n.name]); err != nil {
			if r.update == "never" || r.machine.updated {
				return v, fmt.Errorf("%w (index of %s)", err, v.index.Format(time.DateOnly))
			}
			v.unknown = n.name
			break
		}
	}
	return v, nil
}

func (r *resource) targetNames() []string {
	names := make([]string, len(r.targets))
	for i, t := range r.targets {
		names[i] = t.name
	}
	return names
}

func installs(needs []need) bool {
	for _, n := range needs {
		if n.install {
			return true
		}
	}
	return false
}

func (v *view) indexReason(m Manager) string {
	if v.unknown == "" {
		return fmt.Sprintf("%s's index of %s is old: it is read anew first", m.Name, v.index.Format(time.DateOnly))
	}
	return fmt.Sprintf("%s's index of %s does not know it: it is read anew first", m.Name, v.index.Format(time.DateOnly))
}

func joinReasons(parts ...string) string {
	var all []string
	for _, part := range parts {
		if part != "" {
			all = append(all, part)
		}
	}
	return strings.Join(all, "; ")
}

// stableReason names the first package and its version.
func (r *resource) stableReason(table packages.Table) string {
	if len(r.targets) == 0 {
		return ""
	}
	first := r.targets[0].name
	text := first + " is not installed"
	for _, p := range find(table, first) {
		if p.State == packages.Installed {
			text = first + " " + p.Version
		}
	}
	if n := len(r.targets) - 1; n > 0 {
		text = fmt.Sprintf("%s, and %d more", text, n)
	}
	return text
}

// transaction is a request with the changes that it leads to.
type transaction struct {
	request packages.Request
	changes []packages.Change
	repairs bool
}

// prepare turns needs into a request and simulates it. It returns no request
// while the index does not know a package, and an error when the request would
// change more than the resource allows.
func (r *resource) prepare(ctx context.Context, m Manager, v view) (transaction, error) {
	t := transaction{request: packages.Request{
		Downgrade: false, Removals: r.removals, Recommends: r.recommends, NewConfigFiles: r.newConfig,
		Purge: r.ensure == "purged", LockTimeout: r.lockTimeout,
	}}
	if v.unknown != "" {
		return t, nil
	}
	for _, n := range v.needs {
		switch {
		case n.repair:
			t.repairs = true
			t.changes = append(t.changes, packages.Change{Name: n.name, Old: "(" + n.installed + ", half-way)", New: n.installed})
		case n.remove:
			t.request.Remove = append(t.request.Remove, n.name)
		case n.install:
			if err := r.addInstall(m, n, v, &t.request); err != nil {
				return t, err
			}
		}
	}
	for _, n := range v.needs {
		if n.hold != nil {
			mark := map[bool]string{true: "+ hold ", false: "- hold "}[*n.hold]
			t.changes = append(t.changes, packages.Change{Name: mark + n.name})
		}
	}
	if len(t.request.Install)+len(t.request.Remove) == 0 || t.repairs || m.Interrupted() {
		return t, nil // a simulation over half-installed packages says nothing reliable
	}
	changes, err := m.Simulate(ctx, t.request)
	if err != nil {
		return t, err
	}
	t.changes = append(changes, t.changes...)
	return t, r.judge(m, changes, v.table)
}

// addInstall adds one package to a request, in its exact version.
func (r *resource) addInstall(m Manager, n need, v view, request *packages.Request) error {
	version, err := choose(m, n, v.offers[n.name])
	if err != nil {
		return err
	}
	if n.installed != "" && m.Compare(version, n.installed) < 0 {
		if !r.downgrade {
			return fmt.Errorf("%s %s is installed, %s is wanted: set downgrade: true", n.name, n.installed, version)
		}
		request.Downgrade = true
	}
	for _, p := range find(v.table, n.name) {
		request.Held = request.Held || p.Held
	}
	request.Install = append(request.Install, packages.Target{Name: n.name, Version: version})
	return nil
}

// diff returns changes as lines, a long list cut visibly.
func diff(changes []packages.Change) string {
	lines := make([]string, 0, len(changes))
	for i, c := range changes {
		if i == diffLimit {
			lines = append(lines, fmt.Sprintf("… and %d more", len(changes)-i))
			break
		}
		if c.Old == "" && c.New == "" {
			lines = append(lines, c.Name)
			continue
		}
		lines = append(lines, c.String())
	}
	return strings.Join(lines, "\n")
}
