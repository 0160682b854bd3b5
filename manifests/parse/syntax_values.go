package parse

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/settle-cm/settle/manifests/entry"
)

var leadingTab = entry.Pattern(`^[ -]*(\t)`)

// findTab finds a tab in the indentation.
func (f *fault) findTab() finding {
	if !strings.Contains(f.says, "tab character") && !strings.Contains(f.says, "cannot start") &&
		!strings.Contains(f.says, "expected") && !strings.Contains(f.says, "not allowed") {
		return finding{}
	}
	blank := finding{}
	last := f.at + 1
	for f.end == len(f.text.All) && strings.Trim(f.lineAt(last), " \t") == "" && last < f.at+100 {
		last++ // at the end of the file there may be blank lines before the tab
	}
	for n := last; n >= f.at-1; n-- {
		m := leadingTab().FindStringSubmatchIndex(f.lineAt(n))
		if m == nil {
			continue
		}
		found := finding{n, m[2] + 1, "a tab in the indentation", "use spaces"}
		if strings.TrimSpace(f.lineAt(n)) != "" {
			return found
		}
		blank = found
	}
	return blank
}

var (
	afterQuotes   = entry.Pattern(`(?:^|[:,\[{-])[ ]+(?:"(?:\\.|[^"\\])*"|'(?:[^']|'')*')[ ]*([^\s,\]}#:])`)
	afterBrackets = entry.Pattern(`[:-][ ]+[\[{].*[\]}][ ]*([^\s,\]}#:])`)
)

// findTextAfterValue finds text behind the end of a quoted or bracketed value.
func (f *fault) findTextAfterValue() finding {
	if !strings.Contains(f.says, "expected") {
		return finding{}
	}
	for n := f.at; n > f.at-3 && n > 0; n-- {
		line := f.lineAt(n)
		if m := afterQuotes().FindStringSubmatchIndex(line); m != nil {
			return finding{n, column(line, m[2]), "text after the closing quote", "quote the whole value: in single quotes, with '' for each of its own"}
		}
		if m := afterBrackets().FindStringSubmatchIndex(line); m != nil {
			return finding{n, column(line, m[2]), "text after the closing bracket", "quote the whole value if the brackets belong to it"}
		}
	}
	return finding{}
}

// findDepth reports nesting that the library itself refuses.
func (f *fault) findDepth() finding {
	return finding{f.at, 0, fmt.Sprintf("nested deeper than %d levels", entry.MaxDepth), ""}
}

var special = entry.Pattern("(?:^|[ ])([@`%&*])")

// findSpecialStart finds a value that begins with a character that YAML reserves.
func (f *fault) findSpecialStart() finding {
	line := f.lineAt(f.at)
	m := special().FindStringSubmatchIndex(line)
	if m == nil {
		return finding{}
	}
	return finding{f.at, column(line, m[2]), fmt.Sprintf("a value cannot begin with %q", line[m[2]:m[3]]), "quote the whole value"}
}

// findEscape finds a backslash in double quotes that begins no escape of YAML.
func (f *fault) findEscape() finding {
	read := f.text.All[:f.end]
	at := strings.LastIndex(read, `\`)
	if at < 0 || at+1 >= len(f.text.All) {
		return finding{}
	}
	line, column := f.text.Place(at)
	next, _ := utf8.DecodeRuneInString(f.text.All[at+1:])
	message := fmt.Sprintf(`\%c is no escape in double quotes`, next)
	if strings.Contains(f.says, "hexdecimal") {
		message = fmt.Sprintf(`too few hexadecimal digits behind \%c`, next)
	}
	return finding{line, column, message, `write \\ for a backslash, or use single quotes`}
}

// findOpenBracket finds where a list or map in brackets begins that is malformed.
// The library's line is one too low, or that of the end instead of the first line.
func (f *fault) findOpenBracket() finding {
	for _, n := range []int{f.line + 1, f.line, 1} {
		line := f.lineAt(n)
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

// flowKey matches a key between brackets, up to its colon.
var flowKey = entry.Pattern(`(?:^|[{\[,])[ ]*((?:"(?:\\.|[^"\\])*"|'(?:[^']|'')*'|[^ "'{}\[\],][^{}\[\],]*?)[ ]*):(?:[ "'\[{]|$)`)

// findLongFlowKey finds a name between brackets that is too long to be a key.
func (f *fault) findLongFlowKey() finding {
	for n := f.at; n > f.at-3 && n > 0; n-- {
		line := f.lineAt(n)
		for _, m := range flowKey().FindAllStringSubmatchIndex(line, -1) {
			if utf8.RuneCountInString(line[m[2]:m[3]]) > maxKey {
				return finding{n, column(line, m[2]), longKey, shorterKey}
			}
		}
	}
	return finding{}
}

// findOpenQuote finds where a quoted text begins that has no end: at the first quote
// in the line behind those that are closed there.
func (f *fault) findOpenQuote() finding {
	for _, n := range []int{f.line, 1} {
		line := f.lineAt(n)
		rest := closedQuotes().ReplaceAllStringFunc(line, func(text string) string { return strings.Repeat(" ", len(text)) })
		if at := strings.IndexAny(rest, `"'`); at >= 0 {
			return finding{n, column(line, at), "a quote that is not closed", "close it, or put the whole value in the other quotes"}
		}
	}
	return finding{}
}

var closedQuotes = entry.Pattern(`"(?:\\.|[^"\\])*"|'(?:[^']|'')*'`)

// findTag finds a value whose exclamation mark YAML reads as a tag.
func (f *fault) findTag() finding {
	line := f.lineAt(f.at)
	if at := strings.Index(line, "!"); at >= 0 {
		return finding{f.at, column(line, at), `a value cannot begin with "!"`, "quote the whole value"}
	}
	return finding{}
}

// findTextAfterEnd finds text that follows the end mark of a document.
func (f *fault) findTextAfterEnd() finding {
	for n := f.at; n > 0; n-- {
		if strings.TrimRight(f.lineAt(n), " ") == "..." {
			return finding{n, 1, `"..." ends the manifest, and more follows`, "take it out"}
		}
	}
	return finding{}
}
