// Package exec is the resource type that runs a command. It decides whether the
// command is due, starts it and interprets its exit. The functions that run and
// look up programs are handed in.
package exec

import (
	"context"
	"slices"
	"strconv"
	"strings"
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
	// meant, each as "message; suggestion".
	Warnings func(line string, placeholders []model.Placeholder) []string
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

// Type returns the exec type.
func Type(opts Options) model.Type {
	w := &world{Options: opts}
	return model.Type{
		Name:       "exec",
		Meaning:    "a command, made idempotent by what it creates, by guards or by what it subscribes to",
		Properties: properties,
		Decode:     w.decode,
	}
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

// About returns the facts that need no look at the machine.
func (c *command) About() model.About {
	check := len(c.unchanged) > 0 && !slices.ContainsFunc(c.returns, func(code int) bool { return !slices.Contains(c.unchanged, code) })
	about := model.About{
		Command:   c.text,
		Cwd:       c.cwd,
		Expects:   "returns " + joinCodes(c.returns),
		User:      c.otherUser(),
		Quiet:     c.log == "false",
		Creates:   len(c.guards.Creates) > 0,
		Check:     check,
		MayChange: len(c.unchanged) > 0 && !check,
		Journaled: true, // so that a later run finds its process
	}
	return about
}

func joinCodes(list []int) string {
	texts := make([]string, len(list))
	for i, code := range list {
		texts[i] = strconv.Itoa(code)
	}
	return strings.Join(texts, ", ")
}
