package main

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/settle-cm/settle/cmd/internal/publish"
	"github.com/settle-cm/settle/model"
)

// grammar is the command line: a field is a command or a flag, and what stands
// here is all there is. Every name in it has to be in the README (house_test.go).
type grammar struct {
	Color   string `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Colour: auto (on a terminal, unless NO_COLOR or TERM=dumb), always or never."`
	Verbose bool   `short:"v" help:"List every resource and what is known of it; tell what happens while it happens."`
	Quiet   bool   `short:"q" help:"Print nothing unless something failed."`

	Apply    applyCommand    `cmd:"" help:"Bring the machine into the state that a manifest declares."`
	Plan     planCommand     `cmd:"" help:"Say what apply would do. Runs guards, and nothing else."`
	Validate validateCommand `cmd:"" help:"Load a manifest and report every problem. Never looks at the machine."`
	Graph    graphCommand    `cmd:"" help:"Print what depends on what."`
	Render   renderCommand   `cmd:"" help:"Print a manifest with every value put in."`
	List     listCommand     `cmd:"" help:"List the resources of a manifest."`
	Schema   schemaCommand   `cmd:"" help:"Print the JSON Schema of the manifest, for editors."`
	Explain  explainCommand  `cmd:"" help:"Say what a resource type or a property means."`
	History  historyCommand  `cmd:"" help:"List the runs of a manifest."`
	Show     showCommand     `cmd:"" help:"Show the report of one run again."`
	Owed     owedCommand     `cmd:"" help:"List the refreshes that are owed."`
	Forget   forgetCommand   `cmd:"" help:"Drop owed refreshes, and that something was left unfinished."`
	Pause    pauseCommand    `cmd:"" help:"Keep apply from running until settle resume."`
	Resume   resumeCommand   `cmd:"" help:"Take back settle pause."`
	Helper   helperCommands  `cmd:"" help:"For people who write helpers for provision."`
	Init     initCommand     `cmd:"" help:"Make a settle.yaml to begin with, and its schema for editors."`
	Version  versionCommand  `cmd:"" help:"Print the version."`

	Completion completionCommand `cmd:"" help:"Print the script by which a shell completes what is typed after settle."`
	Man        manCommand        `cmd:"" help:"Print the manual page."`
}

// manifestArgs is the argument of the commands that take several manifests.
type manifestArgs struct {
	Manifests []string `arg:"" optional:"" name:"manifest" sep:"none" help:"Manifests, run in turn; - is standard input. Default: settle.yaml."`
}

// manifestArg is the argument of the commands that take one.
type manifestArg struct {
	Manifest string `arg:"" optional:"" help:"The manifest; - is standard input. Default: settle.yaml."`
}

// reportFlags belong to the commands that make a report.
type reportFlags struct {
	Output string `short:"o" enum:"text,json,jsonl" default:"text" placeholder:"FORMAT" help:"What goes to standard output: text, json (one document) or jsonl (one event a line)."`
	Strict bool   `help:"Warnings of the manifest are problems (exit 65); a warning of the run makes its resource failed."`
	CI     string `enum:"auto,github,gitlab,none" default:"auto" placeholder:"SYSTEM" help:"Tell a pipeline in its own way: auto (by environment variables), github, gitlab or none."`

	Report []publish.File `sep:"none" placeholder:"FORMAT=FILE" help:"Keep the report in a file, also after a failure: html, json, jsonl, junit, markdown or metrics. Repeatable."`
}

