package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/settle-cm/settle/model"
)

// rereads are the commands of a shell itself that read their arguments as shell
// text, or as names of variables, whose subscripts may hold commands. What other
// programs make of an argument is theirs.
var rereads = map[string]*reason{
	"eval": &inText, "trap": &inText, "alias": &inText, "let": &inArithmetic,
	"complete": &inText, "compgen": &inText, "bind": &inText, "fc": &inText, "functions": &inText, "sched": &inText,
	"declare": &inDeclaration, "typeset": &inDeclaration, "nameref": &inDeclaration, "integer": &inDeclaration,
	"unset": &inName, "read": &inName, "mapfile": &inName, "readarray": &inName, "getopts": &inName,
}

// assigns are the commands whose arguments are NAME=VALUE.
var assigns = []string{"export", "readonly", "local"}

// assigned matches what stands in front of the value in an argument of assigns.
var assigned = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)

// argument says why a command does not keep hole n as data in its arguments.
func (w *walker) argument(n int, parent, child syntax.Node) *reason {
	switch p := parent.(type) {
	case *syntax.DeclClause:
		switch {
		case !slices.Contains(assigns, p.Variant.Value):
			return &inDeclaration
		case slices.ContainsFunc(p.Args, func(a *syntax.Assign) bool { return a.Name == nil }):
			return &inDeclaration // options, or what may become some
		}
	case *syntax.CallExpr:
		i := slices.IndexFunc(p.Args, func(word *syntax.Word) bool { return word == child })
		if i < 0 {
			return nil // an assignment
		}
		words := make([]string, len(p.Args))
		for k, word := range p.Args {
			words[k] = literal(word)
		}
		for i > 0 && (words[0] == "command" || words[0] == "builtin" || strings.HasPrefix(words[0], "-")) {
			words, i = words[1:], i-1 // the command behind them
		}
		return w.call(words, i, w.text[child.Pos().Offset():w.at[n]])
	}
	return nil
}

// call judges argument i of a command, or its name, by the other words and by
// what stands in front of the value in it.
func (w *walker) call(words []string, i int, front string) *reason {
	if i == 0 {
		return nil
	}
	name, before := words[0], words[i-1]
	testing := name == "test" || name == "[" || name == "[["
	switch {
	case rereads[name] != nil:
		return rereads[name]
	case slices.Contains(assigns, name) && !assigned.MatchString(front),
		name == "printf" && (before == "-v" || i == 1 && strings.HasPrefix(front, "-v")),
		testing && (before == "-v" || before == "-R"):
		return &inName
	case testing && (strings.HasPrefix(before, standIn) || strings.HasPrefix(before, model.PlaceholderByte)):
		return &inTest
	case name == "printf" && i == 1 && strings.Trim(front, `"'`) == "":
		return &inFormat
	case testing && w.language == syntax.LangMirBSDKorn && (compares(before) || i+1 < len(words) && compares(words[i+1])):
		return &inArithmetic // ksh evaluates the operands of [ as well
	}
	for k, word := range words[:i] {
		if languages[path.Base(word)] != nil && takesText(words[k+1:i]) {
			return &inText
		}
	}
	return nil
}

func compares(operator string) bool {
	return slices.Contains([]string{"-eq", "-ne", "-lt", "-le", "-gt", "-ge"}, operator)
}

// literal returns what a word is to the shell as far as it is written out.
func literal(word *syntax.Word) string {
	var b strings.Builder
	add := func(parts []syntax.WordPart) {
		for _, part := range parts {
			switch part := part.(type) {
			case *syntax.Lit:
				b.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
			case *syntax.SglQuoted:
				b.WriteString(part.Value)
			default:
				b.WriteString(model.PlaceholderByte) // anything
			}
		}
	}
	for _, part := range word.Parts {
		if quoted, ok := part.(*syntax.DblQuoted); ok {
			add(quoted.Parts)
		} else {
			add([]syntax.WordPart{part})
		}
	}
	return b.String()
}
