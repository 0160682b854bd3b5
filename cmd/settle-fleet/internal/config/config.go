// Package config reads fleet.yaml, the configuration of one machine's agent.
package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/spelling"
)

// DefaultPath is where the packages expect the configuration.
const DefaultPath = "/etc/settle/fleet.yaml"

// Config is what fleet.yaml says. Paths are absolute.
type Config struct {
	Path        string
	Fleet       string
	Machine     string
	Releases    []Release
	NATS        string // file of a NATS context; "" without NATS
	Labels      map[string]string
	Interval    time.Duration
	FetchSpread time.Duration
	Mode        string // apply or plan
	Signers     string // allowed_signers file
	State       string // the agent's own state directory
	SettleState string // settle's; "" leaves it to settle
	Settle      string // program
}

// Release is a name that the machine follows and where its releases come from.
type Release struct {
	Name string
	From string // nats, an https URL or a directory
}

// MinInterval is the shortest interval between two rounds.
const MinInterval = time.Second

// loader collects every problem of a file.
type loader struct {
	Config
	dir      string
	from     string
	problems []error
}

// Load reads the configuration. The error names every problem, one per line,
// as file:line:column.
func Load(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	l := &loader{dir: filepath.Dir(absolute)}
	l.Path = path
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s:1:1: write a map, beginning with fleet:", path)
	}
	l.setDefaults()
	l.readKeys(document.Content[0])
	l.complete(document.Content[0])
	if len(l.problems) > 0 {
		return nil, errors.Join(l.problems...)
	}
	return &l.Config, nil
}

func (l *loader) setDefaults() {
	l.Interval, l.FetchSpread, l.Mode = 30*time.Minute, 2*time.Minute, "apply"
	l.Signers, l.Settle = "/etc/settle/allowed_signers", "settle"
	l.State = DefaultState(os.Getenv, os.Geteuid())
	l.Labels = map[string]string{}
}

// DefaultState returns the agent's state directory when none is configured.
func DefaultState(env func(string) string, uid int) string {
	switch {
	case uid == 0:
		return "/var/lib/settle-fleet"
	case filepath.IsAbs(env("XDG_STATE_HOME")):
		return filepath.Join(env("XDG_STATE_HOME"), "settle-fleet")
	}
	return filepath.Join(env("HOME"), ".local/state/settle-fleet")
}

// problem records a mistake at a node.
func (l *loader) problem(at *yaml.Node, format string, args ...any) {
	l.problems = append(l.problems, fmt.Errorf("%s:%d:%d: %s", l.Path, at.Line, at.Column, fmt.Sprintf(format, args...)))
}

// keys says how each key of fleet.yaml is read.
var keys = map[string]func(*loader, *yaml.Node){
	"fleet":           func(l *loader, n *yaml.Node) { l.Fleet = l.text(n) },
	"machine":         func(l *loader, n *yaml.Node) { l.Machine = l.text(n) },
	"releases":        (*loader).readReleases,
	"from":            func(l *loader, n *yaml.Node) { l.from = l.readFrom(n) },
	"nats":            func(l *loader, n *yaml.Node) { l.NATS = l.path(n) },
	"labels":          (*loader).readLabels,
	"interval":        func(l *loader, n *yaml.Node) { l.Interval = l.duration(n, MinInterval) },
	"fetch_spread":    func(l *loader, n *yaml.Node) { l.FetchSpread = l.duration(n, 0) },
	"mode":            (*loader).readMode,
	"allowed_signers": func(l *loader, n *yaml.Node) { l.Signers = l.path(n) },
	"state":           func(l *loader, n *yaml.Node) { l.State = l.path(n) },
	"settle_state":    func(l *loader, n *yaml.Node) { l.SettleState = l.path(n) },
	"settle":          func(l *loader, n *yaml.Node) { l.Settle = l.program(n) },
}

func (l *loader) readKeys(root *yaml.Node) {
	seen := map[string]bool{}
	for i := 0; i < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		name := key.Value
		read, known := keys[name]
		switch {
		case seen[name]:
			l.problem(key, "%s is given twice", name)
		case known:
			read(l, value)
		default:
			l.problem(key, "unknown key %q%s", name, suggest(name))
		}
		seen[name] = true
	}
}

