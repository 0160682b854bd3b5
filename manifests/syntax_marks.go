package manifests

import (
	"fmt"
	"strings"
)

func (f *fault) anchor() finding {
	_, name, _ := strings.Cut(f.says, "'")
	name, _, _ = strings.Cut(name, "'")
	at := strings.LastIndex(f.text.string[:f.end], "*"+name)
	line, column := f.text.place(max(0, at))
	return finding{line, column, fmt.Sprintf("*%s stands for nothing: there is no &%s before it", name, name), `quote a value that begins with "*"`}
}

// inBracketsBare finds an expression that begins a value between brackets.
var inBracketsBare = lazily(`(?:^|[^$])[\[{](?:.*[\[{,:])? *(\$\{[A-Za-z_][A-Za-z0-9_]*\.)`)

// expression finds one between brackets that is not quoted: YAML takes its brace
// for one of its own there.
func (f *fault) expression() finding {
	for n := f.at; n > f.at-3 && n > 0; n-- {
		line := f.text.line(n)
		if len(line) > longLine {
			continue
		}
		bare := closedQuotes().ReplaceAllStringFunc(line, func(text string) string { return strings.Repeat(" ", len(text)) })
		if m := inBracketsBare().FindStringSubmatchIndex(bare); m != nil {
			return finding{n, column(line, m[2]), "an expression between brackets that is not quoted", `put it in quotes: "${…}"`}
		}
	}
	return finding{}
}
