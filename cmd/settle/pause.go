package main

import (
	"errors"
	"time"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/providers/journal"
)

// Validate refuses what contradicts itself. kong calls it.
func (c *pauseCommand) Validate() error {
	if c.For != nil && *c.For == 0 {
		return errors.New("--for 0 is no time at all: leave --for out to pause until settle resume")
	}
	return checkOneOrAll(c.Manifest, c.All)
}

// Validate refuses what contradicts itself. kong calls it.
func (c *resumeCommand) Validate() error { return checkOneOrAll(c.Manifest, c.All) }

func checkOneOrAll(manifest string, all bool) error {
	if all && manifest != "" {
		return errors.New("--all and a manifest exclude each other: give one of them")
	}
	return nil
}

type pauseCommand struct {
	manifestArg
	All    bool   `help:"Pause every manifest of this state directory."`
	Reason string `placeholder:"TEXT" help:"The reason, shown by every apply that is refused."`
	For    *span  `placeholder:"TIME" help:"How long to pause, such as 2h or 1d. Default: until settle resume."`
	valueFlags
	lockFlags
}

// Help is shown by settle pause --help.
func (*pauseCommand) Help() string {
	return `While a manifest is paused, apply exits 75 and prints the user who paused it, the reason and the end of the pause. Owed refreshes are kept.

Examples:

    settle pause --reason "database is being moved" --for 2h site.yaml
    settle pause --all`
}

func (c *pauseCommand) run(a *app) []exit.Ending {
	me := describeProcess("", time.Now().UTC().Truncate(time.Second))
	pause := journal.Pause{By: me.User, Reason: c.Reason, Since: me.Since, All: c.All}
	if c.For != nil {
		pause.Until = pause.Since.Add(time.Duration(*c.For))
	}
	if c.All {
		return a.changeDirectory(c.StateDir, func(s journal.Store) error {
			err := s.PauseAll(pause)
			if err == nil {
				a.say(pause.Error())
			}
			return err
		})
	}
	o := a.open(a.loadAlone(c.Manifest, order{mode: "pause", named: true}, c.valueFlags), "text", c.StateDir)
	if o.end.Refused != nil {
		return []exit.Ending{o.end}
	}
	return a.change(o, c.LockTimeout, func(j *journal.Journal) error {
		err := j.Pause(pause)
		if err == nil {
			a.say(pause.Error())
		}
		return err
	})
}

type resumeCommand struct {
	manifestArg
	All bool `help:"End settle pause --all."`
	valueFlags
	lockFlags
}

// Help is shown by settle resume --help.
func (*resumeCommand) Help() string {
	return `Examples:

    settle resume site.yaml
    settle resume --all`
}

func (c *resumeCommand) run(a *app) []exit.Ending {
	if c.All {
		return a.changeDirectory(c.StateDir, func(s journal.Store) error {
			was, err := s.ResumeAll()
			return a.printResumed(was, err)
		})
	}
	o := a.open(a.loadAlone(c.Manifest, order{mode: "resume", named: true}, c.valueFlags), "text", c.StateDir)
	if o.end.Refused != nil {
		return []exit.Ending{o.end}
	}
	return a.change(o, c.LockTimeout, func(j *journal.Journal) error {
		was, err := j.Resume()
		if err = a.printResumed(was, err); err != nil {
			return err
		}
		left, err := o.store.Paused(time.Now())
		if left != nil {
			a.say("but every manifest is " + left.Error())
		}
		return err
	})
}

func (a *app) printResumed(was bool, err error) error {
	switch {
	case err != nil:
		return err
	case was:
		a.say("resumed")
	default:
		a.say("it was not paused")
	}
	return nil
}

// changeDirectory calls do with the whole state directory.
func (a *app) changeDirectory(dir string, do func(journal.Store) error) []exit.Ending {
	store, err := a.store(dir, "")
	if err == nil {
		err = do(store)
	}
	if err == nil {
		return nil
	}
	a.err.PrintError(err.Error())
	return []exit.Ending{{Refused: refuseForState(err)}}
}
