// Package apt reads and changes the packages of a Debian system by running
// dpkg-query, apt-cache, apt-get and apt-mark. It decides nothing: which packages
// have to change is for the resource type to say.
package apt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/packages"
)

const (
	replyLimit = 64 << 20 // output of a query, in bytes
	queryLimit = 2 * time.Minute
	minGrace   = time.Minute // an interrupted apt-get finishes the package that dpkg works on
	statusFile = "/var/lib/dpkg/status"
	listsDir   = "/var/lib/apt/lists"
	updatesDir = "/var/lib/dpkg/updates"
)

// quiet keeps every program that apt-get starts from asking a question.
var quiet = []string{
	"DEBIAN_FRONTEND=noninteractive", "DEBIAN_PRIORITY=critical", "APT_LISTCHANGES_FRONTEND=none",
	"APT_LISTBUGS_FRONTEND=none", "NEEDRESTART_MODE=l", "NEEDRESTART_SUSPEND=1",
}

// Manager runs the programs. Run runs a command to its end. Command builds it
// from its words and extra environment variables.
type Manager struct {
	Run     func(context.Context, model.Command) (model.Exit, error)
	Command func(argv []string, extra ...string) model.Command
}

// Stamp returns a text that changes whenever the package database does.
func (Manager) Stamp() string {
	info, err := os.Stat(statusFile)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
}

// Table reads the whole package database with one dpkg-query process.
func (m Manager) Table(ctx context.Context) (packages.Table, error) {
	text, err := m.query(ctx, "dpkg-query", "-W", "-f="+queryFormat)
	return ParseTable(text), err
}

// Offers returns what the package index knows of the names, from one apt-cache
// process. A name that it does not know is missing from the map.
func (m Manager) Offers(ctx context.Context, names []string) (map[string]packages.Offer, error) {
	text, err := m.query(ctx, append([]string{"apt-cache", "policy", "--"}, names...)...)
	return ParsePolicy(text, names), err
}

// query runs a program that changes nothing, and returns its standard output.
func (m Manager) query(ctx context.Context, argv ...string) (string, error) {
	c := m.Command(argv)
	c.Reply, c.Timeout = replyLimit, queryLimit
	exit, err := m.Run(ctx, c)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", argv[0], err)
	case exit.Code != 0 || exit.Signal != "":
		return "", fmt.Errorf("%s: %s: %s", argv[0], exit, firstError(exit.Output))
	}
	return string(exit.Reply), nil
}

// Simulate returns the changes that a request would lead to. It changes nothing.
func (m Manager) Simulate(ctx context.Context, r packages.Request) ([]packages.Change, error) {
	r.Removals = true // the caller judges the changes, and names what would be removed
	c := m.Command(append([]string{"apt-get", "-s", "-q"}, arguments(r)...), quiet...)
	c.Reply, c.Timeout = replyLimit, queryLimit
	exit, err := m.Run(ctx, c)
	switch {
	case err != nil:
		return nil, fmt.Errorf("apt-get -s: %w", err)
	case exit.Code != 0 || exit.Signal != "":
		return nil, errors.New(firstError(exit.Output + "\n" + string(exit.Reply)))
	}
	return ParseSimulation(string(exit.Reply)), nil
}

// Apply carries a request out.
func (m Manager) Apply(ctx context.Context, r packages.Request, stage model.Stage) (model.Exit, error) {
	return m.change(ctx, r.Timeout, stage, append([]string{
		"apt-get", "-q", "-y", "-o", "Dpkg::Use-Pty=0", "-o", "DPkg::Lock::Timeout=" + seconds(r.LockTimeout),
	}, arguments(r)...)...)
}

// arguments returns apt-get's arguments for a request, the same for a simulation
// and for the real transaction.
func arguments(r packages.Request) []string {
	force := "confold"
	if r.NewConfigFiles {
		force = "confnew"
	}
	args := []string{"-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-" + force}
	add := func(when bool, arg string) {
		if when {
			args = append(args, arg)
		}
	}
	add(r.Downgrade, "--allow-downgrades")
	add(r.Held, "--allow-change-held-packages")
	add(r.Recommends != nil && !*r.Recommends, "--no-install-recommends")
	add(r.Recommends != nil && *r.Recommends, "--install-recommends")
	if len(r.Remove) > 0 {
		add(r.Purge, "--purge")
		return append(append(args, "remove", "--"), r.Remove...)
	}
	add(!r.Removals, "--no-remove")
	args = append(args, "install", "--")
	for _, t := range r.Install {
		args = append(args, t.Name+"="+t.Version)
	}
	return args
}

// Interrupted reports whether a dpkg run was interrupted before its end.
func (Manager) Interrupted() bool {
	entries, err := os.ReadDir(updatesDir)
	return err == nil && len(entries) > 0
}

// Repair finishes an interrupted run of dpkg or apt-get.
func (m Manager) Repair(ctx context.Context, r packages.Request, stage model.Stage) (model.Exit, error) {
	exit, err := m.change(ctx, r.Timeout, stage, "dpkg", "--configure", "-a", "--force-confdef", "--force-confold")
	if err != nil || exit.Code == 0 {
		return exit, err
	}
	return m.change(ctx, r.Timeout, stage, "apt-get", "-q", "-y", "-f", "--no-remove", "-o", "Dpkg::Use-Pty=0",
		"-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold", "install")
}

// Update reads the package index anew.
func (m Manager) Update(ctx context.Context, r packages.Request, stage model.Stage) (model.Exit, error) {
	return m.change(ctx, r.Timeout, stage, "apt-get", "-q", "update")
}

// IndexTime returns when the package index was last read, the zero time when it
// never was.
func (Manager) IndexTime() time.Time {
	info, err := os.Stat(listsDir)
	if err != nil {
		return time.Time{}
	}
	newest := info.ModTime()
	if partial, err := os.Stat(listsDir + "/partial"); err == nil && partial.ModTime().After(newest) {
		newest = partial.ModTime() // apt-get update touches it also when nothing is new
	}
	return newest
}

// Hold marks packages as held, or takes the mark away.
func (m Manager) Hold(ctx context.Context, hold bool, names []string, stage model.Stage) (model.Exit, error) {
	verb := map[bool]string{true: "hold", false: "unhold"}[hold]
	return m.change(ctx, queryLimit, stage, append([]string{"apt-mark", verb, "--"}, names...)...)
}

// change runs a program that changes the machine. Cancelled, it gets INT first,
// alone, and at least a minute: dpkg finishes the package that it works on.
func (m Manager) change(ctx context.Context, timeout time.Duration, stage model.Stage, argv ...string) (model.Exit, error) {
	c := m.Command(argv, append(quiet, "UCF_FORCE_CONFFOLD=1")...)
	c.Timeout, c.Started = timeout, stage.Started
	c.Grace, c.InterruptLeader = max(c.Grace, minGrace), true
	exit, err := m.Run(ctx, c)
	switch {
	case err != nil:
		return exit, err
	case exit.Signal != "":
		return exit, fmt.Errorf("%s was %s", argv[0], exit)
	case exit.Code != 0:
		return exit, errors.New(firstError(exit.Output))
	}
	return exit, nil
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }

// IsLocked reports whether an error of apt-get says that another process holds a lock.
func (Manager) IsLocked(err error) bool {
	text := err.Error()
	return strings.Contains(text, "Could not get lock") || strings.Contains(text, "is another process using it")
}

// Matches reports whether an installed version equals the wanted one in dpkg's order.
func (Manager) Matches(installed, wanted string) bool { return Compare(installed, wanted) == 0 }
