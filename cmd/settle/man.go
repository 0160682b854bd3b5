package main

import (
	"strings"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/manpage"
)

// manCommand has no flags of its own.
type manCommand struct{}

// Help is shown by settle man --help.
func (*manCommand) Help() string {
	return `Example:

    settle man | man -l -`
}

func (c *manCommand) run(a *app) []exit.Ending {
	a.print([]byte(manpage.Render(a.commands(), manTexts(buildInfo()))))
	return nil
}

// manTexts returns the texts of the manual page that are not in the grammar.
func manTexts(b build) manpage.Texts {
	date, _, _ := strings.Cut(b.Date, "T")
	return manpage.Texts{
		Version: "settle " + b.Version, Date: date, Purpose: purpose, Description: about,
		ExitStatus: exitEntries, Environment: environmentEntries, Files: fileEntries,
		SeeAlso: "settle explain describes the manifest; settle schema prints the same for editors.",
	}
}
