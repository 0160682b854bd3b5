package value

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/settle-cm/settle/model/spelling"
)

// Roots are the first names of all paths. raw may precede one of them.
var Roots = []string{"var", "env", "host", "self", "each"}

const raw = "raw"

// Part is a part of a text: plain text or one expression.
type Part struct {
	Text string // the text, or the expression as written
	Expr *Expr  // nil for a piece of plain text
	At   int    // offset of an expression in the text
}

// Expr is one expression, ${ROOT.path} or ${ROOT.path:-default}.
type Expr struct {
	Text       string        // as it is written
	Root       string        // one of Roots
	Path       []string      // at least one name
	Keys       map[int]*Expr // expressions in brackets, by index in Path; nil without any
	Default    string
	HasDefault bool
	Raw        bool // ${raw.ROOT.path}
}

// Problem is a mistake in an expression, with a suggestion that may be "".
type Problem struct {
	Message, Suggestion string
	At                  int // offset of the expression in the text
}

// HasExpression reports whether a text has an expression or an escaped one, so that
// it needs Parse.
func HasExpression(text string) bool {
	start, _ := findExpression(text, 0)
	return start >= 0
}

// Escape returns a text that Parse reads as the given one, without expressions.
func Escape(text string) string {
	var b strings.Builder
	from := 0
	for {
		start, after := findExpression(text, from)
		if start < 0 {
			b.WriteString(text[from:])
			return b.String()
		}
		b.WriteString(text[from:start] + "$" + text[start:after])
		from = after
	}
}

// Parse splits a text into its parts. An expression begins with ${, a word and a
// dot. One more dollar in front escapes it. Everything else is plain text.
func Parse(text string) (parts []Part, problems []Problem) {
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			parts = append(parts, Part{Text: literal.String()})
			literal.Reset()
		}
	}
	from := 0
	for {
		start, after := findExpression(text, from)
		if start < 0 {
			break
		}
		if start > from && text[start-1] == '$' {
			literal.WriteString(text[from:start-1] + text[start:after])
			from = after
			continue
		}
		literal.WriteString(text[from:start])
		expr, problem := parseExpression(text[start:])
		from = start + len(expr.Text)
		if problem != nil {
			problem.At = start
			problems = append(problems, *problem)
			continue
		}
		flush()
		parts = append(parts, Part{Text: expr.Text, Expr: expr, At: start})
	}
	literal.WriteString(text[from:])
	flush()
	return parts, problems
}

// findExpression returns the offsets of the next ${word. and of the byte after it,
// -1 without one. It also finds the forms ${ var. and ${var[", which Parse refuses: they
// would otherwise go into a file as text.
func findExpression(text string, from int) (start, after int) {
	for {
		i := strings.Index(text[from:], "${")
		if i < 0 {
			return -1, -1
		}
		start = from + i
		after = start + 2
		for after < len(text) && isWordByte(text[after], after > start+2) {
			after++
		}
		if after > start+2 && after < len(text) && text[after] == '.' {
			return start, after + 1
		}
		if form := otherForm.FindString(text[start:min(start+maxOtherForm, len(text))]); form != "" {
			return start, start + len(form)
		}
		from = start + 2
	}
}

// otherForm matches the beginning of an expression in the form of other tools. Only our
// own roots count, because a shell reads ${ and ${NAME[ as well.
var otherForm = regexp.MustCompile(`^\$\{([ \t]+(raw\.)?(var|env|host|self|each)\.|(var|env|host|self|each)\[["'])`)

const maxOtherForm = 64 // bytes: blanks and a root

// isWordByte reports whether a byte may be part of the word before the first dot.
func isWordByte(c byte, digits bool) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || digits && '0' <= c && c <= '9'
}

// isNameByte reports whether a byte may be part of a name in a path.
func isNameByte(c byte) bool { return isWordByte(c, true) || c == '-' }

// IsName reports whether a text is a valid name in a path.
func IsName(name string) bool {
	for i := range len(name) {
		if !isNameByte(name[i]) {
			return false
		}
	}
	return name != ""
}

