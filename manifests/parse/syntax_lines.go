package parse

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/settle-cm/settle/manifests/entry"
)

var blockMark = entry.Pattern(`[|>]`)

// findTextAfterBlock finds text behind the mark of a block scalar.
func (f *fault) findTextAfterBlock() finding {
	line := f.lineAt(max(1, f.line))
	m := blockMark().FindStringIndex(line)
	if m == nil {
		return finding{}
	}
	return finding{max(1, f.line), column(line, m[0]), fmt.Sprintf("text right after %q", line[m[0]:m[1]]), "put it on the next line, indented; quote a value that begins with it"}
}

// maxKey is the longest key, in characters, that YAML allows on the line of its value.
const maxKey = 1024

const (
	longKey    = "a name of more than 1,024 characters"
	shorterKey = "give it a short name and use command:"
)

// findLongKey finds a name that is too long to be a key.
func (f *fault) findLongKey() finding {
	for _, n := range []int{f.line, f.at, f.at - 1} {
		if key, _, ok := strings.Cut(f.lineAt(n)+" ", ": "); ok && utf8.RuneCountInString(key) > maxKey {
			return finding{n, 0, longKey, shorterKey}
		}
	}
	return finding{}
}

var secondColon = entry.Pattern(`^[ ]*(?:- +)*[^ ].*?: +.*?(:)(?: |$)`)

// findSecondColon finds a colon inside an unquoted value.
func (f *fault) findSecondColon() finding {
	n := max(1, f.line)
	line := f.lineAt(n)
	m := secondColon().FindStringSubmatchIndex(line)
	if m == nil {
		return finding{}
	}
	return finding{n, column(line, m[2]), `": " in a value that is not quoted`, `a value with ": " must be quoted as a whole, or written on the next line after "|"`}
}

var (
	hasKey   = entry.Pattern(`:( |$)`)
	isDashed = entry.Pattern(`^ *- `)
	comment  = entry.Pattern(`(^| )#.*`)
)

// maxCommentLines is how many comments and empty lines are passed over in a search.
const maxCommentLines = 10_000

// findMissingColon finds a line of text where a key was meant.
func (f *fault) findMissingColon() finding {
	n := f.at
	if strings.Contains(f.says, "mapping values") {
		n = max(1, f.line) - 1
	} else if above := f.lineAt(n - 1); !hasKey().MatchString(above) && indent(above) < indent(f.lineAt(n-2)) {
		n-- // text that fell out of the block above it goes on up to the next key
	}
	for first := n - maxCommentLines; n > max(0, first); n-- {
		line := strings.TrimRight(comment().ReplaceAllString(f.lineAt(n), ""), " ")
		switch {
		case line == "":
			continue
		case hasKey().MatchString(line), isDashed().MatchString(line) && !strings.Contains(f.says, "mapping values"):
			return finding{}
		}
		text := strings.TrimLeft(line, " -")
		if len(text) > 40 {
			text = text[:strings.LastIndexByte(text[:40], ' ')+1] + "…"
		}
		return finding{n, 1 + indent(line), fmt.Sprintf("%q is neither a key nor part of the value above", text),
			"end it with a colon if it is a key; indent it deeper than the key if it is text"}
	}
	return finding{}
}

// findCutValue finds a value that goes on after a comment has ended it.
func (f *fault) findCutValue() finding {
	for n := f.at; n > f.at-2 && n > 0; n-- {
		line := f.lineAt(n)
		if m := comment().FindStringIndex(line); m != nil && strings.TrimSpace(line[:m[0]]) != "" {
			return finding{n, column(line, m[0]) + 1, `" #" begins a comment: it ends the value`, "quote the whole value if it is part of it"}
		}
	}
	return finding{}
}

// findInlineDash reports a list that begins on the line of its key.
func (f *fault) findInlineDash() finding {
	n := max(1, f.line)
	return finding{n, 0, "a list cannot begin on the line of its key", "put the dash on the next line"}
}

// findIndent reports a line whose indentation fits none of the lines above.
func (f *fault) findIndent() finding {
	n := f.at
	if strings.Contains(f.says, "mapping values") {
		n = max(1, f.line)
	}
	return finding{n, 0, "the indentation fits none of the lines above", "align it with the lines that it belongs to"}
}

// findPercent finds a line that YAML reads as a directive.
func (f *fault) findPercent() finding {
	for n := 1; n <= f.at; n++ {
		if line := f.lineAt(n); strings.HasPrefix(line, "%YAML") {
			return finding{n, 1, "the manifest says which YAML it is", "take this line out"}
		} else if strings.HasPrefix(line, "%") {
			return finding{n, 1, `a line cannot begin with "%"`, "quote the value"}
		}
	}
	return finding{}
}

// describeUnknown matches every fault. It is the last rule.
func (f *fault) describeUnknown() finding {
	return finding{f.at, 0, "not valid YAML here", "quote values with special characters"}
}

func (f *fault) findUnknownAnchor() finding {
	_, name, _ := strings.Cut(f.says, "'")
	name, _, _ = strings.Cut(name, "'")
	at := strings.LastIndex(f.text.All[:f.end], "*"+name)
	line, column := f.text.Place(max(0, at))
	return finding{line, column, fmt.Sprintf("*%s stands for nothing: there is no &%s before it", name, name), `quote a value that begins with "*"`}
}

// inBracketsBare finds an expression that begins a value between brackets.
var inBracketsBare = entry.Pattern(`(?:^|[^$])[\[{](?:.*[\[{,:])? *(\$\{[A-Za-z_][A-Za-z0-9_]*\.)`)

// findBareExpression finds an unquoted expression between brackets. YAML reads
// its brace as the start of a map there.
func (f *fault) findBareExpression() finding {
	for n := f.at; n > f.at-3 && n > 0; n-- {
		line := f.lineAt(n)
		if len(line) > entry.MaxLine {
			continue
		}
		bare := closedQuotes().ReplaceAllStringFunc(line, func(text string) string { return strings.Repeat(" ", len(text)) })
		if m := inBracketsBare().FindStringSubmatchIndex(bare); m != nil {
			expression, _, _ := strings.Cut(line[m[2]:], "}")
			return finding{n, column(line, m[2]), expression + "} must be quoted inside { } and [ ]", fmt.Sprintf(`write the whole value in quotes, such as "%s}"`, expression)}
		}
	}
	return finding{}
}

// puppetReference matches a reference as Puppet writes it, such as Exec[a].
var puppetReference = entry.Pattern(`(?:^|[ ,\[{])([A-Z][a-z_]+)\[ *['"]?([^\[\]'"]+?)['"]? *\]`)

// findPuppetReference finds an unquoted reference in the form of Puppet. YAML reads
// its bracket as the start of a list inside of brackets.
func (f *fault) findPuppetReference() finding {
	for n := f.at + 1; n > f.at-3 && n > 0; n-- {
		line := f.text.Line(n)
		if len(line) > entry.MaxLine {
			continue
		}
		if m := puppetReference().FindStringSubmatchIndex(line); m != nil {
			typ, name := line[m[2]:m[3]], line[m[4]:m[5]]
			return finding{n, column(line, m[2]), fmt.Sprintf(`"%s[%s]" is a reference of Puppet`, typ, name), fmt.Sprintf("write %s#%s", strings.ToLower(typ), name)}
		}
	}
	return finding{}
}
