// Package exec is the resource type that runs a command: what makes it due,
// how it is run, and what its end means. It knows no process library: the
// functions that run and look up programs are handed in.
package exec

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
)

// Run runs one process to its end. A non-zero exit is a value; the error says
// why it did not start, or that it was ended.
type Run func(context.Context, model.Command) (model.Exit, error)

// Provider turns a command line into words, with the values of its holes in
// them, and says what in it is probably not meant.
type Provider struct {
	Argv   func(line string, holes []model.Placeholder) ([]string, error)
	Doubts func(line string, holes []model.Placeholder) []string
}

// Options are what the type needs from the program around it.
type Options struct {
	Run      Run
	LookPath func(name, dir string, path []string) (string, error)
	Posix    Provider
	Shell    Provider
	// Fill puts values into a text for a shell that the resource names itself.
	Fill     func(shell []string, text string, holes []model.Placeholder) (string, error)
	Join     func(argv []string) string // words as text that a shell reads back
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

// world is what all execs of a run share.
type world struct{ Options }

// command is one exec as declared.
type command struct {
	w         *world
	argv      []string
	text      string // for people
	shell     bool
	base      model.Base
	cwd       string // "" is the default
	env       []pair
	path      []string
	returns   []int
	unchanged []int // codes out of returns; all of them for `unchanged: true`
	cond      model.Guards
	log       string
	user      string
	group     string
	umask     *int
	stdin     []byte
	timeout   time.Duration
	sensitive bool
}

type pair struct{ key, value string }

// About says what is known without looking at the machine.
func (c *command) About() model.About {
	check := len(c.unchanged) > 0 && !slices.ContainsFunc(c.returns, func(code int) bool { return !slices.Contains(c.unchanged, code) })
	about := model.About{
		Command:   c.text,
		Cwd:       c.cwd,
		Expects:   "returns " + codes(c.returns),
		User:      c.foreign(),
		Quiet:     c.log == "false",
		Creates:   len(c.cond.Creates) > 0,
		Check:     check,
		MayChange: len(c.unchanged) > 0 && !check,
	}
	return about
}

func codes(list []int) string {
	texts := make([]string, len(list))
	for i, code := range list {
		texts[i] = strconv.Itoa(code)
	}
	return strings.Join(texts, ", ")
}
