package main

import (
	"errors"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/model/engine"
)

type planCommand struct {
	manifestArgs
	reportFlags
	runFlags
	selectFlags
	valueFlags
	NoGuards   bool   `help:"Start no process at all, not even guards."`
	AskHelpers bool   `help:"Run the helpers of provision resources too, and show what their answers would change."`
	Out        string `placeholder:"FILE" help:"Save the plan for settle apply --plan."`
}

// Validate refuses flags that exclude each other. kong calls it.
func (c *planCommand) Validate() error {
	if err := errors.Join(c.manifestArgs.Validate(), c.runFlags.Validate(), c.selectFlags.Validate(), c.checkFiles(append(defaultToSettleYAML(c.Manifests), c.files()...), c.Out)); err != nil {
		return err
	}
	switch {
	case c.Out != "" && len(c.Manifests) > 1:
		return errSeveral
	case c.Out != "" && c.NoState:
		return errors.New("--out and --no-state exclude each other: a saved plan rests on the state")
	case c.Out != "" && c.NoGuards:
		return errors.New("--out and --no-guards exclude each other: a plan without guards decides too little")
	case c.Out != "" && c.AskHelpers:
		return errors.New("--out and --ask-helpers exclude each other: what a helper will answer cannot be saved")
	case c.NoGuards && c.AskHelpers:
		return errors.New("--no-guards and --ask-helpers exclude each other: to ask is to start a process")
	}
	return nil
}

func (c *planCommand) run(a *app) []exit.Ending {
	return a.walk(&job{
		reportFlags: c.reportFlags, runFlags: c.runFlags, selectFlags: c.selectFlags, valueFlags: c.valueFlags,
		mode: "plan", act: engine.Preview, skipGuards: c.NoGuards, askHelpers: c.AskHelpers, out: c.Out,
	}, c.Manifests)
}

// Help is shown by settle plan --help.
func (*planCommand) Help() string {
	return `Examples:

    settle plan                              settle.yaml in this directory
    settle plan --detailed-exitcode          exit 2 when there is something to do
    settle plan --no-guards site.yaml        start no process at all
    settle plan -v site.yaml                 list unchanged resources too, with the reason
    settle plan --tags web site.yaml         a part and everything it depends on
    settle plan --var-file test.yaml         set ${var.…} from a file
    settle plan --out plan.json site.yaml    save it for settle apply --plan

Exits 0, or 1 when a guard cannot be evaluated. With --detailed-exitcode it exits 2 when there is something to do.`
}
