package main

import (
	"io"
	"strings"
	"testing"

	"github.com/settle-cm/settle/cmd/internal/cmdline"
)

func TestWrongCommandLinesSayWhatToWrite(t *testing.T) {
	for _, row := range []struct{ line, want string }{
		{"run", `unexpected argument run; did you mean "settle apply"?`},
		{"help check", `unexpected argument check; did you mean "settle plan"?`},
		{"site.yaml", `unexpected argument site.yaml; did you mean "settle apply site.yaml"?`},
		{"sub/site.yml --only x#y", `unexpected argument sub/site.yml; did you mean "settle apply sub/site.yml"?`},
		{"aply", `unexpected argument aply; did you mean "apply"?`},
		{"zzzzzz", `unexpected argument zzzzzz`},
		{"helper run.yaml --helper x", `unexpected argument run.yaml`},
		{"graph a.yaml run", `unexpected argument run`},
		{"apply --dry-run", `unknown flag --dry-run; did you mean "settle plan"?`},
		{"apply --dry-run=true", `unknown flag --dry-run; did you mean "settle plan"?`},
		{"apply -n", `unknown flag -n; did you mean "settle plan"?`},
		{"apply --onyl a#b", `unknown flag --onyl; did you mean "--only"?`},
		{"apply --out x", `unknown flag --out; it is a flag of settle plan`},
		{"apply --all", `unknown flag --all; it is a flag of settle forget, pause, resume`},
		{"apply --json", `unknown flag --json; did you mean "--output json"?`}, // which version takes
		{"apply --zzzzzz", `unknown flag --zzzzzz`},
		{"plan --only", `--only: REF is missing`},
		{"plan --tags", `--tags: TAG is missing`},
		{"plan --grace", `--grace: TIME is missing`},
		{"plan --parallel", `--parallel: N is missing`},
		{"plan -o", `--output: FORMAT is missing`},
		{"plan --report", `--report: FORMAT=FILE is missing`},
		{"plan --parallel x", `--parallel: want an integer, got "x"`},
		{"completion", `SHELL is missing. The shell: bash, zsh or fish`},
		{"show", `RUN is missing. The run: an id from settle history, or last`},
	} {
		_, _, err := parseArgs(cmdline.TranslateWords(strings.Fields(row.line)), io.Discard)
		if err == nil || err.Error() != row.want {
			t.Errorf("settle %s: %v\nwant %s", row.line, err, row.want)
		}
		if err != nil && !strings.Contains(shortUsage(err), "More: settle") {
			t.Errorf("settle %s: no usage behind it", row.line)
		}
	}
	_, _, err := parseArgs([]string{""}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("an empty word: %v", err)
	}
}

// What is suggested is there, and nobody is led away from what is.
func TestOtherToolsWordsLeadToOurs(t *testing.T) {
	root := commandModel()
	flags := map[string]bool{}
	for _, node := range root.Leaves(false) {
		for _, group := range node.AllFlags(false) {
			for _, flag := range group {
				flags["--"+flag.Name] = true
				if flag.Short != 0 {
					flags["-"+string(flag.Short)] = true
				}
			}
		}
	}
	for theirs, ours := range cmdline.CommandReplacements {
		if cmdline.FindCommand(root, ours) == nil || cmdline.FindCommand(root, theirs) != nil {
			t.Errorf("%s leads to %s", theirs, ours)
		}
	}
	for theirs, ours := range cmdline.FlagReplacements {
		word, _, _ := strings.Cut(ours, " ")
		if command, ok := strings.CutPrefix(ours, "settle "); ok {
			name, _, _ := strings.Cut(command, " ")
			if cmdline.FindCommand(root, name) == nil {
				t.Errorf("%s leads to %s", theirs, ours)
			}
		} else if !flags[word] {
			t.Errorf("%s leads to %s", theirs, ours)
		}
	}
}
