package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/settle-cm/settle/model"
)

// reason says why a value may not stand in a place, and what to do instead. NAME
// and RAW in it are replaced by what the expression needs.
type reason struct{ where, way string }

const (
	useEnvironment = "ENVIRONMENT"
	useRaw         = "write RAW if a value may be part of the command itself"
)

var (
	inComment    = reason{"in a comment, which a newline would end", "take it out"}
	inHeredoc    = reason{"in a here-document", useEnvironment}
	inBackquotes = reason{"in backquotes", "write $(…) for them"}
	inArithmetic = reason{"in arithmetic, where a text can be made to run commands", "write RAW where it is a number and nothing else: declare it with type: int"}
	inParameter  = reason{"in a parameter expansion", useEnvironment}
	inName       = reason{"in a name", useRaw}
	inDollar     = reason{"in quotes with a $ in front", "take the $ away"}
	inGlob       = reason{"in an extended glob", useEnvironment}
	behindEscape = reason{`behind a \`, "take the \\ away, or write $EXPR for the text itself"}
	behindTilde  = reason{"behind a ~, which then means no home directory", "write the home directory out"}
	// bash expands what its quotes have already been taken from, where it is no number
	behindDuplicate = reason{"behind >& or <&, which bash reads twice", "write > EXPR 2>&1 for a file, RAW for a number"}
	inDeclaration   = reason{"where declare may evaluate it", "assign it first, as NAME=EXPR, and declare it without a value"}
	inTest          = reason{"in a test behind what may turn out to be an operator", "write the operator out"}
	inFormat        = reason{"where printf reads its format and its options", "write printf '%s' EXPR"}
	inText          = reason{"in a text that is read as a command again", "write the text without it and give it as an argument: sh -c 'echo \"$1\"' sh EXPR"}
)

// newPlaceError returns the error for placeholder n, which cannot be filled.
func (f *form) newPlaceError(n int, why reason) error {
	h := f.placeholders[n]
	way := strings.NewReplacer("EXPR", h.Expr, "RAW", strings.Replace(h.Expr, "${", "${raw.", 1),
		useEnvironment, environment(h, `as "$NAME" there`)).Replace(why.way)
	return model.NewAdvice(h.Expr+" stands "+why.where+": its value cannot be kept as data there", way)
}

// environment returns the advice that fits most places.
func environment(h model.Placeholder, how string) string {
	return "set environment: {NAME: " + h.Expr + "} and write it " + how
}

// walker finds the place of each placeholder in a parsed text.
type walker struct {
	*form
	language syntax.LangVariant
	stack    []syntax.Node // from the file down to the current node
	found    []place
	seen     []bool
	err      error // the first placeholder that is refused, in the order of the text
	first    int   // its number
}

// visit looks at one node. The parser calls it with nil at the end of a node.
func (w *walker) visit(node syntax.Node) bool {
	if node == nil {
		w.stack = w.stack[:len(w.stack)-1]
		return true
	}
	switch leaf := node.(type) {
	case *syntax.Lit, *syntax.SglQuoted, *syntax.Comment:
		start, end := int(leaf.Pos().Offset()), int(leaf.End().Offset())
		n, _ := slices.BinarySearch(w.at, start)
		for ; n < len(w.at) && w.at[n] < end; n++ {
			w.judgePlaceholder(n, leaf)
		}
	}
	w.stack = append(w.stack, node)
	return true
}

// judgePlaceholder finds the place of placeholder n, which is inside the leaf.
func (w *walker) judgePlaceholder(n int, leaf syntax.Node) {
	p, why := w.placeOf(n, leaf)
	w.found[n], w.seen[n] = p, true
	if why != nil && (w.err == nil || n < w.first) {
		w.err, w.first = w.newPlaceError(n, *why), n
	}
}

func (w *walker) placeOf(n int, leaf syntax.Node) (place, *reason) {
	p, up := place{}, w.stack
	switch leaf := leaf.(type) {
	case *syntax.Comment:
		return p, &inComment
	case *syntax.SglQuoted:
		if leaf.Dollar {
			return p, &inDollar
		}
		p.quotes = '\''
	case *syntax.Lit:
		parent := up[len(up)-1]
		if name, ok := parent.(*syntax.ParamExp); ok && w.extendsName(n, leaf, name) {
			up = up[:len(up)-1]
			parent, p.apart = up[len(up)-1], true
		}
		switch parent := parent.(type) {
		case *syntax.Word:
			p.apart = false // the quotes of the value keep it apart
			if why := w.checkFront(n, leaf, parent); why != nil {
				return p, why
			}
		case *syntax.DblQuoted:
			p.quotes = '"'
			p.apart = p.apart || w.followsParameter(n, parent)
			if w.isEscaped(n, leaf) {
				return p, &behindEscape
			}
		}
	}
	return p, w.checkAncestors(n, up, leaf)
}

// extendsName reports whether placeholder n directly follows the name in $NAME: the
// stand-in word has then only made the name longer.
func (w *walker) extendsName(n int, leaf *syntax.Lit, p *syntax.ParamExp) bool {
	return p.Param == leaf && p.Short && p.Index == nil && p.Dollar.IsValid() && !p.Length &&
		plainName.MatchString(w.text[p.Dollar.Offset():w.at[n]])
}

var plainName = regexp.MustCompile(`^\$[A-Za-z_][A-Za-z0-9_]*$`)

// followsParameter reports whether a parameter without braces precedes placeholder
// n in its double quotes. Where such a parameter ends depends on the next bytes, in
// zsh also on later ones.
func (w *walker) followsParameter(n int, quoted *syntax.DblQuoted) bool {
	for _, part := range quoted.Parts {
		p, ok := part.(*syntax.ParamExp)
		if ok && p.Short && int(p.Pos().Offset()) < w.at[n] && (int(p.End().Offset()) >= w.at[n] || w.language == syntax.LangZsh) {
			return true
		}
	}
	return false
}

// checkFront says why the text before placeholder n, outside quotes, would change the value's meaning.
func (w *walker) checkFront(n int, leaf *syntax.Lit, word *syntax.Word) *reason {
	front := w.text[word.Pos().Offset():w.at[n]]
	switch {
	case w.isEscaped(n, leaf):
		return &behindEscape
	case strings.HasPrefix(front, "~") && !strings.Contains(front, "/"):
		return &behindTilde
	}
	return nil
}

// isEscaped reports whether a backslash escapes the byte at placeholder n.
func (w *walker) isEscaped(n int, leaf *syntax.Lit) bool {
	front := w.text[leaf.Pos().Offset():w.at[n]]
	return (len(front)-len(strings.TrimRight(front, `\`)))%2 == 1
}

// checkAncestors says why a node around the leaf refuses placeholder n. It goes
// from the inside out.
func (w *walker) checkAncestors(n int, up []syntax.Node, child syntax.Node) *reason {
	sub := false // inside a substitution the outer command's arguments do not matter
	for _, parent := range slices.Backward(up) {
		if why := checkPart(parent, child); why != nil {
			return why
		}
		if !sub {
			if why := w.checkArgument(n, parent, child); why != nil {
				return why
			}
		}
		switch parent.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			sub = true
		}
		child = parent
	}
	return nil
}

// checkPart says why the child of a node is no place for a value; nil where it is one.
func checkPart(parent, child syntax.Node) *reason {
	if isTransparent(parent) {
		return nil
	}
	is := func(node syntax.Node) bool { return child == node }
	switch p := parent.(type) {
	case *syntax.DblQuoted:
		return reasonIf(p.Dollar, &inDollar)
	case *syntax.CmdSubst:
		return reasonIf(p.Backquotes || p.TempFile || p.ReplyVar, &inBackquotes)
	case *syntax.WordIter, *syntax.CoprocClause, *syntax.FuncDecl:
		return reasonIf(isDeclaredName(parent, child), &inName)
	case *syntax.Assign:
		return checkAssign(p, child)
	case *syntax.ArrayElem:
		return reasonIf(!is(p.Value), &inArithmetic)
	case *syntax.Redirect:
		return checkRedirect(p, child)
	case *syntax.UnaryTest:
		return reasonIf(p.Op == syntax.TsVarSet || p.Op == syntax.TsRefVar, &inName)
	case *syntax.BinaryTest:
		return reasonIf(p.Op >= syntax.TsEql && p.Op <= syntax.TsGtr, &inArithmetic)
	case *syntax.ParamExp:
		return &inParameter
	case *syntax.ExtGlob:
		return &inGlob
	}
	return &inArithmetic // every remaining node evaluates numbers
}

// isTransparent reports whether a node keeps all its parts as they are.
func isTransparent(node syntax.Node) bool {
	switch node.(type) {
	case *syntax.File, *syntax.Stmt, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.BinaryCmd,
		*syntax.Subshell, *syntax.Block, *syntax.CaseClause, *syntax.CaseItem, *syntax.CallExpr, *syntax.DeclClause,
		*syntax.Word, *syntax.ArrayExpr, *syntax.TestClause, *syntax.ParenTest, *syntax.ProcSubst, *syntax.TimeClause:
		return true
	}
	return false
}

// isDeclaredName reports whether a child is the name that its clause declares.
func isDeclaredName(parent, child syntax.Node) bool {
	switch p := parent.(type) {
	case *syntax.WordIter:
		return child == p.Name
	case *syntax.CoprocClause:
		return child != p.Stmt
	case *syntax.FuncDecl:
		return child != p.Body
	}
	return false
}

// checkAssign refuses everything in an assignment but the value after its =.
func checkAssign(p *syntax.Assign, child syntax.Node) *reason {
	value := !p.Naked && (p.Value != nil && child == p.Value || p.Array != nil && child == p.Array)
	return reasonIf(!value, &inName)
}

func checkRedirect(p *syntax.Redirect, child syntax.Node) *reason {
	switch p.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		return &inHeredoc
	case syntax.DplIn, syntax.DplOut:
		return &behindDuplicate
	}
	return reasonIf(child != p.Word, &inName)
}

func reasonIf(is bool, why *reason) *reason {
	if is {
		return why
	}
	return nil
}
