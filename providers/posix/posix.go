// Package posix splits a command line into words by the quoting rules of sh,
// and by nothing else of sh: no variable, glob or operator means anything. What
// a person would expect a shell to act on is refused or warned of here, since it
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
	"github.com/settle-cm/settle/model/shelltext"
)

// operator matches a word that a shell reads as an operator, alone or with the
// file of a redirection.
var operator = regexp.MustCompile(`^(\|\|?|\|&|&&?|;;?|&>>?.*|[0-9]*[<>].*)$`)

// glued matches an operator that is written without blanks around it, as in
// "make;make install". None of them can be meant as data without quotes.
var glued = regexp.MustCompile(`;|&&|\||&$`)

// gluedInURL is glued for a word with a URL, in which ; and | have a meaning.
var gluedInURL = regexp.MustCompile(`(;|&&|\|\|?|&)$`)

// single matches characters that are operators to a shell and also common in data.
var single = regexp.MustCompile(`[&<>]`)

// specialBytes are the bytes without which a line holds only plain words. Most
// lines have none, and a manifest may have very many lines.
const specialBytes = "|&;<>$`\\\"'\r\n*?[~=!"

// Argv splits a line into words and then inserts the values of its placeholders. A
// value stays within the word of its placeholder. One trailing newline is dropped.
func Argv(line string, placeholders []model.Placeholder) ([]string, error) {
	line = strings.TrimSuffix(line, "\n")
	if err := checkLine(line, placeholders); err != nil {
		return nil, err
	}
	argv, err := split(line)
	if err == nil && len(placeholders) > 0 {
		if err = refuseShellText(argv, placeholders); err == nil {
			argv = fillWords(argv, placeholders)
		}
	}
	if err == nil && (len(argv) == 0 || argv[0] == "") {
		err = model.NewAdvice("command is empty", "")
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
		return nil, model.NewAdvice("a single quote is not closed", `close it, or write \' for the character itself`)
	case errors.Is(err, shellquote.UnterminatedDoubleQuoteError):
		return nil, model.NewAdvice("a double quote is not closed", `close it, or write \" for the character itself`)
	case errors.Is(err, shellquote.UnterminatedEscapeError):
		return nil, model.NewAdvice(`a \ at the end escapes nothing`, `write \\ for the character itself`)
	case err != nil:
		return nil, model.NewAdvice(err.Error(), "")
	}
	return argv, nil
}

// refuseShellText returns an error for the first value in a word that a shell started
// by this command would read as its text.
func refuseShellText(argv []string, placeholders []model.Placeholder) error {
	n := 0
	for i, word := range argv {
		front, _, ok := strings.Cut(word, model.PlaceholderByte)
		if !ok {
			continue
		}
		if n < len(placeholders) {
			if program := shelltext.Reader(argv, i, front); program != "" {
				return model.NewAdvice(shelltext.Advise(program, placeholders[n].Expr))
			}
		}
		n += strings.Count(word, model.PlaceholderByte)
	}
	return nil
}

// fillWords inserts the values into the words. The words contain the placeholders
// in the order of the line; shellquote treats one like any other character.
func fillWords(argv []string, placeholders []model.Placeholder) []string {
	for i, word := range argv {
		n := min(strings.Count(word, model.PlaceholderByte), len(placeholders))
		argv[i] = model.Fill(word, placeholders[:n], func(h model.Placeholder) string { return h.Text })
		placeholders = placeholders[n:]
	}
	return argv
}

