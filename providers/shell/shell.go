// Package shell hands a text to /bin/sh as it stands. Values that belong in it
// are quoted, each as its place in the text demands, so that a shell never sees
// anything in them.
package shell

import (
	"errors"
	"regexp"
	"strings"

	"github.com/settle-cm/settle/model"
)

// errEmpty is the error of a text without a command.
var errEmpty = errors.New("command is empty")

// Argv returns the words that run the text in /bin/sh, whatever the user's own
// shell is, with the values of its placeholders inserted.
func Argv(text string, placeholders []model.Placeholder) ([]string, error) {
	text, err := Fill(nil, text, placeholders)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(text) == "":
		return nil, errEmpty
	}
	return []string{"/bin/sh", "-c", text}, nil
}

var (
	stopsOnError    = regexp.MustCompile(`\bset\b[^\n;&|]*\s(-[a-zA-Z]*e|errexit)|\bpipefail\b`)
	quotedOrComment = regexp.MustCompile(`(?s)'[^']*'|"(\\.|[^"\\])*"|\\.|(^|[ \t\n;])#[^\n]*`)
	continued       = regexp.MustCompile(`(&&|\|\|?)[ \t]*$`)
	pipe            = regexp.MustCompile(`(^|[^|>])\|([^|]|$)`)
)

// Warnings lists the parts of a text that may hide a failure. The
// values of its placeholders do not matter.
func Warnings(text string, _ []model.Placeholder) []model.Advice {
	const way = "begin with set -e, or set shell: [/bin/bash, -euo, pipefail, -c]"
	if stopsOnError.MatchString(text) {
		return nil
	}
	text = stripQuoted(text)
	var warnings []model.Advice
	if countCommands(text) > 1 {
		warnings = append(warnings, model.Advice{Message: "only the last line decides whether it failed", Suggestion: way})
	}
	if pipe.MatchString(text) {
		warnings = append(warnings, model.Advice{Message: "only the last command of a pipe decides whether it failed", Suggestion: "set shell: [/bin/bash, -euo, pipefail, -c]"})
	}
	return warnings
}

// stripQuoted returns a text without comments and without the content of quotes,
// where neither a newline nor a pipe is syntax.
func stripQuoted(text string) string {
	return quotedOrComment.ReplaceAllStringFunc(text, func(part string) string {
		switch part[0] {
		case '\'', '"', '\\':
			return "''"
		case '#':
			return ""
		}
		return part[:1] // the separator before the comment
	})
}

// countCommands counts the lines that start a command of their own.
func countCommands(text string) int {
	n, goesOn := 0, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if !goesOn {
			n++
		}
		goesOn = continued.MatchString(line)
	}
	return n
}
