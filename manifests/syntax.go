package manifests

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/settle-cm/settle/model"
)

// The YAML library says that a text is wrong in the words of its own grammar,
// with a line that is the first of the surrounding list or map, one too low, or
// missing. What a person wrote wrong is found here instead: by how far the
// library had read, and by what people are known to get wrong on such a line.

// fault is a syntax error on its way to becoming a problem.
type fault struct {
	text *text
	says string // the library's words
	line int    // its line, 0 for none
	end  int    // how far it had read
	at   int    // the line that it stopped at
}

// finding is where a fault is, what it is and what to do.
type finding struct {
	line, column        int // column 0: where the line's text begins
	message, suggestion string
}

// rules turn faults into findings, by words of what the library says. The
// first rule that has something to say is taken.
var rules = []struct {
	says string
	find func(*fault) finding
}{
	{"", (*fault).tab},
	{"expected", (*fault).expression},
	{"", (*fault).afterValue},
	{"unknown anchor", (*fault).anchor},
	{"exceeded max depth", (*fault).depth},
	{"cannot start any token", (*fault).start},
	{"alphabetic or numeric", (*fault).start},
	{"escape", (*fault).escape},
	{"hexdecimal", (*fault).escape},
	{"expected ',' or", (*fault).bracket},
	{"node content", (*fault).bracket},
	{"tag", (*fault).tag},
	{"document start", (*fault).ended},
	{"document start", (*fault).indent},
	{"end of stream", (*fault).quote},
	{"document indicator", (*fault).quote},
	{"comment or line break", (*fault).block},
	{"mapping values", (*fault).longKey},
	{"mapping values", (*fault).colon},
	{"mapping values", (*fault).noColon},
	{"mapping values", (*fault).indent},
	{"expected ':'", (*fault).longKey},
	{"expected ':'", (*fault).noColon},
	{"block sequence", (*fault).dash},
	{"expected key", (*fault).cut},
	{"expected key", (*fault).noColon},
	{"expected key", (*fault).indent},
	{"'-' indicator", (*fault).cut},
	{"'-' indicator", (*fault).noColon},
	{"'-' indicator", (*fault).indent},
	{"directive", (*fault).percent},
	{"incompatible", (*fault).percent},
	{"", (*fault).unknown},
}

// lazily returns what compiles a pattern when it is first needed: nearly every
// manifest is YAML, and nobody should wait for these at every start.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

var libraryLine = lazily(`^line ([0-9]+): `)

// syntax says in words of ours why a text is no YAML, and where.
func (l *loader) syntax(err error) model.Problem {
	text := &l.file.text
	f := &fault{text: text, says: strings.TrimPrefix(err.Error(), "yaml: ")}
	if m := libraryLine().FindStringSubmatch(f.says); m != nil {
		f.line, _ = strconv.Atoi(m[1]) // digits
	}
	f.end = stops(text.string)
	ahead := 4 // the library looks at so many characters beyond where it is
	if f.end == len(text.string) {
		ahead = 0 // or at fewer: there are no more
	}
	read := strings.TrimRight(text.string[:max(0, f.end-ahead)], " \t\n\r")
	f.at, _ = text.place(len(read))
	for _, rule := range rules {
		if !strings.Contains(f.says, rule.says) {
			continue
		}
		if found := rule.find(f); found.message != "" {
			if found.column == 0 {
				found.column = 1 + indent(text.line(found.line))
			}
			return model.Problem{
				Pos:     model.Pos{File: l.file.path, Line: max(1, found.line), Column: found.column},
				Message: found.message, Suggestion: found.suggestion,
			}
		}
	}
	panic("the last rule always finds something")
}

// stops returns how many bytes the library reads before it gives up: first by
// lines, which is fast, then the last lines by bytes.
func stops(data string) int {
	t := trickle{data: data, fine: len(data)}
	_, _ = decode(&t) // the error is known
	fine := t.at
	for lines := 0; fine > 0 && lines < 3; fine-- {
		if data[fine-1] == '\n' {
			lines++
		}
	}
	t = trickle{data: data, fine: fine}
	_, _ = decode(&t)
	return t.at
}

// trickle hands out a text in portions as small as they can be: a line each,
// or a byte each from fine on.
type trickle struct {
	data     string
	at, fine int
}

// Read hands out the next portion.
func (t *trickle) Read(p []byte) (int, error) {
	rest := t.data[t.at:]
	if len(rest) == 0 {
		return 0, io.EOF
	}
	n := 1
	for t.at+n < t.fine && n < len(rest) && rest[n-1] != '\n' {
		n++
	}
	n = copy(p, rest[:n])
	t.at += n
	return n, nil
}

