// Settle brings one machine into the state that a YAML manifest declares.
//
// This package is the command line: it parses flags, reads manifests, wires the
// packages below it together, tells people and programs what happened, and is
// the only one that knows an exit code.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"

	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/cmd/internal/terminal"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/providers/proc"
)

func main() {
	proc.Main()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200) // a run is short: half the collections, for a few MB
	}
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// app is what a command runs in.
type app struct {
	*grammar
	in    io.Reader
	out   *terminal.Stream
	err   *terminal.Console
	color bool   // of out
	hurry func() // for the second signal: wait for no reader
	host  func() (map[string]any, error)

	watched bool // out is a terminal
}

// command is what every command of the grammar is.
type command interface {
	run(a *app) []ending
}

// run is the whole program but for the process around it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// With a handler a closed pipe is an error of the write, and stops nothing;
	// commands still get the default, which ignoring the signal would change.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	args = meant(args)
	endNow := make(chan struct{})
	stdout, stderr = terminal.NewWriter(stdout, endNow), terminal.NewWriter(stderr, endNow)
	a := &app{in: stdin, out: terminal.NewStream(stdout), hurry: sync.OnceFunc(func() { close(endNow) }), host: sync.OnceValues(hostFacts)}
	var help strings.Builder
	g, c, err := understood(args, &help)
	a.grammar, a.err = g, terminal.NewConsole(stderr, terminal.Options{Color: g.Color, Quiet: g.Quiet, Verbose: g.Verbose})
	a.color, a.watched = terminal.UseColor(g.Color, stdout, os.Getenv), terminal.IsTerminal(stdout)
	if a.err.StatusLine != nil && a.watched {
		a.out.ShowAbove(a.err.StatusLine)
	}
	var endings []ending
	switch {
	case errors.Is(err, errHelped):
		a.print([]byte(help.String()))
	case len(args) == 0:
		a.err.PrintText(firstSteps)
		endings = []ending{{refused: &refusal{exitUsage, errors.New("no command")}}}
	case err != nil:
		a.err.PrintError(err.Error())
		a.err.PrintText(shortUsage(err))
		endings = []ending{{refused: &refusal{exitUsage, err}}}
		a.failed(args, endings)
	default:
		endings = a.guarded(args, c)
	}
	a.err.Flush()
	a.err.StatusLine.Show("")
	if err := a.out.Err(); err != nil {
		a.err.PrintError(fmt.Sprintf("write standard output: %v", unwrapped(err)))
		endings = append(endings, ending{unwritten: err})
	}
	return exitCode(endings...)
}

// understood is what the words of the command line mean.
func understood(args []string, help io.Writer) (*grammar, command, error) {
	if len(args) > 0 && args[0] == completeWord {
		return &grammar{Color: "never", Quiet: true}, completing(args[1:]), nil
	}
	g, ctx, err := parse(args, help)
	if err != nil {
		return g, nil, err
	}
	return g, ctx.Selected().Target.Addr().Interface().(command), nil
}

// failed gives a program that asked for JSON its document also when no command
// came to make one.
func (a *app) failed(args []string, endings []ending) {
	if wanted(args, "json") && args[0] != completeWord {
		r := newReport("", "")
		endings[0].report = &r
		endings[0].finish()
		a.print(render.JSON([]model.Report{r}, render.Options{}))
	}
}

// print writes a result to standard output, after what stands before it on
// standard error: both may be the same terminal.
func (a *app) print(result []byte) {
	a.err.Flush()
	_, _ = a.out.Write(result) // a Stream never fails
}

// guarded runs a command and turns a panic into words and exit code 70.
func (a *app) guarded(args []string, c command) (endings []ending) {
	defer func() {
		if p := recover(); p != nil {
			err := fmt.Errorf("this is a bug in settle %s: %v", version, p)
			a.err.PrintError(fmt.Sprintf("%v: please report it, with the manifest; SETTLE_DEBUG=1 shows where it is", err))
			if os.Getenv("SETTLE_DEBUG") != "" {
				a.err.PrintText(string(debug.Stack()))
			}
			endings = []ending{{bug: err}}
			a.failed(args, endings)
		}
	}()
	return c.run(a)
}
