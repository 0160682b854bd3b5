// Settle-fleet brings signed releases to many machines. It fetches a bundle,
// checks who signed it, runs settle, and carries the report away. It decides
// nothing about resources and executes nothing but settle.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	"github.com/charmbracelet/log"
)

// grammar is the command line.
type grammar struct {
	Settle string `placeholder:"PROGRAM" default:"settle" env:"SETTLE_PROGRAM" help:"The program settle. Default: settle in PATH."`

	Init        initCommand        `cmd:"" help:"Make the buckets and the stream of a fleet. Again it changes nothing."`
	Key         keyCommand         `cmd:"" help:"Make a key for the operators and print its public part."`
	Join        joinCommand        `cmd:"" help:"Make this machine's key and configuration, and print its line for permissions."`
	Permissions permissionsCommand `cmd:"" help:"Print nats-server configuration with the least rights."`
	Open        openCommand        `cmd:"" help:"Put a published release in force on every machine."`
	Rollout     rolloutCommand     `cmd:"" help:"Put a release in force in waves, and halt when machines fail."`
	Run         runCommand         `cmd:"" help:"Have machines apply what is in force now, or plan it."`
	Machines    machinesCommand    `cmd:"" help:"Say where each machine stands."`
	Show        showCommand        `cmd:"" help:"Show the report of a run of a machine."`
	Events      eventsCommand      `cmd:"" help:"List the runs that changed something or failed."`
	Adopt       adoptCommand       `cmd:"" help:"Take the place of the machine that told under this name before."`

	Pack    packCommand    `cmd:"" help:"Validate a directory, pack it into a bundle and print its digest."`
	Publish publishCommand `cmd:"" help:"Pack a directory, sign a release of it and publish both."`
	Verify  verifyCommand  `cmd:"" help:"Check a release, and its bundle, as a machine would."`
	Agent   agentCommand   `cmd:"" help:"Take up releases and have settle apply them, at each interval or once."`
	Status  statusCommand  `cmd:"" help:"Say where this machine stands."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// command is every command of the grammar. The exit code comes from its error.
type command interface {
	run(ctx context.Context, a *app) error
}

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the whole program but for the process around it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			if os.Getenv("SETTLE_DEBUG") != "" {
				panic(p)
			}
			fmt.Fprintf(stderr, "settle-fleet: this is a bug in settle-fleet %s: %v: please report it; SETTLE_DEBUG=1 shows where it is\n", version, p)
			code = exitBug
		}
	}()
	g, c, err := parse(args, stdout)
	if errors.Is(err, errHelped) {
		return 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "settle-fleet: %v\nMore: settle-fleet --help\n", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	a := &app{settleProgram: g.Settle, in: stdin, out: stdout, err: stderr, log: log.NewWithOptions(stderr, log.Options{Prefix: ""})}
	return exitCode(stderr, c.run(ctx, a))
}

// exitCode is the one place where an error becomes a number. It prints the error.
func exitCode(stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(stderr, "settle-fleet: %s\n", strings.TrimSuffix(text, "\n"))
	}
	var e *exit
	if errors.As(err, &e) {
		return e.code
	}
	return exitFailed
}

var errHelped = errors.New("help was given")

func parse(args []string, stdout io.Writer) (*grammar, command, error) {
	g := &grammar{}
	helped := false
	k, err := kong.New(g,
		kong.Name("settle-fleet"),
		kong.Description("settle-fleet brings signed releases to many machines and shows where each one stands."),
		kong.Writers(stdout, io.Discard),
		kong.Exit(func(int) { helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
	)
	if err != nil {
		return nil, nil, err
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	for _, arg := range args { // the parser would replace such bytes
		if !utf8.ValidString(arg) {
			return nil, nil, fmt.Errorf("the argument %+q is not UTF-8: rename the file", arg)
		}
	}
	ctx, err := k.Parse(args)
	switch {
	case helped:
		return nil, nil, errHelped
	case err != nil:
		return nil, nil, err
	}
	return g, ctx.Selected().Target.Addr().Interface().(command), nil
}

type versionCommand struct{}

func (*versionCommand) run(_ context.Context, a *app) error {
	return a.printf("settle-fleet %s\n", version)
}
