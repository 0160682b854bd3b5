package exec

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/settle-cm/settle/model"
)

// Inherited is the part of every child command that is the same for a whole run.
type Inherited struct {
	Environ  []string       // settle's own environment
	CleanEnv bool           // start every command from a clean one
	Grace    time.Duration  // between TERM and KILL
	RunID    string         // first part of every ProcessTag
	Redact   model.Redactor // removes secrets from output; nil: there are none
}

// Commands builds every child command of a run: those of exec and its guards,
// validators and helpers. No two processes of a run share a ProcessTag: the run
// tags the command of a resource, and a counter numbers the rest.
type Commands struct {
	Inherited
	full, clean environ // the two environments that a command can start from
	started     atomic.Int64
}

// NewCommands returns the builder of a run.
func NewCommands(i Inherited) *Commands {
	full := newEnviron(i.Environ)
	return &Commands{Inherited: i, full: full, clean: clean(full)}
}

// New returns a command as an exec in the manifest's directory would start it
// that declares only argv. The caller may set further fields.
func (s *Commands) New(base model.Base, argv []string) model.Command {
	c := &command{w: &world{Options: Options{Commands: s}}, base: base, cwd: base.Dir}
	return c.process(account{}, argv, s.nextTag())
}

// SearchPath returns the directories in which New's commands look for a program.
func (s *Commands) SearchPath(base model.Base) []string {
	c := &command{w: &world{Options: Options{Commands: s}}, base: base}
	_, path := c.environment(account{}, base.Dir, "")
	return path
}

// nextTag returns the ProcessTag of a process that is not the command of a
// resource. Number 0 keeps it apart from those, which count from 1.
func (s *Commands) nextTag() string {
	return fmt.Sprintf("%s/0.%d", s.RunID, s.started.Add(1))
}

// nextCommandTag returns the ProcessTag of a command in a run without a journal.
func (s *Commands) nextCommandTag() string {
	return fmt.Sprintf("%s/%d", s.RunID, s.started.Add(1))
}
