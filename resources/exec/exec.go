// Package exec is the resource type that runs a command. It decides whether the
// command is due, starts it and interprets its exit. The functions that run and
// look up programs are handed in.
package exec

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/settle-cm/settle/model"
)

// Run runs one process to its end. A non-zero exit is a value. The error says why
// the process did not start, or that settle ended it.
type Run func(context.Context, model.Command) (model.Exit, error)

// Provider turns a command line into words with the values of its placeholders.
type Provider struct {
	Argv func(line string, placeholders []model.Placeholder) ([]string, error)
	// Warnings returns warnings about parts of the line that are probably not
	// meant.
	Warnings func(line string, placeholders []model.Placeholder) []model.Advice
}

// Options are the functions and settings that the type needs from the program.
type Options struct {
	Run      Run
	LookPath func(name, dir string, path []string) (string, error)
	Posix    Provider
	Shell    Provider
	// Fill puts values into a text for a shell that the resource names itself.
	Fill func(shell []string, text string, placeholders []model.Placeholder) (string, error)
	// Join returns words as text that a shell would split into the same words.
	Join     func(argv []string) string
	Commands *Commands
}

// world is shared by all execs of a run.
type world struct{ Options }

// command is one exec as declared.
type command struct {
	w         *world
	argv      []string
	text      string // the command for people
	shell     bool
	base      model.Base
	cwd       string // "": the default
	env       []pair
	path      []string
	returns   []int
	unchanged []int // codes out of returns; all of them for `unchanged: true`
	guards    model.Guards
	log       string
	user      string
	group     string
	umask     *int
	stdin     []byte
	timeout   time.Duration
	sensitive bool
}

type pair struct{ key, value string }

// Inherited is the part of every child command that is the same for a whole run.
type Inherited struct {
	Environ  []string       // settle's own environment
	CleanEnv bool           // start every command from a clean one
	Grace    time.Duration  // between TERM and KILL
	RunID    string         // first part of every ProcessTag
	Redact   model.Redactor // removes secrets from output; nil: there are no secrets
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

// nextTag returns the ProcessTag of a process that is not the command of a
// resource. Number 0 keeps it apart from those, which count from 1.
func (s *Commands) nextTag() string {
	return fmt.Sprintf("%s/0.%d", s.RunID, s.started.Add(1))
}

// nextCommandTag returns the ProcessTag of a command in a run without a journal.
func (s *Commands) nextCommandTag() string {
	return fmt.Sprintf("%s/%d", s.RunID, s.started.Add(1))
}
