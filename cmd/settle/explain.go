package main

import (
	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/resources"
)

type schemaCommand struct{}

// Help is shown by settle schema --help.
func (*schemaCommand) Help() string {
	return `Example:

    settle schema > .settle.schema.json

Editors complete and check a manifest whose first line is "# yaml-language-server: $schema=./.settle.schema.json".`
}

func (c *schemaCommand) run(a *app) []exit.Ending {
	a.print(manifests.Schema(resources.Types(resources.World{})))
	return nil
}

type explainCommand struct {
	What string `arg:"" optional:"" name:"type.property" help:"A resource type, or one of its properties. Default: list the types."`
}

// Help is shown by settle explain --help.
func (*explainCommand) Help() string {
	return `Examples:

    settle explain                  list the types
    settle explain exec             the properties of a type
    settle explain exec.creates     one property`
}

func (c *explainCommand) run(a *app) []exit.Ending {
	text, err := manifests.Explain(resources.Types(resources.World{}), c.What)
	if err != nil {
		a.err.PrintError(err.Error())
		return []exit.Ending{{Refused: &exit.Refusal{Code: exit.Usage, Err: err}}}
	}
	a.print([]byte(text))
	return nil
}
