// Package posix splits a command line into words by the quoting rules of sh,
// and by nothing else of sh: no variable, glob or operator means anything. What
// a person would expect a shell to act on is refused or doubted here, since it
// would otherwise be an argument in silence.
package posix

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
)

// Error is why a line is no command, with a way out.
type Error struct{ Message, Suggestion string }

// Error returns what is wrong, without the way out.
func (e *Error) Error() string { return e.Message }

// Hint returns the way out, "" when there is none.
func (e *Error) Hint() string { return e.Suggestion }

// operator matches a word that a shell would take as an operator, alone or
// with the file of a redirection behind it.
var operator = regexp.MustCompile(`^(\|\|?|\|&|&&?|;;?|&>>?.*|[0-9]*[<>].*)$`)

// special are the characters without which a line is nothing but words. Most
// lines have none, and there may be very many lines.
const special = "|&;<>$`\\\"'\r\n*?[~=!"

// Argv splits a line into its words. One trailing newline is no part of the line.
func Argv(line string) ([]string, error) {
	line = strings.TrimSuffix(line, "\n")
	if err := refuse(line); err != nil {
		return nil, err
	}
	argv, err := shellquote.Split(line)
	switch {
	case errors.Is(err, shellquote.UnterminatedSingleQuoteError):
		return nil, &Error{"a single quote is not closed", `close it, or write \' for the character itself`}
	case errors.Is(err, shellquote.UnterminatedDoubleQuoteError):
		return nil, &Error{"a double quote is not closed", `close it, or write \" for the character itself`}
	case errors.Is(err, shellquote.UnterminatedEscapeError):
		return nil, &Error{`a \ at the end escapes nothing`, `write \\ for the character itself`}
	case err != nil:
		return nil, &Error{err.Error(), ""}
	case len(argv) == 0 || argv[0] == "":
		return nil, &Error{"command is empty", ""}
	}
	return argv, nil
}

// refuse finds what only a shell would act on.
func refuse(line string) error {
	if !strings.ContainsAny(line, special) {
		return nil
	}
	if strings.Contains(line, "\r") {
		return &Error{"a carriage return in the command", "take it out: it is half of a Windows line end"}
	}
	words, several := scan(line)
	if several {
		return &Error{"several lines need a shell", `use provider: shell, or end every line but the last with \`}
	}
	for i, w := range words {
		if operator.MatchString(w.bare) || i == 0 && w.bare == "!" {
			return &Error{fmt.Sprintf("%q would be an argument: no shell reads this command", w.text), "use provider: shell, or quote it"}
		}
		if strings.Contains(w.bare, "`") || strings.Contains(w.bare, "$(") {
			return &Error{fmt.Sprintf("%q would be an argument: no shell reads this command", w.text), "use provider: shell, or put it in single quotes"}
		}
	}
	return nil
}

var (
	variable   = regexp.MustCompile(`\$[A-Za-z_][A-Za-z0-9_]*|\$\{[A-Za-z0-9_]*|\$\(|` + "`")
	brackets   = regexp.MustCompile(`\[.+\]`)
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
)

// Doubts lists what in a line a shell would expand and settle does not, each
// as "what; way out".
func Doubts(line string) []string {
	const way = "use provider: shell, or write provider: posix if it is meant as it stands"
	if !strings.ContainsAny(line, special) {
		return nil
	}
	var doubts []string
	doubt := func(what, why string) {
		if text := fmt.Sprintf("%q %s; %s", what, why, way); !slices.Contains(doubts, text) {
			doubts = append(doubts, text)
		}
	}
	words, _ := scan(strings.TrimSuffix(line, "\n"))
	for i, w := range words {
		for _, name := range variable.FindAllString(w.open, -1) {
			switch {
			case strings.HasPrefix(name, "${"):
				name += "}"
			case name == "$(":
				name = "$(…)"
			case name == "`":
				name = "`…`"
			}
			doubt(name, "is not expanded")
		}
		switch {
		case strings.Contains(w.open, "://"): // ? and * are common in addresses
		case strings.HasPrefix(w.bare, "~"):
			doubt(w.text, "is not expanded")
		case strings.ContainsAny(w.bare, "*?") || brackets.MatchString(w.bare):
			doubt(w.text, "matches no files: it is passed on as it stands")
		}
		if i == 0 && assignment.MatchString(w.bare) {
			doubts = append(doubts, fmt.Sprintf("%q is taken for the program; set variables with environment", w.text))
		}
	}
	return doubts
}

// word is one word as written, and the same with other bytes in place of what
// quotes protect.
type word struct {
	text string
	bare string // only what is outside all quotes
	open string // also what is in double quotes: where a shell still expands
}

// hidden stands for a protected byte: no pattern of ours matches it.
const hidden = '\x00'

// scan splits a line as shellquote does, but keeps what is quoted apart. It
// tells when a newline outside quotes would end the command.
func scan(line string) (words []word, several bool) {
	bare, open := []byte(line), []byte(line)
	hide := func(i int) { bare[i], open[i] = hidden, hidden }
	start := -1
	end := func(i int) {
		if start >= 0 {
			words = append(words, word{line[start:i], string(bare[start:i]), string(open[start:i])})
		}
		start = -1
	}
	var quote byte
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			end(i)
			several = several || c == '\n'
			continue
		case c == '\\' && quote != '\'' && i+1 < len(line):
			if line[i+1] == '\n' && start < 0 {
				i++ // a continued line between two words
				continue
			}
			hide(i)
			hide(i + 1)
			if start < 0 {
				start = i
			}
			i++
			continue
		case c == quote:
			hide(i)
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			hide(i)
			quote = c
		case quote == '\'':
			hide(i)
		case quote == '"':
			bare[i] = hidden
		}
		if start < 0 {
			start = i
		}
	}
	end(len(line))
	return words, several
}
