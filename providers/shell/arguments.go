package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/shelltext"
)

// rereadingCommands are the shell builtins that evaluate their arguments as shell
// text, or as names of variables whose subscripts may hold commands. Package shelltext
// knows other programs.
var rereadingCommands = map[string]*reason{
	"eval": &inText, "trap": &inText, "alias": &inText, "let": &inArithmetic,
	"complete": &inText, "compgen": &inText, "bind": &inText, "fc": &inText, "functions": &inText, "sched": &inText,
	"declare": &inDeclaration, "typeset": &inDeclaration, "nameref": &inDeclaration, "integer": &inDeclaration,
	"unset": &inName, "read": &inName, "mapfile": &inName, "readarray": &inName, "getopts": &inName,
}

// assigningCommands are the builtins whose arguments are NAME=VALUE.
var assigningCommands = []string{"export", "readonly", "local"}

// assignmentPrefix matches the part of such an argument before its value.
var assignmentPrefix = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)

// checkArgument says why a command does not treat placeholder n as data.
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
		return w.checkCall(n, words, i, w.text[child.Pos().Offset():w.at[n]])
	}
	return nil
}

// checkCall judges placeholder n in argument i of a command, or its name, by the other words and by
// the text before the value in the same word.
func (w *walker) checkCall(n int, words []string, i int, front string) *reason {
	if i == 0 {
		return nil
	}
	if why := w.checkBuiltin(words, i, front); why != nil {
		return why
	}
	return w.shellText(n, words, i, front)
}

// shellText refuses an argument that another shell reads as text.
func (w *walker) shellText(n int, words []string, i int, front string) *reason {
	program := shelltext.Reader(words, i, strings.TrimLeft(front, `"'`))
	if program == "" {
		return nil
	}
	_, way := shelltext.Advise(program, w.placeholders[n].Expr)
	return &reason{inText.where, way}
}

// checkBuiltin judges argument i of the builtins that do more than read it.
func (w *walker) checkBuiltin(words []string, i int, front string) *reason {
	switch name := words[0]; {
	case rereadingCommands[name] != nil:
		return rereadingCommands[name]
	case slices.Contains(assigningCommands, name) && !assignmentPrefix.MatchString(front):
		return &inName
	case name == "printf":
		return checkPrintf(words, i, front)
	case name == "test" || name == "[" || name == "[[":
		return w.checkTest(words, i)
	}
	return nil
}

// checkPrintf refuses the name behind -v and the format.
func checkPrintf(words []string, i int, front string) *reason {
	switch {
	case words[i-1] == "-v", i == 1 && strings.HasPrefix(front, "-v"):
		return &inName
	case i == 1 && strings.Trim(front, `"'`) == "":
		return &inFormat
	}
	return nil
}

// checkTest refuses names, operands behind a possible operator, and operands that
// ksh evaluates as numbers.
func (w *walker) checkTest(words []string, i int) *reason {
	before := words[i-1]
	switch {
	case before == "-v", before == "-R":
		return &inName
	case strings.HasPrefix(before, standIn), strings.HasPrefix(before, model.PlaceholderByte):
		return &inTest
	case w.language == syntax.LangMirBSDKorn && (isComparison(before) || i+1 < len(words) && isComparison(words[i+1])):
		return &inArithmetic
	}
	return nil
}

func isComparison(operator string) bool {
	return slices.Contains([]string{"-eq", "-ne", "-lt", "-le", "-gt", "-ge"}, operator)
}

// literalText returns the text of a word, with a placeholder for each expansion.
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