// parseExpression parses the expression at the start of a text. When it returns a
// problem, only Text of the expression is valid: the part of the text to skip.
func parseExpression(text string) (*Expr, *Problem) {
	e := &Expr{Text: text}
	closed := strings.IndexByte(text, '}')
	if closed >= 0 {
		e.Text = text[:closed+1]
	}
	if form := otherForm.FindString(text); form != "" {
		return e, explainForm(e.Text)
	}
	path := scanPath(text, 2, 0)
	if problem := e.setPath(path, text); problem != nil {
		return e, problem
	}
	at := path.end
	if path.problem == nil && at > closed { // a key in quotes may hold a brace
		if closed = strings.IndexByte(text[at:], '}'); closed >= 0 {
			closed += at
			e.Text = text[:closed+1]
		}
	}
	switch {
	case closed < 0:
		return e, &Problem{Message: fmt.Sprintf("%q has no end", Short(text)), Suggestion: `end it with "}"`}
	case path.problem != nil:
		return e, path.problem
	case strings.HasPrefix(text[at:], ":-"):
		if e.Default, e.HasDefault = text[at+2:closed], true; HasExpression(e.Default) {
			return e, &Problem{Message: fmt.Sprintf("%q has an expression in its default", Short(e.Text)), Suggestion: "a default is plain text: declare a var whose default is the other expression"}
		}
	case at != closed:
		return e, e.explainRest(text[at:closed])
	}
	if slices.Contains(path.names, "") {
		return e, &Problem{Message: fmt.Sprintf("%q lacks a name", Short(e.Text)), Suggestion: "write a name after each dot"}
	}
	return e, nil
}

// brackets matches a key in brackets.
var brackets = regexp.MustCompile(`\[["']([A-Za-z0-9_-]+)["']\]`)

// explainForm returns the problem of an expression in the form of other tools.
func explainForm(text string) *Problem {
	inner := strings.TrimSuffix(strings.TrimPrefix(text, "${"), "}")
	right := "${" + brackets.ReplaceAllString(strings.TrimSpace(inner), ".$1") + "}"
	return &Problem{Message: fmt.Sprintf("%q is not an expression", Short(text)), Suggestion: fmt.Sprintf("write %s, or $%s for the text itself", Short(right), Short(text))}
}

// foreignRoots maps other tools' names to the roots.
var foreignRoots = map[string]string{"facts": "host", "grains": "host", "data": "var", "vars": "var", "values": "var", "environ": "env", "environment": "env", "item": "each"}

// setPath sets the root and the path of the expression.
func (e *Expr) setPath(path path, text string) *Problem {
	names := path.names
	if names[0] == raw && len(names) > 1 {
		e.Raw, names = true, names[1:]
	}
	e.Root, e.Path = names[0], names[1:]
	for i, key := range path.keys {
		if e.Keys == nil {
			e.Keys = map[int]*Expr{}
		}
		e.Keys[i-len(path.names)+len(e.Path)] = key
	}
	written, _, _ := strings.Cut(text, ".")
	switch known := slices.Contains(Roots, e.Root); {
	case !known && e.Raw:
		return &Problem{Message: fmt.Sprintf("%q needs a root", Short(e.Text)), Suggestion: "write ${raw.var.NAME}"}
	case !known:
		meant := foreignRoots[strings.ToLower(e.Root)]
		if meant == "" {
			meant = spelling.Suggest(e.Root, Roots)
		}
		suggestion := fmt.Sprintf("values begin with %s; write $%s. for the text itself", strings.Join(Roots, ", "), written)
		if meant != "" && e.Root != meant {
			suggestion = fmt.Sprintf("did you mean \"${%s.…}\"? Write $%s. for the text itself", meant, written)
		}
		return &Problem{Message: fmt.Sprintf("unknown value %q", written+".…}"), Suggestion: suggestion}
	case len(e.Path) == 0 || e.Keys[0] != nil:
		return &Problem{Message: fmt.Sprintf("%q lacks a name", Short(e.Text)), Suggestion: fmt.Sprintf("write ${raw.%s.NAME}", e.Root)}
	}
	return nil
}

// explainRest returns the problem of the text between a path and the closing brace.
func (e *Expr) explainRest(rest string) *Problem {
	path := strings.Join(append([]string{e.Root}, e.Path...), ".")
	suggestion := fmt.Sprintf("write names with dots between them, as in ${%s}, or [host.NAME] for a key, and :-TEXT after them for a default", path)
	switch {
	case strings.HasPrefix(rest, ":=") || strings.HasPrefix(rest, ":?") || strings.HasPrefix(rest, ":"):
		suggestion = fmt.Sprintf("write ${%s:-%s} for a default", path, strings.TrimLeft(rest, ":=?+"))
	}
	return &Problem{Message: fmt.Sprintf("%q is not a path", Short(e.Text)), Suggestion: suggestion}
}

// Short returns a text for messages: the beginning of a long one.
func Short(text string) string {
	const limit = 60
	if runes := []rune(text[:min(len(text), (limit+1)*utf8.UTFMax)]); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return text
}