// checkLine returns an error for syntax that only a shell would interpret.
func checkLine(line string, placeholders []model.Placeholder) error {
	for _, h := range placeholders {
		if h.Raw {
			return model.NewAdvice(h.Expr+" is for the text of a shell, and no shell reads this command",
				"write "+strings.Replace(h.Expr, "${raw.", "${", 1)+": it is one word, or part of one, whatever it holds")
		}
	}
	if !strings.ContainsAny(line, specialBytes) {
		return nil
	}
	words, several := splitWords(line, placeholders)
	for i, w := range words {
		switch {
		case strings.Contains(w.open, "\r"): // intended in single quotes
			return model.NewAdvice("a carriage return in the command", "take it out: it is half of a Windows line end")
		case several:
		case operator.MatchString(w.bare) || i == 0 && w.bare == "!":
			return model.NewAdvice(fmt.Sprintf("%q would be an argument: no shell reads this command", w.text), "use provider: shell, or quote it")
		case isGlued(w.bare):
			return model.NewAdvice(fmt.Sprintf("%q has an operator of a shell in it: no shell reads this command", w.text), "use provider: shell, or quote it")
		case strings.Contains(w.bare, "`") || strings.Contains(w.bare, "$("):
			return model.NewAdvice(fmt.Sprintf("%q would be an argument: no shell reads this command", w.text), "use provider: shell, or put it in single quotes")
		}
	}
	if several {
		return model.NewAdvice("several lines need a shell", `use provider: shell, or end every line but the last with \`)
	}
	return nil
}

func isGlued(bare string) bool {
	if strings.Contains(bare, "://") {
		return gluedInURL.MatchString(bare)
	}
	return glued.MatchString(bare)
}

var (
	variable   = regexp.MustCompile(`\$[A-Za-z_][A-Za-z0-9_]*|\$\{[A-Za-z0-9_]*|\$\(|` + "`")
	brackets   = regexp.MustCompile(`\[.+\]`)
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
)

// Warnings lists the parts of a line that a shell would expand and settle does not. The
// values of its placeholders raise no warning.
func Warnings(line string, placeholders []model.Placeholder) []model.Advice {
	const way = "use provider: shell, or write provider: posix if it is meant as it stands"
	if !strings.ContainsAny(line, specialBytes) {
		return nil
	}
	var warnings []model.Advice
	warn := func(what, why string) {
		if w := (model.Advice{Message: fmt.Sprintf("%q %s", what, why), Suggestion: way}); !slices.Contains(warnings, w) {
			warnings = append(warnings, w)
		}
	}
	words, _ := splitWords(strings.TrimSuffix(line, "\n"), placeholders)
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
			warn(name, "is not expanded")
		}
		switch {
		case strings.Contains(w.open, "://"): // ? and * are common in URLs
		case strings.HasPrefix(w.bare, "~"):
			warn(w.text, "is not expanded")
		case operator.MatchString(w.bare): // refused by Argv
		case single.MatchString(w.bare):
			warn(w.text, "is passed on as it stands: no shell reads the "+single.FindString(w.bare))
		case strings.ContainsAny(w.bare, "*?") || brackets.MatchString(w.bare):
			warn(w.text, "matches no files: it is passed on as it stands")
		}
		if i == 0 && assignment.MatchString(w.bare) {
			warnings = append(warnings, model.Advice{Message: fmt.Sprintf("%q is taken for the program", w.text), Suggestion: "set variables with environment"})
		}
	}
	return warnings
}

// word is one word as written, and twice with maskByte in place of quoted bytes
// and values.
type word struct {
	text string
	bare string // only unquoted bytes
	open string // also bytes in double quotes, where a shell still expands
}

// maskByte replaces a quoted byte: no pattern of ours matches it. It is also the
// placeholder of a value, because a value is never syntax.
const maskByte = '\x00'

// splitWords splits a line as shellquote does, but keeps quoted parts apart.
// several is set when an unquoted newline would end the command.
func splitWords(line string, placeholders []model.Placeholder) (words []word, several bool) {
	s := splitter{line: line, placeholders: placeholders, bare: []byte(line), open: []byte(line), start: -1}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case s.quote == 0 && isSpace(c):
			s.endWord(i)
			several = several || c == '\n'
		case c == '\\' && s.quote != '\'' && i+1 < len(line):
			s.escape(i)
			i++
		default:
			s.addByte(i, c)
		}
	}
	s.endWord(len(line))
	return s.words, several
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// splitter is the state of splitWords.
type splitter struct {
	line         string
	placeholders []model.Placeholder // of the words to come
	bare, open   []byte              // the line, with quoted bytes masked
	quote        byte                // the open quote, 0 outside quotes
	start        int                 // of the current word, -1 between words
	words        []word
}

// endWord ends the current word, if there is one.
func (s *splitter) endWord(i int) {
	if s.start < 0 {
		return
	}
	text := s.line[s.start:i]
	n := min(strings.Count(text, model.PlaceholderByte), len(s.placeholders))
	s.words = append(s.words, word{model.RestoreExpressions(text, s.placeholders[:n]), string(s.bare[s.start:i]), string(s.open[s.start:i])})
	s.placeholders = s.placeholders[n:]
	s.start = -1
}

// escape masks a backslash and the byte that it escapes. An escaped line end
// between two words belongs to neither.
func (s *splitter) escape(i int) {
	if s.line[i+1] == '\n' && s.start < 0 {
		return
	}
	s.mask(i)
	s.mask(i + 1)
	s.beginWord(i)
}

// addByte adds a byte to the current word and masks it where quotes protect it.
func (s *splitter) addByte(i int, c byte) {
	switch {
	case c == s.quote:
		s.mask(i)
		s.quote = 0
	case s.quote == 0 && (c == '\'' || c == '"'):
		s.mask(i)
		s.quote = c
	case s.quote == '\'':
		s.mask(i)
	case s.quote == '"':
		s.bare[i] = maskByte
	}
	s.beginWord(i)
}

func (s *splitter) beginWord(i int) {
	if s.start < 0 {
		s.start = i
	}
}

func (s *splitter) mask(i int) { s.bare[i], s.open[i] = maskByte, maskByte }
