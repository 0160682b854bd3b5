package main

// grammar is the command line: a field is a command. Every command and flag has to
// be in the README (house_test.go).
type grammar struct {
	General generalFlags `embed:""`

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
