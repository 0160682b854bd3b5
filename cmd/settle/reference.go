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
	{Name: "0", Meaning: "all is as declared, changed or not"},
	{Name: "1", Meaning: "a resource failed (and was not ignored), or was skipped because of one"},
	{Name: "2", Meaning: "only with --detailed-exitcode: apply changed something, or plan found something to do"},
	{Name: "64", Meaning: "wrong usage"},
	{Name: "65", Meaning: "the manifest is invalid"},
	{Name: "66", Meaning: "the manifest cannot be read"},
	{Name: "69", Meaning: "the saved plan no longer holds"},
	{Name: "70", Meaning: "a bug in settle; SETTLE_DEBUG=1 shows where"},
	{Name: "73", Meaning: "state, or a report, cannot be written"},
	{Name: "75", Meaning: "try again later: another apply of this manifest runs, it is paused, or a helper deferred what is unfinished"},
	{Name: "77", Meaning: "not permitted"},
	{Name: "129, 130, 131, 143", Meaning: "ended by HUP, INT, QUIT, TERM"},
}

// environmentEntries are the environment variables that settle itself reads, and
// those that it sets for what it runs.
var environmentEntries = []entry{
	{Name: "SETTLE_STATE_DIR", Meaning: "where runs are remembered, unless --state-dir says so"},
	{Name: "XDG_STATE_HOME", Meaning: "where runs of users other than root are remembered, in its folder settle; default: ~/.local/state"},
	{Name: "HOME", Meaning: "the home directory of whoever runs settle"},
	{Name: "SETTLE_VAR_NAME", Meaning: "the value of the variable NAME of a manifest, where --var-file and --var do not give it"},
	{Name: "NO_COLOR", Meaning: "when it is not empty: no colour"},
	{Name: "CLICOLOR_FORCE", Meaning: "when it is neither empty nor 0: colour also where there is no terminal"},
	{Name: "TERM", Meaning: "dumb: no colour, and no line that says what runs"},
	{Name: "HTTPS_PROXY", Meaning: "with HTTP_PROXY and NO_PROXY, in capitals or not: passed to the system's own programs, whose environment is otherwise fixed"},
	{Name: "CI", Meaning: "when it is not empty: say so when a manifest with subscribers has no state"},
	{Name: "GITHUB_ACTIONS", Meaning: "true: tell GitHub Actions in its own way, unless --ci says otherwise; GITHUB_WORKSPACE, GITHUB_OUTPUT and GITHUB_STEP_SUMMARY are read then"},
	{Name: "GITLAB_CI", Meaning: "true: tell GitLab in its own way, unless --ci says otherwise"},
	{Name: "SETTLE_DEBUG", Meaning: "when it is not empty: a bug in settle (exit 70) shows where it is"},
	{Name: "GOGC", Meaning: "how eagerly memory is taken back, as in every program in Go; default: 200"},
	{Name: "SETTLE_RUN_ID", Meaning: "set for every command: the run and the number of the resource, behind what stands there already"},
	{Name: "SETTLE_UPGRADE_VERSION", Meaning: "set for on_upgrade of a provision: the version to upgrade to"},
}

// fileEntries are the files and directories that settle knows by name.
var fileEntries = []entry{
	{Name: source.DefaultManifest, Meaning: "the manifest, in the working directory, where none is named"},
	{Name: schemaFile, Meaning: "the schema that settle init makes beside it, for editors"},
	{Name: "/var/lib/settle", Meaning: "what root's runs are remembered in, one directory for each manifest"},
	{Name: "~/.local/state/settle", Meaning: "the same of every other user"},
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