// runFlags belong to the commands that walk a manifest. plan has them all, so
// that the word apply can be replaced by plan in any command line.
type runFlags struct {
	Parallel       *int   `placeholder:"N" help:"At most N resources at once. Default: the manifest's, else 1."`
	FailFast       bool   `help:"Start nothing more after the first failure that is not ignored."`
	CleanEnv       bool   `help:"Start every command from a clean environment."`
	Grace          span   `default:"10s" placeholder:"TIME" help:"How long a command may take to end after a signal before it is killed. Default: 10s."`
	RunTimeout     span   `placeholder:"TIME" help:"End the whole run after this time, as an interrupt does (exit 1)."`
	StateDir       string `placeholder:"DIR" help:"Where runs are remembered. Default: SETTLE_STATE_DIR, else /var/lib/settle for root, else $$XDG_STATE_HOME/settle."`
	NoState        bool   `help:"Remember nothing and lock nothing."`
	LockTimeout    span   `placeholder:"TIME" help:"How long to wait for another apply of the same manifest. Default: not at all. (plan never waits.)"`
	OnMissingState string `enum:",ignore,refresh,fail" default:"" placeholder:"WHAT" help:"When nothing is remembered: ignore it, refresh every subscriber once, or fail. Default: the manifest's, else ignore."`

	DetailedExitcode bool `help:"Exit 2 when apply changed something, or plan found something to do."`
}

// span is a length of time, written as in a manifest: 90s, 5m, 1d.
type span time.Duration

// UnmarshalText reads what stands behind a flag.
func (s *span) UnmarshalText(text []byte) error {
	d, err := model.ParseDuration(string(text))
	*s = span(d)
	return err
}

// Validate refuses what means nothing. kong calls it.
func (f *runFlags) Validate() error {
	switch {
	case f.Parallel != nil && *f.Parallel < 1:
		return errors.New("--parallel must be at least 1")
	case f.NoState && f.StateDir != "":
		return errors.New("--no-state and --state-dir exclude each other: give one of them")
	case f.NoState && f.OnMissingState != "":
		return errors.New("--no-state and --on-missing-state exclude each other: without state nothing is looked for")
	}
	return nil
}

// selectFlags belong to the commands that can be about a part of a manifest.
type selectFlags struct {
	Only     []string `sep:"none" placeholder:"REF" help:"Only this resource (type#name) and all upstream of it. Repeatable."`
	Tags     []string `placeholder:"TAG" help:"Only resources with one of these tags, and all upstream of them."`
	SkipTags []string `placeholder:"TAG" help:"Leave out resources with one of these tags; what waits for them does not."`
}

// Validate refuses a reference that is none. kong calls it.
func (f *selectFlags) Validate() error {
	for _, ref := range f.Only {
		if _, ok := model.ParseRef(ref); !ok {
			return fmt.Errorf("--only takes a reference such as exec#reload, not %q", ref)
		}
	}
	switch {
	case blank(f.Tags):
		return errors.New("--tags names no tag: leave it out for all resources")
	case blank(f.SkipTags):
		return errors.New("--skip-tags names no tag: leave it out to skip none")
	}
	return nil
}

// blank says whether a flag was given and says nothing: "$TAGS", in a pipeline
// that does not set it, must not mean everything.
func blank(tags []string) bool {
	return tags != nil && (len(tags) == 0 || slices.Contains(tags, ""))
}

type applyCommand struct {
	manifestArgs
	reportFlags
	runFlags
	selectFlags
	valueFlags
	Plan  string `placeholder:"FILE" help:"Do what this saved plan says, as long as it holds (exit 69 when not). Its manifest and selection are the plan's."`
	Label labels `sep:"none" placeholder:"KEY=VALUE" help:"Keep this with the run, in its report and in the history: a commit, a job. Repeatable."`
	Keep  int    `default:"50" placeholder:"N" help:"How many runs of each kind to remember. Default: 50."`
}

type planCommand struct {
	manifestArgs
	reportFlags
	runFlags
	selectFlags
	valueFlags
	NoGuards   bool   `help:"Start no process at all: not even guards."`
	AskHelpers bool   `help:"Ask the helpers of provisions too, and show what their answers would change."`
	Out        string `placeholder:"FILE" help:"Save the plan for apply --plan."`
}

type validateCommand struct {
	manifestArgs
	reportFlags
	valueFlags
}

