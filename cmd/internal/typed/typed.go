// Package typed reads a command line of bash while somebody is still typing it,
// and says how to go on with it so that bash takes what stands there as one word.
package typed

import "strings"

// Line is a command line up to the cursor.
type Line struct {
	Words  []string // of the command, before the one at the cursor
	Word   string   // what that one means so far: "" behind a space
	Target bool     // it is the file of a redirection

	start int    // of the word at the cursor, in bytes of the line
	steps []step // of it: what holds before each of its bytes, and behind the last one
}

// step is what holds at one place in a word.
type step struct {
	length int  // of the value up to there
	quote  byte // the quote that is open: 0, ' or "
}

// Read reads a line up to the cursor. Of what bash does with a line it knows
// quotes, the ends of commands and redirections; it expands nothing.
func Read(line string) *Line {
	r := reader{line: line}
	for r.at < len(line) {
		r.next()
	}
	r.l.Word, r.l.Target = string(r.value), r.target
	if !r.inside {
		r.l.start = len(line)
	}
	r.l.steps = append(r.steps, step{len(r.value), r.quote})
	return &r.l
}

// reader is the state of one Read.
type reader struct {
	line   string
	at     int
	l      Line
	inside bool // of a word
	target bool // the next word, or this one, is a file of a redirection
	quote  byte
	value  []byte
	steps  []step
}

// next reads one character, or one that is quoted by a backslash.
func (r *reader) next() {
	c := r.line[r.at]
	switch {
	case r.quote != 0:
		r.quoted(c)
	case c == '\\':
		r.escaped()
	case c == '\'' || c == '"':
		r.step()
		r.quote = c
	case c == ' ' || c == '\t':
		r.end()
		r.at++
	case c == '>' || c == '<' || c == '&' && strings.HasPrefix(r.line[r.at+1:], ">"):
		r.redirect()
	case strings.IndexByte(";|&()\n", c) >= 0: // another command begins
		r.end()
		r.l.Words, r.target = nil, false
		r.at++
	default:
		r.step()
		r.value = append(r.value, c)
	}
}

// step notes what holds before a byte of a word, and goes over it.
func (r *reader) step() {
	if !r.inside {
		r.inside, r.l.start = true, r.at
	}
	r.steps = append(r.steps, step{len(r.value), r.quote})
	r.at++
}

// quoted reads a character inside of quotes.
func (r *reader) quoted(c byte) {
	if r.quote == '"' && c == '\\' && r.at+1 < len(r.line) && strings.IndexByte("$`\"\\\n", r.line[r.at+1]) >= 0 {
		r.escaped()
		return
	}
	closes := c == r.quote
	r.step()
	if closes {
		r.quote = 0
		return
	}
	r.value = append(r.value, c)
}

// escaped reads a backslash and what it quotes. At the cursor there is nothing yet.
func (r *reader) escaped() {
	r.step()
	if r.at == len(r.line) {
		return
	}
	c := r.line[r.at]
	r.step()
	if c != '\n' { // a line that goes on
		r.value = append(r.value, c)
	}
}

// end ends a word, where there is one.
func (r *reader) end() {
	if !r.inside {
		return
	}
	if !r.target {
		r.l.Words = append(r.l.Words, string(r.value))
	}
	r.inside, r.target, r.value, r.steps = false, false, nil, nil
}

func (r *reader) redirect() {
	if strings.Trim(string(r.value), "0123456789") == "" { // a descriptor: 2>
		r.inside, r.value, r.steps = false, nil, nil
	}
	r.end()
	for r.at < len(r.line) && strings.IndexByte("<>&|", r.line[r.at]) >= 0 {
		r.at++
	}
	r.target = true
}

// Continue returns what has to stand in the line in place of its last bytes, of
// which there are cut, so that the word at the cursor means value, which begins
// with what it means already. Bash says how many bytes it replaces: those behind
// the last of COMP_WORDBREAKS. A tilde at the front keeps its meaning when home
// says so. A quote that is open is left for bash to close. A value has no line
// breaks: a backslash does not keep them.
func (l *Line) Continue(value string, cut int, home bool) string {
	at := min(max(len(l.steps)-1-cut, 0), len(l.steps)-1)
	s := l.steps[at]
	rest := value[min(s.length, len(value)):]
	switch s.quote {
	case '\'':
		return strings.ReplaceAll(rest, `'`, `'\''`)
	case '"':
		return inDouble.Replace(rest)
	}
	if at > 0 {
		return quote(rest)
	}
	front := ""
	switch {
	case home && strings.HasPrefix(rest, "~/"):
		front, rest = "~", rest[1:]
	case strings.HasPrefix(rest, "#"), strings.HasPrefix(rest, "~"):
		front, rest = `\`+rest[:1], rest[1:]
	}
	return front + quote(rest)
}

// inDouble quotes inside of double quotes. There an exclamation mark cannot be:
// bash takes it for one of its history, and keeps the backslash before it.
var inDouble = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`", `!`, `"\!"`)

const harmless = "@%_+=:,./#~-"

// quote puts a backslash before whatever bash might give a meaning.
func quote(text string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
		if !letter && strings.IndexByte(harmless, c) < 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}
