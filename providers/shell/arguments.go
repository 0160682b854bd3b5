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
var rereadingCommands = map[string]*reason{
	"eval": &inText, "trap": &inText, "alias": &inText, "let": &inArithmetic,
	"complete": &inText, "compgen": &inText, "bind": &inText, "fc": &inText, "functions": &inText, "sched": &inText,
	"declare": &inDeclaration, "typeset": &inDeclaration, "nameref": &inDeclaration, "integer": &inDeclaration,
	"unset": &inName, "read": &inName, "mapfile": &inName, "readarray": &inName, "getopts": &inName,
}

// assigns are the commands whose arguments are NAME=VALUE.
var assigningCommands = []string{"export", "readonly", "local"}

// assigned matches what stands in front of the value in an argument of assigns.
var assignmentPrefix = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)

// argument says why a command does not keep hole n as data in its arguments.
func (w *walker) checkArgument(n int, parent, child syntax.Node) *reason {
	switch p := parent.(type) {
	case *syntax.DeclClause:
		switch {
		case !slices.Contains(assigningCommands, p.Variant.Value):
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
			words[k] = literalText(word)
		}
		for i > 0 && (words[0] == "command" || words[0] == "builtin" || strings.HasPrefix(words[0], "-")) {
			words, i = words[1:], i-1 // the command behind them
		}
		return w.checkCall(words, i, w.text[child.Pos().Offset():w.at[n]])
	}
	return nil
}

// call judges argument i of a command, or its name, by the other words and by
// what stands in front of the value in it.
func (w *walker) checkCall(words []string, i int, front string) *reason {
	if i == 0 {
		return nil
	}
	name, before := words[0], words[i-1]
	testing := name == "test" || name == "[" || name == "[["
	switch {
	case rereadingCommands[name] != nil:
		return rereadingCommands[name]
	case slices.Contains(assigningCommands, name) && !assignmentPrefix.MatchString(front),
		name == "printf" && (before == "-v" || i == 1 && strings.HasPrefix(front, "-v")),
		testing && (before == "-v" || before == "-R"):
		return &inName
	case testing && (strings.HasPrefix(before, standIn) || strings.HasPrefix(before, model.PlaceholderByte)):
		return &inTest
	case name == "printf" && i == 1 && strings.Trim(front, `"'`) == "":
		return &inFormat
	case testing && w.language == syntax.LangMirBSDKorn && (isComparison(before) || i+1 < len(words) && isComparison(words[i+1])):
		return &inArithmetic // ksh evaluates the operands of [ as well
	}
	for k, word := range words[:i] {
		if languages[path.Base(word)] != nil && readsText(words[k+1:i]) {
			return &inText
		}
	}
	return nil
}

func isComparison(operator string) bool {
	return slices.Contains([]string{"-eq", "-ne", "-lt", "-le", "-gt", "-ge"}, operator)
}

// literal returns what a word is to the shell as far as it is written out.
func literalText(word *syntax.Word) string {
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