// indent is how many blanks a line begins with.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// column is the place of a byte of a line, in characters from 1.
func column(line string, offset int) int { return 1 + utf8.RuneCountInString(line[:offset]) }

var leadingTab = lazily(`^[ -]*(\t)`)

func (f *fault) tab() finding {
	if !strings.Contains(f.says, "tab character") && !strings.Contains(f.says, "cannot start") &&
		!strings.Contains(f.says, "expected") && !strings.Contains(f.says, "not allowed") {
		return finding{}
	}
	blank := finding{}
	last := f.at + 1
	for f.end == len(f.text.string) && strings.Trim(f.text.line(last), " \t") == "" && last < f.at+100 {
		last++ // at the end of the file there may be blank lines before the tab
	}
	for n := last; n >= f.at-1; n-- {
		m := leadingTab().FindStringSubmatchIndex(f.text.line(n))
		if m == nil {
			continue
		}
		found := finding{n, m[2] + 1, "a tab in the indentation", "use spaces"}
		if strings.TrimSpace(f.text.line(n)) != "" {
			return found
		}
		blank = found
	}
	return blank
}

var (
	afterQuotes   = lazily(`(?:^|[:,\[{-])[ ]+(?:"(?:\\.|[^"\\])*"|'(?:[^']|'')*')[ ]*([^\s,\]}#:])`)
	afterBrackets = lazily(`[:-][ ]+[\[{].*[\]}][ ]*([^\s,\]}#:])`)
)

// afterValue finds text behind the end of a quoted or bracketed value.
func (f *fault) afterValue() finding {
	if !strings.Contains(f.says, "expected") {
		return finding{}
	}
	for n := f.at; n > f.at-3 && n > 0; n-- {
		line := f.text.line(n)
		if m := afterQuotes().FindStringSubmatchIndex(line); m != nil {
			return finding{n, column(line, m[2]), "text after the closing quote", "quote the whole value: in single quotes, with '' for each of its own"}
		}
		if m := afterBrackets().FindStringSubmatchIndex(line); m != nil {
			return finding{n, column(line, m[2]), "text after the closing bracket", "quote the whole value if the brackets belong to it"}
		}
	}
	return finding{}
}

func (f *fault) depth() finding {
	return finding{f.at, 0, fmt.Sprintf("nested deeper than %d levels", maxDepth), ""}
}

var special = lazily("(?:^|[ ])([@`%&*])")

// start finds a value that begins with a character which means something else.
func (f *fault) start() finding {
	line := f.text.line(f.at)
	m := special().FindStringSubmatchIndex(line)
	if m == nil {
		return finding{}
	}
	return finding{f.at, column(line, m[2]), fmt.Sprintf("a value cannot begin with %q", line[m[2]:m[3]]), "quote the whole value"}
}

func (f *fault) escape() finding {
	read := f.text.string[:f.end]
	at := strings.LastIndex(read, `\`)
	if at < 0 || at+1 >= len(f.text.string) {
		return finding{}
	}
	line, column := f.text.place(at)
	next, _ := utf8.DecodeRuneInString(f.text.string[at+1:])
	message := fmt.Sprintf(`\%c is no escape in double quotes`, next)
	if strings.Contains(f.says, "hexdecimal") {
		message = fmt.Sprintf(`too few hexadecimal digits behind \%c`, next)
	}
	return finding{line, column, message, `write \\ for a backslash, or use single quotes`}
}

// bracket finds where a list or map in brackets begins that goes wrong. The
// library's line is one too low, or that of the end where the first line is meant.
func (f *fault) bracket() finding {
	for _, n := range []int{f.line + 1, f.line, 1} {
		line := f.text.line(n)
		if at := strings.LastIndexAny(line, "[{"); at >= 0 {
			for _, open := range []string{": [", ": {", "- [", "- {"} {
				if i := strings.Index(line, open); i >= 0 {
					at = i + 2
				}
			}
			return finding{n, column(line, at), "the list or map that begins here is not closed, or has brackets in its values", `close it; quote values with "[", "]", "{", "}" or "," in them`}
		}
	}
	return finding{}
}

// quote finds where a quoted text begins that has no end: at the first quote
// in the line behind those that are closed there.
func (f *fault) quote() finding {
	for _, n := range []int{f.line, 1} {
		line := f.text.line(n)
		rest := closedQuotes().ReplaceAllStringFunc(line, func(text string) string { return strings.Repeat(" ", len(text)) })
		if at := strings.IndexAny(rest, `"'`); at >= 0 {
			return finding{n, column(line, at), "a quote that is not closed", "close it, or put the whole value in the other quotes"}
		}
	}
	return finding{}
}

var closedQuotes = lazily(`"(?:\\.|[^"\\])*"|'(?:[^']|'')*'`)

