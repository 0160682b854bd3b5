package main

import (
	"fmt"
	"strings"
)

// entry is a word of the command line and what it means: the one source of what
// help, the manual page and the README say of it.
type entry struct{ name, meaning string }

// exitEntries are all exit codes that settle has of its own (exit.go).
var exitEntries = []entry{
	{"0", "all is as declared, changed or not"},
	{"1", "a resource failed (and was not ignored), or was skipped because of one"},
	{"2", "only with --detailed-exitcode: apply changed something, or plan found something to do"},
	{"64", "wrong usage"},
	{"65", "the manifest is invalid"},
	{"66", "the manifest cannot be read"},
	{"69", "the saved plan no longer holds"},
	{"70", "a bug in settle; SETTLE_DEBUG=1 shows where"},
	{"73", "state, or a report, cannot be written"},
	{"75", "try again later: another apply of this manifest runs, it is paused, or a helper deferred what is unfinished"},
	{"77", "not permitted"},
	{"129, 130, 131, 143", "ended by HUP, INT, QUIT, TERM"},
}

// environmentEntries are the environment variables that settle itself reads, and
// those that it sets for what it runs.
var environmentEntries = []entry{
	{"SETTLE_STATE_DIR", "where runs are remembered, unless --state-dir says so"},
	{"XDG_STATE_HOME", "where runs of users other than root are remembered, in its folder settle; default: ~/.local/state"},
	{"HOME", "the home directory of whoever runs settle"},
	{"SETTLE_VAR_NAME", "the value of the variable NAME of a manifest, over --var and --var-file"},
	{"NO_COLOR", "when it is not empty: no colour"},
	{"CLICOLOR_FORCE", "when it is neither empty nor 0: colour also where there is no terminal"},
	{"TERM", "dumb: no colour, and no line that says what runs"},
	{"HTTPS_PROXY", "with HTTP_PROXY and NO_PROXY, in capitals or not: passed to the system's own programs, whose environment is otherwise fixed"},
	{"CI", "when it is not empty: say so when a manifest with subscribers has no state"},
	{"GITHUB_ACTIONS", "true: tell GitHub Actions in its own way, unless --ci says otherwise; GITHUB_WORKSPACE, GITHUB_OUTPUT and GITHUB_STEP_SUMMARY are read then"},
	{"GITLAB_CI", "true: tell GitLab in its own way, unless --ci says otherwise"},
	{"SETTLE_DEBUG", "when it is not empty: a bug in settle (exit 70) shows where it is"},
	{"GOGC", "how eagerly memory is taken back, as in every program in Go; default: 200"},
	{"SETTLE_RUN_ID", "set for every command: the run and the number of the resource, behind what stands there already"},
	{"SETTLE_UPGRADE_VERSION", "set for on_upgrade of a provision: the version to upgrade to"},
}

// fileEntries are the files and directories that settle knows by name.
var fileEntries = []entry{
	{defaultManifest, "the manifest, in the working directory, where none is named"},
	{schemaFile, "the schema that settle init makes beside it, for editors"},
	{"/var/lib/settle", "what root's runs are remembered in, one directory for each manifest"},
	{"~/.local/state/settle", "the same of every other user"},
}

// columns lays entries out in two columns of a terminal.
func columns(entries []entry) string {
	width := 0
	for _, t := range entries {
		width = max(width, len(t.name))
	}
	var b strings.Builder
	for _, t := range entries {
		for i, line := range wrapped(t.meaning, 76-width) {
			name := t.name
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(&b, "\n  %-*s  %s", width, name, line)
		}
	}
	return b.String()
}

// wrapped breaks a text into lines of at most width bytes, where there are spaces.
func wrapped(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
