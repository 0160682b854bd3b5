package value

import (
	"fmt"
	"slices"
	"strings"

	"github.com/settle-cm/settle/model/spelling"
)

// Roots are the words that a path may begin with. raw stands before another one.
var Roots = []string{"var", "env", "host", "self", "each"}

const raw = "raw"

// Part is a piece of a text.
type Part struct {
	Text string // what it means; of an expression how it is written
	Expr *Expr  // nil for a piece that is just text
}

// Expr is one expression, ${ROOT.path} or ${ROOT.path:-default}.
type Expr struct {
	Text       string   // as it is written
	Root       string   // one of Roots
	Path       []string // at least one name
	Default    string
	HasDefault bool
	Raw        bool // ${raw.ROOT.path}
}

// Fault is what is wrong with an expression.
type Fault struct{ Message, Suggestion string }

// Has says whether there is anything to do for Parse in a text: it has an
// expression in it, or what escapes one.
func Has(text string) bool {
	start, _ := find(text, 0)
	return start >= 0
}

// Escape returns the text that Parse reads as the given one, without expressions.
func Escape(text string) string {
	var b strings.Builder
	from := 0
	for {
		start, after := find(text, from)
		if start < 0 {
			b.WriteString(text[from:])
			return b.String()
		}
		b.WriteString(text[from:start] + "$" + text[start:after])
		from = after
	}
}

// Parse cuts a text into its parts. An expression is ${ with a word and a dot
// behind it, and one more dollar in front takes its meaning away; nothing else
// in a text means anything.
func Parse(text string) (parts []Part, faults []Fault) {
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			parts = append(parts, Part{Text: literal.String()})
			literal.Reset()
		}
	}
	from := 0
	for {
		start, after := find(text, from)
		if start < 0 {
			break
		}
		if start > from && text[start-1] == '$' {
			literal.WriteString(text[from:start-1] + text[start:after])
			from = after
			continue
		}
		literal.WriteString(text[from:start])
		expr, fault := parse(text[start:])
		from = start + len(expr.Text)
		if fault != nil {
			faults = append(faults, *fault)
			continue
		}
		flush()
		parts = append(parts, Part{Text: expr.Text, Expr: expr})
	}
	literal.WriteString(text[from:])
	flush()
	return parts, faults
}

// find returns where the next ${word. begins, and where it ends; -1 when there
// is none.
func find(text string, from int) (start, after int) {
	for {
		i := strings.Index(text[from:], "${")
		if i < 0 {
			return -1, -1
		}
		start = from + i
		after = start + 2
		for after < len(text) && inWord(text[after], after > start+2) {
			after++
		}
		if after > start+2 && after < len(text) && text[after] == '.' {
			return start, after + 1
		}
		from = start + 2
	}
}

// inWord says whether a letter may stand in the word before the first dot.
func inWord(c byte, digits bool) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || digits && '0' <= c && c <= '9'
}

// inName says whether a letter may stand in a name of a path.
func inName(c byte) bool { return inWord(c, true) || c == '-' }

// IsName says whether a path can lead to a name.
func IsName(name string) bool {
	for i := range len(name) {
		if !inName(name[i]) {
			return false
		}
	}
	return name != ""
}

// parse reads the expression that a text begins with. Where it is wrong, the
// expression's Text is what to leave out.
func parse(text string) (*Expr, *Fault) {
	at := 2
	var names []string
	for {
		end := at
		for end < len(text) && inName(text[end]) {
			end++
		}
		names = append(names, text[at:end])
		if at = end; at >= len(text) || text[at] != '.' {
			break
		}
		at++
	}
	e := &Expr{Text: text}
	closed := strings.IndexByte(text, '}')
	if closed >= 0 {
		e.Text = text[:closed+1]
	}
	if fault := e.root(names, text); fault != nil {
		return e, fault
	}
	switch {
	case closed < 0:
		return e, &Fault{fmt.Sprintf("%q has no end", Short(text)), `end it with "}"`}
	case strings.HasPrefix(text[at:], ":-"):
		if e.Default, e.HasDefault = text[at+2:closed], true; Has(e.Default) {
			return e, &Fault{fmt.Sprintf("%q has an expression in its default", Short(e.Text)), "a default is plain text: declare a var whose default is the other expression"}
		}
	case at != closed:
		return e, e.crooked(text[at:closed])
	}
	if slices.Contains(names, "") {
		return e, &Fault{fmt.Sprintf("%q has a name missing", Short(e.Text)), "write a name behind each dot"}
	}
	return e, nil
}

// theirs are other tools' words for the roots.
var theirs = map[string]string{"facts": "host", "grains": "host", "data": "var", "vars": "var", "values": "var", "environ": "env", "environment": "env", "item": "each"}

// root takes over the names of a path.
func (e *Expr) root(names []string, text string) *Fault {
	if names[0] == raw {
		e.Raw, names = true, names[1:]
	}
	e.Root, e.Path = names[0], names[1:]
	written, _, _ := strings.Cut(text, ".")
	switch known := slices.Contains(Roots, e.Root); {
	case !known && e.Raw:
		return &Fault{fmt.Sprintf("%q takes a whole path", Short(e.Text)), "write ${raw.var.NAME}"}
	case !known:
		meant := theirs[strings.ToLower(e.Root)]
		if meant == "" {
			meant = spelling.Suggest(e.Root, Roots)
		}
		suggestion := fmt.Sprintf("values begin with %s; write $%s. for the text itself", strings.Join(Roots, ", "), written)
		if meant != "" && e.Root != meant {
			suggestion = fmt.Sprintf("did you mean \"${%s.…}\"? Write $%s. for the text itself", meant, written)
		}
		return &Fault{fmt.Sprintf("%q is no value", written+".…}"), suggestion}
	case len(e.Path) == 0:
		return &Fault{fmt.Sprintf("%q is no whole path", Short(e.Text)), fmt.Sprintf("write ${raw.%s.NAME}", e.Root)}
	}
	return nil
}

// crooked says what is wrong with what stands behind a path.
func (e *Expr) crooked(rest string) *Fault {
	path := strings.Join(append([]string{e.Root}, e.Path...), ".")
	suggestion := fmt.Sprintf("write only names with dots between them, as in ${%s}, and :-TEXT behind them for a default", path)
	switch {
	case strings.HasPrefix(rest, "["):
		if index, _, ok := strings.Cut(rest[1:], "]"); ok && IsName(strings.Trim(index, `"'`)) {
			suggestion = fmt.Sprintf("write ${%s.%s}", path, strings.Trim(index, `"'`))
		}
	case strings.HasPrefix(rest, ":=") || strings.HasPrefix(rest, ":?") || strings.HasPrefix(rest, ":"):
		suggestion = fmt.Sprintf("write ${%s:-%s} for a default", path, strings.TrimLeft(rest, ":=?+"))
	}
	return &Fault{fmt.Sprintf("%q is more than a path", Short(e.Text)), suggestion}
}

// Short is a text for messages: of a long one the beginning.
func Short(text string) string {
	const enough = 60
	if runes := []rune(text); len(text) > enough && len(runes) > enough {
		return string(runes[:enough]) + "…"
	}
	return text
}