// tag finds a value whose exclamation mark YAML takes for its own.
func (f *fault) tag() finding {
	line := f.text.line(f.at)
	if at := strings.Index(line, "!"); at >= 0 {
		return finding{f.at, column(line, at), `a value cannot begin with "!"`, "quote the whole value"}
	}
	return finding{}
}

// ended finds what follows the mark of a document's end.
func (f *fault) ended() finding {
	for n := f.at; n > 0; n-- {
		if strings.TrimRight(f.text.line(n), " ") == "..." {
			return finding{n, 1, `"..." ends the manifest, and more follows`, "take it out"}
		}
	}
	return finding{}
}

var blockMark = lazily(`[|>]`)

func (f *fault) block() finding {
	line := f.text.line(max(1, f.line))
	m := blockMark().FindStringIndex(line)
	if m == nil {
		return finding{}
	}
	return finding{max(1, f.line), column(line, m[0]), fmt.Sprintf("text right after %q", line[m[0]:m[1]]), "put it on the next line, indented; quote a value that begins with it"}
}

// maxKey is how long YAML lets a key be that stands on one line with its value.
const maxKey = 1024

func (f *fault) longKey() finding {
	for _, n := range []int{f.line, f.at, f.at - 1} {
		if key, _, ok := strings.Cut(f.text.line(n)+" ", ": "); ok && utf8.RuneCountInString(key) > maxKey {
			return finding{n, 0, "a name of more than 1,024 characters", "give it a short name and use command:"}
		}
	}
	return finding{}
}

var secondColon = lazily(`^[ ]*(?:- +)*[^ ].*?: +.*?(:)(?: |$)`)

func (f *fault) colon() finding {
	n := max(1, f.line)
	line := f.text.line(n)
	m := secondColon().FindStringSubmatchIndex(line)
	if m == nil {
		return finding{}
	}
	return finding{n, column(line, m[2]), `": " in a value that is not quoted`, `a value with ": " must be quoted as a whole, or written on the next line after "|"`}
}

var (
	hasKey   = lazily(`:( |$)`)
	isDashed = lazily(`^ *- `)
	comment  = lazily(`(^| )#.*`)
)

// noColon finds a line of text where a key was meant.
func (f *fault) noColon() finding {
	n := f.at
	if strings.Contains(f.says, "mapping values") {
		n = max(1, f.line) - 1
	} else if above := f.text.line(n - 1); !hasKey().MatchString(above) && indent(above) < indent(f.text.line(n-2)) {
		n-- // text that fell out of the block above it goes on up to the next key
	}
	for ; n > 0; n-- {
		line := strings.TrimRight(comment().ReplaceAllString(f.text.line(n), ""), " ")
		switch {
		case line == "":
			continue
		case hasKey().MatchString(line), isDashed().MatchString(line) && !strings.Contains(f.says, "mapping values"):
			return finding{}
		}
		what := strings.TrimLeft(line, " -")
		if len(what) > 40 {
			what = what[:strings.LastIndexByte(what[:40], ' ')+1] + "…"
		}
		return finding{n, 1 + indent(line), fmt.Sprintf("%q is neither a key nor part of the value above", what),
			"end it with a colon if it is a key; indent it deeper than the key if it is text"}
	}
	return finding{}
}

// cut finds a value that goes on after a comment has ended it.
func (f *fault) cut() finding {
	for n := f.at; n > f.at-2 && n > 0; n-- {
		line := f.text.line(n)
		if m := comment().FindStringIndex(line); m != nil && strings.TrimSpace(line[:m[0]]) != "" {
			return finding{n, column(line, m[0]) + 1, `" #" begins a comment: it ends the value`, "quote the whole value if it is part of it"}
		}
	}
	return finding{}
}

func (f *fault) dash() finding {
	n := max(1, f.line)
	return finding{n, 0, "a list cannot begin on the line of its key", "put the dash on the next line"}
}

func (f *fault) indent() finding {
	n := f.at
	if strings.Contains(f.says, "mapping values") {
		n = max(1, f.line)
	}
	return finding{n, 0, "the indentation fits none of the lines above", "align it with the lines that it belongs to"}
}

func (f *fault) percent() finding {
	for n := 1; n <= f.at; n++ {
		if line := f.text.line(n); strings.HasPrefix(line, "%YAML") {
			return finding{n, 1, "the manifest says which YAML it is", "take this line out"}
		} else if strings.HasPrefix(line, "%") {
			return finding{n, 1, `a line cannot begin with "%"`, "quote the value"}
		}
	}
	return finding{}
}

func (f *fault) unknown() finding {
	return finding{f.at, 0, "not valid YAML here", "quote values with special characters"}
}
