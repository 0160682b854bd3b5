package main

// grammar is the command line: a field is a command. Every command and flag is in the
// reference (docs_test.go). The groups are those of help.go.
type grammar struct {
	General generalFlags `embed:"" group:"general"`

	Plan  planCommand  `cmd:"" group:"run" help:"Show what apply would do. Runs guards and changes nothing."`
	Apply applyCommand `cmd:"" group:"run" help:"Bring the machine into the state that a manifest declares."`

	List    listCommand    `cmd:"" group:"look" help:"List the resources of a manifest."`
	Graph   graphCommand   `cmd:"" group:"look" help:"Print the dependency graph of a manifest."`
	History historyCommand `cmd:"" group:"look" help:"List the runs of a manifest."`
	Show    showCommand    `cmd:"" group:"look" help:"Print the report of an earlier run."`

	Owed   owedCommand   `cmd:"" group:"state" help:"List owed refreshes and unfinished resources."`
	Forget forgetCommand `cmd:"" group:"state" help:"Drop owed refreshes and other state of a resource."`
	Pause  pauseCommand  `cmd:"" group:"state" help:"Keep apply from running until settle resume."`
	Resume resumeCommand `cmd:"" group:"state" help:"Resume a paused manifest."`

	Init     initCommand     `cmd:"" group:"write" help:"Create a starter settle.yaml and its schema for editors."`
	Validate validateCommand `cmd:"" group:"write" help:"Report every problem in a manifest. Runs nothing."`
	Render   renderCommand   `cmd:"" group:"write" help:"Print a manifest with all expressions evaluated."`
	Explain  explainCommand  `cmd:"" group:"write" help:"Describe a resource type or a property."`
	Schema   schemaCommand   `cmd:"" group:"write" help:"Print the JSON Schema of manifests, for editors."`

	Helper helperCommands `cmd:"" group:"helpers" help:"Write and test helpers for the provision type."`

	Completion completionCommand `cmd:"" group:"program" help:"Print the completion script for bash, zsh or fish."`
	Man        manCommand        `cmd:"" group:"program" help:"Print the manual page."`
	Version    versionCommand    `cmd:"" group:"program" help:"Print the version."`
}
