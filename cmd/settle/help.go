package main

import (
	"fmt"

	"github.com/alecthomas/kong"
)

// purpose describes settle in one line.
const purpose = "bring one machine into the state that a YAML manifest declares"

// description is the head of settle --help.
var description = `settle brings one machine into the state that a YAML manifest declares.

  settle plan      show what apply would do
  settle apply     do it`

// about is the description in the manual page.
var about = []string{
	`A manifest lists resources: idempotent commands, files, packages, services, and servers whose configuration comes from a helper program. settle applies them from top to bottom, and each after the resources that it depends on. A resource that subscribes to others is refreshed when one of them changes.`,
	`settle plan shows what settle apply would do. It follows the same rules and runs only guards. settle apply does the work once and exits. An owed refresh survives failures, interrupts and kills.`,
	`Standard output holds only the result, in the format of --output. Progress, warnings and errors go to standard error.`,
}

// firstSteps is printed when settle is called without arguments.
const firstSteps = `settle brings this machine into the state that a manifest declares. Next:
  settle init      create a starter settle.yaml
  settle explain   list the resource types and their properties
  settle plan      show what apply would do, without changing anything
  settle apply     do it
  settle --help    all commands, flags and exit codes`

// helpGroups are the groups of commands and flags in help.
var helpGroups = []kong.Group{
	{Key: "run", Title: "Run:"},
	{Key: "look", Title: "Look at manifests and runs:"},
	{Key: "state", Title: "State:"},
	{Key: "write", Title: "Write manifests:"},
	{Key: "helpers", Title: "Helpers:"},
	{Key: "program", Title: "This program:"},
	{Key: "general", Title: "Flags of every command:"},
}

// describeHelpFlag replaces kong's description of --help and puts the flag last.
func describeHelpFlag(k *kong.Kong) error {
	k.Model.HelpFlag.Help = "Show help of settle or of a command."
	k.Model.HelpFlag.Group = &helpGroups[len(helpGroups)-1]
	return nil
}

// printHelp prints the help of a command, or of settle with all exit codes.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil || ctx.Selected() != nil {
		return err
	}
	_, err := fmt.Fprintln(ctx.Stdout, "\nExit codes:"+formatColumns(exitEntries))
	return err
}
