package model

import (
	"context"
	"fmt"
	"strings"
)

// Guards are the properties that decide whether a command has to run. They are
// rows 2 to 6 of the decision table (cmd/settle/docs/deciding.md), for apply and
// plan and for every type that has these properties.
type Guards struct {
	OnRefresh   OnRefresh
	RefreshOnly bool
	Creates     []string // absolute paths
	Commands    []Guard
	// Exists reports whether a creates path exists. The warning is "" or a text
	// for the user, such as that of a dangling link.
	Exists func(path string) (exists bool, warning string, err error)
	// RunGuard runs a guard and returns its exit code. An error means that the
	// guard gave no answer: it did not start, timed out or was killed. An exit
	// code beside an error is that of a shell that could not run the command.
	RunGuard func(ctx context.Context, g Guard) (exit int, err error)
}

// Guard is one command that decides: under onlyif it must exit 0, under unless it must not.
type Guard struct {
	Property string // onlyif or unless
	Command  string // as text for reports
	Argv     []string
}

// Decide walks the table from row 2 and stops at the first row that matches.
func (c *Guards) Decide(ctx context.Context, ask Ask) (Decision, error) {
	refreshed := ask.Refresh == Yes
	d, missing, err := c.checkCreates()
	if refreshed && c.OnRefresh == RefreshRuns {
		// creates does not decide here, but the journal records whether a path was missing
		return Decision{Act: true, Reason: RefreshReason(ask), Missing: d.Missing}, nil
	}
	switch {
	case err != nil:
		return d, err
	case len(c.Creates) > 0 && missing == "" && ask.Unfinished == "":
		d.Reason = "creates " + c.Creates[0] + " exists"
		if n := len(c.Creates) - 1; n > 0 {
			d.Reason = fmt.Sprintf("creates %s and %d more exist", c.Creates[0], n)
		}
		return d, nil
	case c.RefreshOnly && !refreshed:
		return Decision{Reason: "refreshonly", Warnings: d.Warnings}, nil
	}
	switch {
	case ask.Unfinished != "" && len(c.Creates) > 0:
		d.Read = nil // it runs whether or not the paths exist
		if missing == "" {
			d.Reason = fmt.Sprintf("creates %s appeared although the command failed in run %s: it runs again; `settle forget %s` keeps it as it is",
				c.Creates[0], ask.Unfinished, ask.ID)
		} else {
			d.Action, d.Reason = ActionCreate, "creates "+missing
		}
	case missing != "":
		d.Action, d.Reason = ActionCreate, "creates "+missing
	}
	return c.runGuards(ctx, ask, d)
}

// checkCreates looks for every creates path and says which are missing, "" when
// all exist.
func (c *Guards) checkCreates() (d Decision, missing string, err error) {
	var absent []string
	for _, path := range c.Creates {
		d.Read = []string{"creates"}
		exists, warning, readErr := c.Exists(path)
		switch {
		case readErr != nil && err == nil:
			err = readErr
		case readErr == nil && !exists:
			absent, d.Missing = append(absent, path), true
		}
		if warning != "" {
			d.Warnings = append(d.Warnings, warning)
		}
	}
	switch len(absent) {
	case 0:
		return d, "", err
	case 1:
		return d, absent[0] + " is missing", err
	}
	return d, ListPaths(absent) + " are missing", err
}

// ListPaths joins up to three paths, and counts the others.
func ListPaths(paths []string) string {
	const most = 3
	if n := len(paths) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:most], ", "), n)
	}
	return strings.Join(paths, ", ")
}

// runGuards runs the guards in order until one of them decides against acting.
func (c *Guards) runGuards(ctx context.Context, ask Ask, d Decision) (Decision, error) {
	var answers []string
	for _, g := range c.Commands {
		if ask.SkipGuards {
			if len(d.Unread) == 0 || d.Unread[len(d.Unread)-1] != g.Property {
				d.Unread = append(d.Unread, g.Property)
			}
			continue
		}
		d.Read = append(d.Read, g.Property)
		exit, err := c.RunGuard(ctx, g)
		result := GuardResult{Property: g.Property, Command: g.Command}
		if err != nil {
			if exit != 0 {
				result.Exit = &exit
			}
			d.Guards = append(d.Guards, result)
			return d, fmt.Errorf("%s: %w", g.Property, err)
		}
		result.Exit = &exit
		d.Guards = append(d.Guards, result)
		answer := fmt.Sprintf("%s exit %d", g.Property, exit)
		if (exit == 0) != (g.Property == "onlyif") {
			d.Reason = answer
			return d, nil
		}
		answers = append(answers, answer)
	}
	d.Act = true
	switch {
	case ask.Refresh == Yes:
		d.Reason = RefreshReason(ask)
	case d.Reason == "" && len(answers) > 0:
		d.Reason = strings.Join(answers, ", ")
	case d.Reason == "":
		d.Reason = "runs every time"
	}
	return d, nil
}

// RefreshReason returns the reason of a refresh: the publishers of this run, or
// those of earlier runs with the run since which the refresh is owed.
func RefreshReason(ask Ask) string {
	if len(ask.RefreshedBy) > 0 {
		return "refreshed by " + strings.Join(ask.RefreshedBy, ", ")
	}
	var by []string
	for _, owed := range ask.Owed {
		switch owed.By {
		case "":
			by = append(by, "because the state was missing in run "+owed.Since)
		default:
			by = append(by, "by "+owed.By+" since run "+owed.Since)
		}
	}
	return "refresh owed " + strings.Join(by, ", ")
}