type graphCommand struct {
	manifestArg
	selectFlags
	valueFlags
	stateFlags
	Run    string `placeholder:"RUN" help:"Colour it by what became of each resource in this run: last, or as history lists it."`
	Output string `short:"o" enum:"dot,mermaid,json,svg,html" default:"dot" placeholder:"FORMAT" help:"dot, mermaid, json, svg or html."`
}

type listCommand struct {
	manifestArg
	selectFlags
	valueFlags
	Output string `short:"o" enum:"text,json" default:"text" placeholder:"FORMAT" help:"text or json."`
}

type schemaCommand struct{}

type initCommand struct{}

type explainCommand struct {
	What string `arg:"" optional:"" name:"type.property" help:"A resource type, or one of its properties. Default: the types."`
}

type versionCommand struct {
	JSON bool `name:"json" help:"As a JSON document, with commit, date and the Go version."`
}

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// manCommand has no flags of its own.
type manCommand struct{}

// usage is a command line that means nothing: exit 64.
type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

var errHelped = errors.New("help was given")

// parse turns the words of the command line into a grammar and the command to
// run. Help goes to stdout.
func parse(args []string, stdout io.Writer) (*grammar, *kong.Context, error) {
	g := &grammar{}
	// To build the whole grammar takes longer than most runs. A command that is
	// not among the words cannot be meant: what they mean without it, they mean.
	part := g.part(args)
	if ctx, err := parseInto(part.Addr().Interface(), args, io.Discard); err == nil && ctx.Selected() != nil {
		for i := range part.NumField() {
			reflect.ValueOf(g).Elem().FieldByName(part.Type().Field(i).Name).Set(part.Field(i))
		}
		return g, ctx, nil
	}
	ctx, err := parseInto(g, args, stdout) // help, and what is wrong, name everything
	return g, ctx, advised(err)
}

// part returns a grammar of its own with all flags of this one, and those of
// its commands that are among the words.
func (g *grammar) part(words []string) reflect.Value {
	whole := reflect.TypeOf(g).Elem()
	var fields []reflect.StructField
	for i := range whole.NumField() {
		field := whole.Field(i)
		if _, isCommand := field.Tag.Lookup("cmd"); !isCommand || slices.Contains(words, strings.ToLower(field.Name)) {
			field.Offset, field.Index = 0, nil
			fields = append(fields, field)
		}
	}
	return reflect.New(reflect.StructOf(fields)).Elem()
}

func parseInto(grammar any, args []string, stdout io.Writer) (*kong.Context, error) {
	helped := false
	k := kong.Must(grammar,
		kong.Name("settle"),
		kong.Description(description),
		kong.Writers(stdout, io.Discard),
		kong.Exit(func(int) { helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, NoAppDescFormat: true, WrapUpperBound: 100}),
	)
	ctx, err := k.Parse(sorted(k.Model.Node, args))
	switch {
	case helped:
		return nil, errHelped
	case err != nil:
		return nil, usage{err}
	}
	return ctx, nil
}

// shortUsage is what follows the message of a usage error.
func shortUsage(err error) string {
	var wrong *kong.ParseError
	if errors.As(err, &wrong) && wrong.Context != nil {
		if node := wrong.Context.Selected(); node != nil {
			return fmt.Sprintf("Usage: settle %s\nMore: settle %s --help", node.Summary(), node.Path())
		}
		return "Usage: settle <command> [flags]\nMore: settle --help"
	}
	return "More: settle --help"
}

// wanted tells whether a machine reads the output, before (or although) the
// command line could not be understood.
func wanted(args []string, format string) bool {
	for i, arg := range args {
		switch {
		case arg == "--":
			return false
		case arg == "-o"+format, arg == "-o="+format, arg == "--output="+format:
			return true
		case (arg == "-o" || arg == "--output") && i+1 < len(args) && args[i+1] == format:
			return true
		}
	}
	return false
}
