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

// errEmpty is the one text that is no command.
var errEmpty = errors.New("command is empty")

// Argv returns the words that run the text in /bin/sh, always that one,
// whatever the user's own shell is, with the values of its holes in the text.
func Argv(text string, holes []model.Placeholder) ([]string, error) {
	text, err := Fill(nil, text, holes)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(text) == "":
		return nil, errEmpty
	}
	return []string{"/bin/sh", "-c", text}, nil
}

var (
	stopsOnError   = regexp.MustCompile(`\bset\b[^\n;&|]*\s(-[a-zA-Z]*e|errexit)|\bpipefail\b`)
	quotedOrComment   = regexp.MustCompile(`(?s)'[^']*'|"(\\.|[^"\\])*"|\\.|(^|[ \t\n;])#[^\n]*`)
	continued = regexp.MustCompile(`(&&|\|\|?)[ \t]*$`)
	pipe      = regexp.MustCompile(`(^|[^|>])\|([^|]|$)`)
)

// Doubts tells what in a text may hide a failure, each as "what; way out". The
// values of its holes play no part.
func Warnings(text string, _ []model.Placeholder) []string {
	const way = "begin with set -e, or set shell: [/bin/bash, -euo, pipefail, -c]"
	if stopsOnError.MatchString(text) {
		return nil
	}
	text = stripQuoted(text)
	var doubts []string
	if countCommands(text) > 1 {
		doubts = append(doubts, "only the last line decides whether it failed; "+way)
	}
	if pipe.MatchString(text) {
		doubts = append(doubts, "only the last command of a pipe decides whether it failed; set shell: [/bin/bash, -euo, pipefail, -c]")
	}
	return doubts
}

// uncovered returns a text without its comments, and with nothing in its quotes:
// neither a newline nor a pipe is one there.
func stripQuoted(text string) string {
	return quotedOrComment.ReplaceAllStringFunc(text, func(part string) string {
		switch part[0] {
		case '\'', '"', '\\':
			return "''"
		case '#':
			return ""
		}
		return part[:1] // what stands in front of the comment
	})
}

// commands counts the lines that are commands of their own: none that the line
// before goes on with.
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
