package main

import (
	"fmt"
	"strings"

	"github.com/settle-cm/settle/cmd/internal/cmdline"
	"github.com/settle-cm/settle/cmd/internal/manpage"
	"github.com/settle-cm/settle/cmd/internal/source"
)

// entry is a word and its meaning. Help, the manual page and the README are written
// from these tables.
type entry = manpage.Entry

// exitEntries are all exit codes that settle has of its own (exit.go).
var exitEntries = []entry{
	{Name: "0", Meaning: "the machine is as declared, with or without changes"},
	{Name: "1", Meaning: "a resource failed, and the failure was not ignored"},
	{Name: "2", Meaning: "with --detailed-exitcode: apply changed something, or plan found something to do"},
	{Name: "64", Meaning: "wrong usage"},
	{Name: "65", Meaning: "the manifest is invalid"},
	{Name: "66", Meaning: "the manifest cannot be read"},
	{Name: "69", Meaning: "the saved plan is out of date"},
	{Name: "70", Meaning: "a bug in settle; SETTLE_DEBUG=1 shows where"},
	{Name: "73", Meaning: "state or a report cannot be written"},
	{Name: "75", Meaning: "try again later: another apply of this manifest is running, the manifest is paused, or a helper deferred its answer"},
	{Name: "77", Meaning: "not permitted"},
	{Name: "129, 130, 131, 143", Meaning: "ended by HUP, INT, QUIT, TERM"},
}

// environmentEntries are the environment variables that settle itself reads, and
// those that it sets for what it runs.
var environmentEntries = []entry{
	{Name: "SETTLE_STATE_DIR", Meaning: "the state directory, unless --state-dir is given"},
	{Name: "XDG_STATE_HOME", Meaning: "the parent of the state directory settle of users other than root; default: ~/.local/state"},
	{Name: "HOME", Meaning: "the home directory of the user who runs settle"},
	{Name: "SETTLE_VAR_NAME", Meaning: "the value of the manifest variable NAME, unless --var-file or --var gives one"},
	{Name: "NO_COLOR", Meaning: "not empty: no colour"},
	{Name: "CLICOLOR_FORCE", Meaning: "neither empty nor 0: colour also without a terminal"},
	{Name: "TERM", Meaning: "dumb: no colour, and no live status area"},
	{Name: "HTTPS_PROXY", Meaning: "passed to the system's own programs such as apt-get, together with HTTP_PROXY and NO_PROXY, in upper or lower case"},
	{Name: "CI", Meaning: "not empty: warn when a manifest with subscribers has no state"},
	{Name: "GITHUB_ACTIONS", Meaning: "true: write output for GitHub Actions, unless --ci is given; settle then reads GITHUB_WORKSPACE, GITHUB_OUTPUT and GITHUB_STEP_SUMMARY"},
	{Name: "GITLAB_CI", Meaning: "true: write output for GitLab, unless --ci is given"},
	{Name: "SETTLE_DEBUG", Meaning: "not empty: a bug in settle (exit 70) prints its stack"},
	{Name: "GOGC", Meaning: "target of the garbage collector, as in every Go program; default: 200"},
	{Name: "SETTLE_RUN_ID", Meaning: "set for every command: the id of the run and the number of the resource, appended to a value that exists already"},
	{Name: "SETTLE_UPGRADE_VERSION", Meaning: "set for on_upgrade of a provision: the version to upgrade to"},
}

// fileEntries are the files and directories that settle knows by name.
var fileEntries = []entry{
	{Name: source.DefaultManifest, Meaning: "the default manifest, in the working directory"},
	{Name: schemaFile, Meaning: "the schema for editors, created by settle init"},
	{Name: "/var/lib/settle", Meaning: "the state directory of root, with one directory per manifest"},
	{Name: "~/.local/state/settle", Meaning: "the state directory of every other user"},
}

// formatColumns lays entries out in two columns of a terminal.
func formatColumns(entries []entry) string {
	width := 0
	for _, t := range entries {
		width = max(width, len(t.Name))
	}
	var b strings.Builder
	for _, t := range entries {
		for i, line := range cmdline.Wrap(t.Meaning, 76-width) {
			name := t.Name
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(&b, "\n  %-*s  %s", width, name, line)
		}
	}
	return b.String()
}
