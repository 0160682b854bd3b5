package main

import (
	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/resources"
)

func (c *schemaCommand) run(a *app) []ending {
	a.print(manifests.Schema(resources.Types(resources.World{})))
	return nil
}

func (c *explainCommand) run(a *app) []ending {
	text, err := manifests.Explain(resources.Types(resources.World{}), c.What)
	if err != nil {
		a.err.PrintError(err.Error())
		return []ending{{refused: &refusal{exitUsage, err}}}
	}
	a.print([]byte(text))
	return nil
}