func suggest(name string) string {
	known := make([]string, 0, len(keys))
	for key := range keys {
		known = append(known, key)
	}
	slices.Sort(known)
	if closest := spelling.Suggest(name, known); closest != "" {
		return "; did you mean " + closest + "?"
	}
	return "; known are " + strings.Join(known, ", ")
}

// complete checks what only the whole file can tell.
func (l *loader) complete(root *yaml.Node) {
	if err := release.CheckName("fleet", l.Fleet); err != nil {
		l.problem(root, "%v", err)
	}
	if l.Machine == "" {
		l.Machine = hostName()
	}
	if err := release.CheckMachine(l.Machine); err != nil {
		l.problem(root, "%v; set machine:", err)
	}
	if len(l.Releases) == 0 {
		l.problem(root, "releases: name at least one release")
	}
	if l.from == "" && l.NATS != "" {
		l.from = "nats"
	}
	for i := range l.Releases {
		r := &l.Releases[i]
		if len(l.problems) > 0 {
			return // they may be why there is no source
		}
		if r.From == "" {
			r.From = l.from
		}
		switch {
		case r.From == "":
			l.problem(root, "release %s has no source: set nats: to a context, or from: to a directory or an https URL", r.Name)
		case r.From == "nats" && l.NATS == "":
			l.problem(root, "release %s comes from nats: set nats: to the file of a context", r.Name)
		}
	}
}

func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return strings.ToLower(name)
}

func (l *loader) text(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || n.Value == "" {
		l.problem(n, "write a text")
		return ""
	}
	return n.Value
}

// path returns an absolute path: a relative one is below the file's directory.
func (l *loader) path(n *yaml.Node) string { return l.absolute(l.text(n)) }

func (l *loader) absolute(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(l.dir, path)
}

// program returns a name to be searched in PATH as it is.
func (l *loader) program(n *yaml.Node) string {
	if name := l.text(n); !strings.Contains(name, "/") {
		return name
	}
	return l.path(n)
}

func (l *loader) duration(n *yaml.Node, least time.Duration) time.Duration {
	d, err := model.ParseDuration(l.text(n))
	if err != nil || d < least {
		l.problem(n, "%q is not a time of at least %v such as 30m", n.Value, least)
	}
	return d
}

func (l *loader) readMode(n *yaml.Node) {
	l.Mode = l.text(n)
	if l.Mode != "apply" && l.Mode != "plan" {
		l.problem(n, "mode is apply or plan, not %q", l.Mode)
	}
}

func (l *loader) readFrom(n *yaml.Node) string {
	from := l.text(n)
	switch {
	case from == "nats" || strings.HasPrefix(from, "https://"):
		return from
	case strings.HasPrefix(from, "http://"):
		// Releases are signed, but a listener would learn every value in a bundle.
		l.problem(n, "use https:// instead of http://")
		return ""
	case strings.Contains(from, "://"):
		l.problem(n, "a source is nats, an https URL or a directory, not %q", from)
		return ""
	}
	return l.absolute(from)
}

func (l *loader) readReleases(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		l.problem(n, "write a list of release names")
		return
	}
	for _, item := range n.Content {
		var r Release
		switch item.Kind {
		case yaml.MappingNode:
			r = l.readRelease(item)
		default:
			r.Name = l.text(item)
		}
		if err := release.CheckName("release", r.Name); err != nil {
			l.problem(item, "%v", err)
		}
		if slices.ContainsFunc(l.Releases, func(other Release) bool { return other.Name == r.Name }) {
			l.problem(item, "release %s is listed twice", r.Name)
		}
		l.Releases = append(l.Releases, r)
	}
}

func (l *loader) readRelease(n *yaml.Node) (r Release) {
	for i := 0; i < len(n.Content); i += 2 {
		switch key := n.Content[i]; key.Value {
		case "name":
			r.Name = l.text(n.Content[i+1])
		case "from":
			r.From = l.readFrom(n.Content[i+1])
		default:
			l.problem(key, "unknown key %q; known are name, from", key.Value)
		}
	}
	return r
}

func (l *loader) readLabels(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		l.problem(n, "write a map of labels")
		return
	}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], l.text(n.Content[i+1])
		switch {
		case strings.HasPrefix(key.Value, "host."):
			l.problem(key, "labels that begin with host. come from the machine itself")
		case !release.IsLabel(key.Value, value):
			l.problem(key, "label %s=%s: use letters, digits and . _ - : in both", key.Value, value)
		}
		l.Labels[key.Value] = value
	}
}
