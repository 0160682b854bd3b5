package complete

import "strings"

// Line is a line of bash up to the cursor.
type Line struct {
	Words    []string // of the command, before the one at the cursor
	Word     string   // the value of the word at the cursor, without quotes; "" behind a space
	Redirect bool     // that word is the file of a redirection

	start  int         // of the word at the cursor, in bytes of the line
	states []wordState // before each byte of that word, and behind the last one
}

// wordState is the state of the reader at one byte of a word.
type wordState struct {
	length int  // of the value up to there
	quote  byte // the open quote: 0, ' or "
}

// ParseLine reads a line up to the cursor. It knows the quotes of bash, the ends of
// commands and redirections. It expands nothing.
func ParseLine(line string) *Line {
	r := lineReader{line: line}
	for r.at < len(line) {
		r.readNext()
	}
	r.l.Word, r.l.Redirect = string(r.value), r.redirect
	if !r.inside {
		r.l.start = len(line)
	}
	r.l.states = append(r.states, wordState{len(r.value), r.quote})
	return &r.l
}

// lineReader is the state of one call of ParseLine.
type lineReader struct {
	line     string
	at       int
	l        Line
	inside   bool // of a word
	redirect bool // this word, or the next one, is the file of a redirection
	quote    byte
	value    []byte
	states   []wordState
}

// readNext reads one character, or a backslash and the character behind it.
func (r *lineReader) readNext() {
	c := r.line[r.at]
	switch {
	case r.quote != 0:
		r.readQuoted(c)
	case c == '\\':
		r.readEscaped()
	case c == '\'' || c == '"':
		r.take()
		r.quote = c
	case c == ' ' || c == '\t':
		r.endWord()
		r.at++
	case c == '>' || c == '<' || c == '&' && strings.HasPrefix(r.line[r.at+1:], ">"):
		r.readRedirect()
	case strings.IndexByte(";|&()\n", c) >= 0: // another command begins
		r.endWord()
		r.l.Words, r.redirect = nil, false
		r.at++
	default:
		r.take()
		r.value = append(r.value, c)
	}
}

// take records the state before one byte of a word and moves past it.
func (r *lineReader) take() {
	if !r.inside {
		r.inside, r.l.start = true, r.at
	}
	r.states = append(r.states, wordState{len(r.value), r.quote})
	r.at++
}

// readQuoted reads a character inside quotes.
func (r *lineReader) readQuoted(c byte) {
	if r.quote == '"' && c == '\\' && r.at+1 < len(r.line) && strings.IndexByte("$`\"\\\n", r.line[r.at+1]) >= 0 {
		r.readEscaped()
		return
	}
	closes := c == r.quote
	r.take()
	if closes {
		r.quote = 0
		return
	}
	r.value = append(r.value, c)
}

// readEscaped reads a backslash and the character that it quotes. At the cursor that
// character is not typed yet.
func (r *lineReader) readEscaped() {
	r.take()
	if r.at == len(r.line) {
		return
	}
	c := r.line[r.at]
	r.take()
	if c != '\n' { // backslash and newline continue the line
		r.value = append(r.value, c)
	}
}

// endWord ends the current word, if there is one.
func (r *lineReader) endWord() {
	if !r.inside {
		return
	}
	if !r.redirect {
		r.l.Words = append(r.l.Words, string(r.value))
	}
	r.inside, r.redirect, r.value, r.states = false, false, nil, nil
}

// readRedirect reads an operator such as 2>> or &>.
func (r *lineReader) readRedirect() {
	if strings.Trim(string(r.value), "0123456789") == "" { // a descriptor: 2>
		r.inside, r.value, r.states = false, nil, nil
	}
	r.endWord()
	for r.at < len(r.line) && strings.IndexByte("<>&|", r.line[r.at]) >= 0 {
		r.at++
	}
	r.redirect = true
}

// Continue returns the text that replaces the last cut bytes of the line, so that
// the word at the cursor gets the given value. value has to begin with Word and
// must not contain a newline, which a backslash cannot quote. bash sets cut: it
// replaces only the bytes behind the last of COMP_WORDBREAKS. With home a leading
// ~/ stays unquoted. An open quote is left open for bash to close.
func (l *Line) Continue(value string, cut int, home bool) string {
	at := min(max(len(l.states)-1-cut, 0), len(l.states)-1)
	s := l.states[at]
	rest := value[min(s.length, len(value)):]
	switch s.quote {
	case '\'':
		return strings.ReplaceAll(rest, `'`, `'\''`)
	case '"':
		return doubleQuoted.Replace(rest)
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

// doubleQuoted escapes text inside double quotes. An exclamation mark has to stand
// outside: bash expands it from its history, and keeps a backslash before it.
var doubleQuoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`", `!`, `"\!"`)

// plainBytes are the bytes besides letters and digits that need no quoting.
const plainBytes = "@%_+=:,./#~-"

// quote puts a backslash before every byte that may be special to bash.
func quote(text string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
		if !letter && strings.IndexByte(plainBytes, c) < 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}
