package shell

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/settle-cm/settle/model"
)

// maxPlaceholders bounds the values of one text: each is judged by everything
// before it in its command.
const maxPlaceholders = 256

const (
	// maxText bounds a text with values. The parser needs up to 10 KB of stack for
	// 4 bytes of text. No program can be given a longer argument anyway.
	maxText = 128<<10 - 1
	// maxDepth bounds how deep its parentheses and braces are nested.
	maxDepth = 1000
)

// Fill inserts values into a text that the given shell reads. Each value is quoted
// for its place, so that the shell sees exactly its bytes as data. A place where
// that cannot be guaranteed is an error. words are the words before the text; none
// means Argv's. Raw values are inserted first, unquoted. A text without
// placeholders is not parsed.
func Fill(words []string, text string, placeholders []model.Placeholder) (string, error) {
	if len(placeholders) == 0 {
		return text, nil
	}
	for _, h := range placeholders {
		if strings.Contains(h.Text, model.PlaceholderByte) {
			return "", model.NewAdvice(h.Expr+" holds a zero byte", "no program can be given one")
		}
	}
	text, placeholders = insertRaw(text, placeholders)
	switch {
	case len(placeholders) == 0:
		return text, nil
	case len(placeholders) > maxPlaceholders:
		return "", model.NewAdvice(fmt.Sprintf("more than %d values in one shell text", maxPlaceholders), environment(placeholders[maxPlaceholders], "as \"$NAME\""))
	}
	if err := checkSize(text, placeholders[0]); err != nil {
		return "", err
	}
	if strings.Contains(text, "\r") { // a letter to some shells, nothing to others
		return "", model.NewAdvice("a carriage return in the shell text, so no value can be quoted in it", "take it out: it is half of a Windows line end")
	}
	languages, err := languagesOf(words)
	if err != nil {
		return "", model.NewAdvice(err.Error(), environment(placeholders[0], "in the command, as that program reads its variables"))
	}
	places, err := findPlaces(newForm(text, placeholders), languages)
	if err != nil {
		return "", err
	}
	n := -1
	return model.Fill(text, placeholders, func(h model.Placeholder) string {
		n++
		return places[n].quote(h.Text)
	}), nil
}

// checkSize refuses a text on which the parser could overflow the stack. Quotes
// and comments are not told apart, so the depth is only an estimate; the length is
// the guarantee.
func checkSize(text string, first model.Placeholder) error {
	way := "put it into a script; or " + environment(first, `as "$NAME"`)
	if len(text) > maxText {
		return model.NewAdvice(fmt.Sprintf("a shell text with values is longer than %d KiB", (maxText+1)>>10), way)
	}
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{':
			if depth++; depth > maxDepth {
				return model.NewAdvice(fmt.Sprintf("a shell text with values is nested more than %d deep", maxDepth), way)
			}
		case ')', '}':
			depth = max(0, depth-1)
		}
	}
	return nil
}

// insertRaw inserts the raw values and returns the remaining placeholders.
func insertRaw(text string, placeholders []model.Placeholder) (string, []model.Placeholder) {
	var others []model.Placeholder
	text = model.Fill(text, placeholders, func(h model.Placeholder) string {
		if h.Raw {
			return h.Text
		}
		others = append(others, h)
		return model.PlaceholderByte
	})
	return text, others
}

// findPlaces returns the places of the placeholders. They must be the same in all
// languages that the shell may speak.
func findPlaces(f *form, languages []syntax.LangVariant) ([]place, error) {
	var places []place
	for i, language := range languages {
		found, err := f.parsePlaces(language)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			places = found
		}
		for n := range found {
			if found[n].quotes != places[n].quotes {
				return nil, f.newPlaceError(n, reason{"where not every shell of this name reads the same", "set shell: [/bin/bash, -c] if it is for bash"})
			}
			places[n].apart = places[n].apart || found[n].apart
		}
	}
	return places, nil
}

// place is where a value goes.
type place struct {
	quotes byte // the quotes around it: 0, ' or "
	apart  bool // in double quotes behind a $NAME, which a letter more would make another name
}

// quote returns the text that a shell in this place reads as the value.
func (p place) quote(value string) string {
	switch {
	case p.quotes == '\'':
		return strings.ReplaceAll(value, "'", `'\''`)
	case p.apart:
		return `""` + inDouble.Replace(value)
	case p.quotes == '"':
		return inDouble.Replace(value)
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}

// inDouble escapes the characters that have a meaning in double quotes.
var inDouble = strings.NewReplacer(`\`, `\\`, `$`, `\$`, `"`, `\"`, "`", "\\`")

// form is a text as it is parsed: with a word in place of each placeholder. No
// shell gives that word a meaning, and it may stand wherever a value might be
// written, even where a value is refused.
type form struct {
	text         string
	placeholders []model.Placeholder
	at           []int // the offset of each placeholder's word
}

const standIn = "VALUE"

func newForm(text string, placeholders []model.Placeholder) *form {
	f := &form{placeholders: placeholders}
	var b strings.Builder
	for rest := text; ; {
		before, after, ok := strings.Cut(rest, model.PlaceholderByte)
		b.WriteString(before)
		if !ok {
			break
		}
		f.at = append(f.at, b.Len())
		b.WriteString(standIn)
		rest = after
	}
	f.text = b.String()
	return f
}

// parsePlaces parses the text and returns the place of each placeholder.
func (f *form) parsePlaces(language syntax.LangVariant) ([]place, error) {
	file, err := syntax.NewParser(syntax.Variant(language), syntax.KeepComments(true)).Parse(strings.NewReader(f.text), "")
	if err != nil {
		return nil, f.newParseError(err)
	}
	w := &walker{form: f, language: language, found: make([]place, len(f.at)), seen: make([]bool, len(f.at))}
	syntax.Walk(file, w.visit)
	if w.err != nil {
		return nil, w.err
	}
	if n := slices.Index(w.seen, false); n >= 0 {
		return nil, f.newPlaceError(n, reason{"where settle cannot tell what it would be to the shell", useEnvironment})
	}
	return w.found, nil
}

// newParseError words a syntax error, with its place in the text as it was written.
func (f *form) newParseError(err error) error {
	message, offset := err.Error(), -1
	switch e := err.(type) {
	case syntax.ParseError:
		message, offset = e.Text, int(e.Pos.Offset())
	case syntax.LangError:
		_, message, _ = strings.Cut(strings.TrimPrefix(message, e.Pos.String()), ": ")
		offset = int(e.Pos.Offset())
	}
	if offset >= 0 {
		line, column := f.lineColumn(offset)
		message = fmt.Sprintf("line %d, column %d: %s", line, column, message)
	}
	return model.NewAdvice("the shell text cannot be read, so no value can be quoted in it: "+message,
		"correct it; or "+environment(f.placeholders[0], `as "$NAME"`)+": then the text is the shell's alone to read")
}

// lineColumn converts an offset to line and column of the text as it was written.
func (f *form) lineColumn(offset int) (line, column int) {
	offset = min(offset, len(f.text))
	line, column = 1, 1
	for i, n := 0, 0; i < offset; {
		switch {
		case n < len(f.at) && i == f.at[n]:
			column += len(f.placeholders[n].Expr)
			i += len(standIn)
			n++
			continue
		case f.text[i] == '\n':
			line, column = line+1, 0
		}
		column++
		i++
	}
	return line, column
}
