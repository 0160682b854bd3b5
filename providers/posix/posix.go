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

	"github.com/settle-cm/settle/model"
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
const specialBytes = "|&;<>$`\\\"'\r\n*?[~=!"

// Argv splits a line into its words, and then puts the values of its holes into
// them: whatever a value holds, it is part of the one word that its mark is in.
// One trailing newline is no part of the line.
func Argv(line string, holes []model.Placeholder) ([]string, error) {
	line = strings.TrimSuffix(line, "\n")
	if err := checkLine(line, holes); err != nil {
		return nil, err
	}
	argv, err := split(line)
	if err == nil && len(holes) > 0 {
		argv = fillWords(argv, holes)
	}
	if err == nil && (len(argv) == 0 || argv[0] == "") {
		err = &Error{"command is empty", ""}
	}
	if err != nil {
		return nil, err
	}
	return argv, nil
}

func split(line string) ([]string, error) {
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
	}
	return argv, nil
}

// fill puts the values into the words, which have their marks in the order of
// the line: to shellquote a mark is a character like any other.
func fillWords(argv []string, holes []model.Placeholder) []string {
	for i, word := range argv {
		n := min(strings.Count(word, model.PlaceholderByte), len(holes))
		argv[i] = model.Fill(word, holes[:n], func(h model.Placeholder) string { return h.Text })
		holes = holes[n:]
	}
	return argv
}

// refuse finds what only a shell would act on, or make sense of.
func checkLine(line string, holes []model.Placeholder) error {
	for _, h := range holes {
		if h.Raw {
			return &Error{h.Expr + " is for the text of a shell, and no shell reads this command",
				"write " + strings.Replace(h.Expr, "${raw.", "${", 1) + ": it is one word, or part of one, whatever it holds"}
		}
	}
	if !strings.ContainsAny(line, specialBytes) {
		return nil
	}
	words, several := splitWords(line, holes)
	for i, w := range words {
		switch {
		case strings.Contains(w.open, "\r"): // in single quotes it is meant
			return &Error{"a carriage return in the command", "take it out: it is half of a Windows line end"}
		case several:
		case operator.MatchString(w.bare) || i == 0 && w.bare == "!":
			return &Error{fmt.Sprintf("%q would be an argument: no shell reads this command", w.text), "use provider: shell, or quote it"}
		case strings.Contains(w.bare, "`") || strings.Contains(w.bare, "$("):
			return &Error{fmt.Sprintf("%q would be an argument: no shell reads this command", w.text), "use provider: shell, or put it in single quotes"}
		}
	}
	if several {
		return &Error{"several lines need a shell", `use provider: shell, or end every line but the last with \`}
	}
	return nil
}

var (
	variable   = regexp.MustCompile(`\$[A-Za-z_][A-Za-z0-9_]*|\$\{[A-Za-z0-9_]*|\$\(|` + "`")
	brackets   = regexp.MustCompile(`\[.+\]`)
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
)

// Doubts lists what in a line a shell would expand and settle does not, each
// as "what; way out". The values of its holes raise none: they are meant as they are.
func Warnings(line string, holes []model.Placeholder) []string {
	const way = "use provider: shell, or write provider: posix if it is meant as it stands"
	if !strings.ContainsAny(line, specialBytes) {
		return nil
	}
	var doubts []string
	doubt := func(what, why string) {
		if text := fmt.Sprintf("%q %s; %s", what, why, way); !slices.Contains(doubts, text) {
			doubts = append(doubts, text)
		}
	}
	words, _ := splitWords(strings.TrimSuffix(line, "\n"), holes)
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
// quotes protect, and of the values in it.
type word struct {
	text string
	bare string // only what is outside all quotes
	open string // also what is in double quotes: where a shell still expands
}

// hidden stands for a protected byte: no pattern of ours matches it. A value's
// mark is the same byte: what a value holds is protected as well.
const maskByte = '\x00'

// scan splits a line as shellquote does, but keeps what is quoted apart. It
// tells when a newline outside quotes would end the command.
func splitWords(line string, holes []model.Placeholder) (words []word, several bool) {
	bare, open := []byte(line), []byte(line)
	hide := func(i int) { bare[i], open[i] = maskByte, maskByte }
	start := -1
	end := func(i int) {
		if start >= 0 {
			text := line[start:i]
			n := min(strings.Count(text, model.PlaceholderByte), len(holes))
			words = append(words, word{model.Written(text, holes[:n]), string(bare[start:i]), string(open[start:i])})
			holes = holes[n:]
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
			bare[i] = maskByte
		}
		if start < 0 {
			start = i
		}
	}
	end(len(line))
	return words, several
}
