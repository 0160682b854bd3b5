// Settle brings one machine into the state that a YAML manifest declares.
//
// This package is the command line: it parses flags, reads manifests, connects the
// packages below it, and reports results to people and programs. It is the only
// package that knows an exit code.
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

	"github.com/settle-cm/settle/cmd/internal/cmdline"
	"github.com/settle-cm/settle/cmd/internal/complete"
	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/cmd/internal/source"
	"github.com/settle-cm/settle/cmd/internal/terminal"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/providers/proc"
)

func main() {
	proc.Main()
	exitOnQuit()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200) // a run is short: half the collections cost a few MB
	}
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program without the process around it. It returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// With a handler, writing to a closed pipe is an error and does not end settle.
	// Commands still get the default. Ignoring the signal would change it for them.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	args = cmdline.TranslateWords(args)
	endNow := make(chan struct{})
	stdout, stderr = terminal.NewWriter(stdout, endNow), terminal.NewWriter(stderr, endNow)
	var help strings.Builder
	general, c, err := parseCommand(args, &help)
	a := &app{
		generalFlags: general, in: stdin, out: terminal.NewStream(stdout), err: terminal.NewConsole(stderr, terminal.Options{Color: general.Color, Quiet: general.Quiet, Verbose: general.Verbose}),
		color: terminal.UseColor(general.Color, stdout, os.Getenv), watched: terminal.IsTerminal(stdout),
		stopWaiting: sync.OnceFunc(func() { close(endNow) }), host: sync.OnceValues(hostFacts), commands: commandModel,
	}
	if a.err.StatusLine != nil && a.watched {
		a.out.ShowAbove(a.err.StatusLine)
	}
	var endings []exit.Ending
	switch {
	case errors.Is(err, errHelpRequested):
		a.print([]byte(help.String()))
	case len(args) == 0:
		a.err.PrintText(firstSteps)
		endings = []exit.Ending{{Refused: &exit.Refusal{Code: exit.Usage, Err: errors.New("no command")}}}
	case err != nil:
		a.err.PrintError(err.Error())
		a.err.PrintText(shortUsage(err))
		endings = []exit.Ending{{Refused: &exit.Refusal{Code: exit.Usage, Err: err}}}
		a.reportWithoutCommand(args, endings)
	default:
		endings = a.runCommand(args, c)
	}
	a.err.Flush()
	a.err.StatusLine.Show("")
	if err := a.out.Err(); err != nil {
		a.err.PrintError(fmt.Sprintf("write standard output: %v", source.WithoutPath(err)))
		endings = append(endings, exit.Ending{Unwritten: err})
	}
	return exit.Code(endings...)
}

// parseCommand returns the general flags and the command of a command line. Help
// is written to help.
func parseCommand(args []string, help io.Writer) (generalFlags, command, error) {
	if len(args) > 0 && args[0] == complete.Command {
		return generalFlags{Color: "never", Quiet: true}, completeCommand(args[1:]), nil
	}
	if err := cmdline.CheckEncoding(args); err != nil {
		return generalFlags{Color: "auto"}, nil, err
	}
	g, ctx, err := parseArgs(args, help)
	if err != nil {
		return g.General, nil, err
	}
	return g.General, ctx.Selected().Target.Addr().Interface().(command), nil
}

// reportWithoutCommand prints a JSON report for a program that asked for JSON,
// when no command came to print one.
func (a *app) reportWithoutCommand(args []string, endings []exit.Ending) {
	if wantsOutput(args, "json") && args[0] != complete.Command {
		r := newReport("", "")
		endings[0].Report = &r
		endings[0].Finish()
		a.print(render.JSON([]model.Report{r}, render.Options{}))
	}
}

// runCommand runs a command. A panic becomes a message and exit code 70.
func (a *app) runCommand(args []string, c command) (endings []exit.Ending) {
	defer func() {
		if p := recover(); p != nil {
			err := fmt.Errorf("this is a bug in settle %s: %v", version, p)
			a.err.PrintError(fmt.Sprintf("%v: please report it, with the manifest; SETTLE_DEBUG=1 shows where it is", err))
			if os.Getenv("SETTLE_DEBUG") != "" {
				a.err.PrintText(string(debug.Stack()))
			}
			endings = []exit.Ending{{Bug: err}}
			a.reportWithoutCommand(args, endings)
		}
	}()
	return c.run(a)
}
