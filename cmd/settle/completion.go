package main

import (
	"embed"

	"github.com/settle-cm/settle/cmd/internal/complete"
	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/source"
)

// scripts are the completion scripts. They ask this program for the values at the
// cursor, so that they need not change when a command does.
//
//go:embed completion/settle.*
var scripts embed.FS

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

func (c *completionCommand) run(a *app) []exit.Ending {
	script, err := scripts.ReadFile("completion/settle." + c.Shell)
	if err != nil {
		panic(err) // a shell of the grammar without a script
	}
	a.print(script)
	return nil
}

// Help is shown by settle completion --help.
func (*completionCommand) Help() string {
	return `The script completes commands, flags and their values, and file names. It also completes the resources, tags and runs of the manifest on the command line. For that it reads the manifest. It runs nothing and writes nothing.

Examples:

    source <(settle completion bash)    in this shell, or in ~/.bashrc
    settle completion bash > /usr/share/bash-completion/completions/settle
    settle completion zsh > /usr/local/share/zsh/site-functions/_settle
    settle completion fish > ~/.config/fish/completions/settle.fish`
}

// completeCommand answers the completion scripts. It is no command of the grammar.
type completeCommand []string

func (c completeCommand) run(a *app) []exit.Ending {
	completer := complete.Completer{Root: a.commands(), Sources: completionSources(a), Extensions: source.Extensions}
	a.print(completer.Reply(c))
	return nil
}
