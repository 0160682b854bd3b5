package parse

import (
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model"
)

// The YAML library reports errors in terms of its own grammar. Its line is the
// first of the surrounding list or map, one too low, or missing. So the mistake is
// located here: by how far the library had read, and by the mistakes that people
// are known to make on such a line.

// fault is a syntax error on its way to becoming a problem.
type fault struct {
	text *Text
	says string // the message of the library
	line int    // its line, 0 for none
	end  int    // how many bytes it had read
	at   int    // the line where it stopped
}

// finding locates and describes a fault. Without a message nothing was found.
type finding struct {
	line, column        int // column 0: where the line's text begins
	message, suggestion string
}

// rules lists the functions that look for a mistake, each with a part of the
// library's message that hints at it. The first finding wins.
var rules = []struct {
	says string
	find func(*fault) finding
}{
	{"", (*fault).findTab},
	{"expected", (*fault).findBareExpression},
	{"expected", (*fault).findPuppetReference},
	{"", (*fault).findTextAfterValue},
	{"unknown anchor", (*fault).findUnknownAnchor},
	{"exceeded max depth", (*fault).findDepth},
	{"cannot start any token", (*fault).findSpecialStart},
	{"alphabetic or numeric", (*fault).findSpecialStart},
	{"escape", (*fault).findEscape},
	{"hexdecimal", (*fault).findEscape},
	{"expected ',' or", (*fault).findLongFlowKey},
	{"node content", (*fault).findLongFlowKey},
	{"expected ',' or", (*fault).findOpenBracket},
	{"node content", (*fault).findOpenBracket},
	{"tag", (*fault).findTag},
	{"document start", (*fault).findTextAfterEnd},
	{"document start", (*fault).findIndent},
	{"end of stream", (*fault).findOpenQuote},
	{"document indicator", (*fault).findOpenQuote},
	{"comment or line break", (*fault).findTextAfterBlock},
	{"mapping values", (*fault).findLongKey},
	{"mapping values", (*fault).findSecondColon},
	{"mapping values", (*fault).findMissingColon},
	{"mapping values", (*fault).findIndent},
	{"expected ':'", (*fault).findLongKey},
	{"expected ':'", (*fault).findMissingColon},
	{"block sequence", (*fault).findInlineDash},
	{"expected key", (*fault).findCutValue},
	{"expected key", (*fault).findMissingColon},
	{"expected key", (*fault).findIndent},
	{"'-' indicator", (*fault).findCutValue},
	{"'-' indicator", (*fault).findMissingColon},
	{"'-' indicator", (*fault).findIndent},
	{"directive", (*fault).findPercent},
	{"incompatible", (*fault).findPercent},
	{"", (*fault).describeUnknown},
}

var libraryLine = entry.Pattern(`^line ([0-9]+): `)

// explainSyntax returns the problem behind an error of the YAML library.
// It had read so many bytes.
func (f *File) explainSyntax(err error, bytesRead int) *model.Problem {
	text := &f.Text
	e := &fault{text: text, says: strings.TrimPrefix(err.Error(), "yaml: ")}
	if m := libraryLine().FindStringSubmatch(e.says); m != nil {
		e.line, _ = strconv.Atoi(m[1]) // digits
	}
	if e.end = len(text.All); !strings.Contains(e.says, "end of stream") {
		e.end = findStop(text.All, bytesRead)
	}
	ahead := 4 // the library reads so many characters ahead
	if e.end == len(text.All) {
		ahead = 0 // at the end of the text it cannot
	}
	read := strings.TrimRight(text.All[:max(0, e.end-ahead)], " \t\n\r")
	e.at, _ = text.Place(len(read))
	for _, rule := range rules {
		if !strings.Contains(e.says, rule.says) {
			continue
		}
		if found := rule.find(e); found.message != "" {
			if found.column == 0 {
				found.column = 1 + indent(text.Line(found.line))
			}
			return &model.Problem{
				Pos:     model.Pos{File: f.Path, Line: max(1, found.line), Column: found.column},
				Message: found.message, Suggestion: found.suggestion,
			}
		}
	}
	panic("the last rule finds every fault")
}

// maxSearched is how many bytes of a line the rules search: a file may be one line.
const maxSearched = 1 << 20

// lineAt returns the beginning of the nth line, counted from 1.
func (f *fault) lineAt(n int) string {
	line := f.text.Line(n)
	if len(line) > maxSearched {
		line = strings.ToValidUTF8(line[:maxSearched], "") + "…"
	}
	return line
}

// findStop returns how many bytes the library reads before it gives up, when it gave
// up after read bytes in portions of its own. It feeds the last of them one by one.
func findStop(data string, read int) int {
	t := trickle{data: data, fine: max(0, read-maxFine)}
	_, _ = decodeDocuments(&t) // the error is known
	return t.at
}

// maxFine is how many bytes are fed one by one: some more than the library reads at once.
const maxFine = 4096

// trickle is a reader of small portions: a line each, and a byte each from the
// offset fine on. How far the library reads ahead then shows where it stopped.
type trickle struct {
	data     string
	at, fine int
}

// Read hands out the next portion.
func (t *trickle) Read(p []byte) (int, error) {
	rest := t.data[t.at:min(len(t.data), t.at+len(p))]
	if len(rest) == 0 {
		return 0, io.EOF
	}
	n := 1
	for t.at+n < t.fine && n < len(rest) && rest[n-1] != '\n' {
		n++
	}
	t.at += copy(p, rest[:n])
	return n, nil
}

// indent returns how many blanks a line begins with.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// column returns the column of an offset in a line, counted in characters from 1.
func column(line string, offset int) int { return 1 + utf8.RuneCountInString(line[:offset]) }
