package main

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/settle-cm/settle/cmd/internal/cmdline"
	"github.com/settle-cm/settle/cmd/internal/source"
)

// errHelpRequested ends parsing when the command line asks for help.
var errHelpRequested = errors.New("help was requested")

// parseArgs parses a command line. It returns the filled grammar and the context
// that holds the selected command. Help is written to help.
func parseArgs(args []string, help io.Writer) (*grammar, *kong.Context, error) {
	g := &grammar{}
	// Building the whole grammar takes longer than most runs. A command that is not
	// among the words cannot be selected, so a parse without it gives the same result.
	part := selectGrammar(args)
	if ctx, err := parseInto(part.Addr().Interface(), args, io.Discard); err == nil && ctx.Selected() != nil {
		for i := range part.NumField() {
			reflect.ValueOf(g).Elem().FieldByName(part.Type().Field(i).Name).Set(part.Field(i))
		}
		return g, ctx, nil
	}
	ctx, err := parseInto(g, args, help) // help and suggestions need every command
	return g, ctx, cmdline.Explain(err, source.Extensions)
}

// selectGrammar returns an empty grammar with the general flags and only those
// commands that are among the words.
func selectGrammar(words []string) reflect.Value {
	whole := reflect.TypeFor[grammar]()
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

// parseInto parses a command line into a grammar.
func parseInto(grammar any, args []string, help io.Writer) (*kong.Context, error) {
	helped := false
	k := kong.Must(grammar,
		kong.Name("settle"),
		kong.Description(description),
		kong.Writers(help, io.Discard),
		kong.Exit(func(int) { helped = true }),
		kong.Help(printHelp),
		kong.ExplicitGroups(helpGroups),
		kong.PostBuild(describeHelpFlag),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, NoExpandSubcommands: true, NoAppDescFormat: true, WrapUpperBound: 100}),
	)
	ctx, err := k.Parse(cmdline.MoveFlagsForward(k.Model.Node, args))
	switch {
	case helped:
		return nil, errHelpRequested
	case err != nil:
		return nil, err
	}
	return ctx, nil
}

// commandModel returns the model of the whole grammar.
func commandModel() *kong.Node {
	return kong.Must(&grammar{}, kong.Name("settle"), kong.ExplicitGroups(helpGroups), kong.PostBuild(describeHelpFlag)).Model.Node
}

// shortUsage returns the lines that follow the message of a usage error.
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

// wantsOutput reports whether the words ask for an output format. It works for a
// command line that kong cannot parse.
func wantsOutput(args []string, format string) bool {
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
