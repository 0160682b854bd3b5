package main

import "embed"

// scripts ask this program what may stand where somebody is typing (complete.go):
// they know nothing of its commands, so that they do not have to change with them.
//
//go:embed completion/settle.*
var scripts embed.FS

func (c *completionCommand) run(a *app) []ending {
	script, err := scripts.ReadFile("completion/settle." + c.Shell)
	if err != nil {
		panic(err) // a shell of the grammar without a script
	}
	a.print(script)
	return nil
}

// Help is shown by settle completion --help.
func (*completionCommand) Help() string {
	return `Completes commands, flags and their values, manifests, and what is in the manifest that the line names: resources, tags, runs. It reads that manifest, and neither runs nor writes anything.

Examples:

    source <(settle completion bash)    in this bash, or from ~/.bashrc
    settle completion bash > /usr/share/bash-completion/completions/settle
    settle completion zsh > /usr/local/share/zsh/site-functions/_settle
    settle completion fish > ~/.config/fish/completions/settle.fish`
}

// completing is the command that the scripts call. It is none of the grammar's.
type completing []string

func (c completing) run(a *app) []ending { return a.complete(c) }
