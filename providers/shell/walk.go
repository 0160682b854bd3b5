package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/settle-cm/settle/model"
)

// reason is why a value may not stand somewhere: where that is, and the way out,
// in which NAME and RAW stand for what depends on the expression.
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

// refuse says that hole n cannot be filled.
func (f *form) newPlaceError(n int, why reason) error {
	h := f.placeholders[n]
	way := strings.NewReplacer("EXPR", h.Expr, "RAW", strings.Replace(h.Expr, "${", "${raw.", 1),
		useEnvironment, environment(h, `as "$NAME" there`)).Replace(why.way)
	return &Error{h.Expr + " stands " + why.where + ": its value cannot be kept as data there", way}
}

// environment is the way out that is left in most places.
func environment(h model.Placeholder, how string) string {
	return "set environment: {NAME: " + h.Expr + "} and write it " + how
}

// walker finds the place of each hole in a parsed text.
type walker struct {
	*form
	language syntax.LangVariant
	stack    []syntax.Node // from the file down to what is looked at
	found    []place
	seen     []bool
	err      error // the first hole that is refused, in the order of the text
	first    int   // its number
}

// visit looks at one node. It is called with nil when one has been walked.
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

// hole judges the place of hole n, which is in the leaf.
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

// behindName says whether hole n is what follows the name in $NAME, which the
// stand-in has only made longer.
func (w *walker) extendsName(n int, leaf *syntax.Lit, p *syntax.ParamExp) bool {
	return p.Param == leaf && p.Short && p.Index == nil && p.Dollar.IsValid() && !p.Length &&
		plainName.MatchString(w.text[p.Dollar.Offset():w.at[n]])
}

var plainName = regexp.MustCompile(`^\$[A-Za-z_][A-Za-z0-9_]*$`)

// behindParameter says whether anything in front of hole n in its double quotes
// is a parameter without braces: where that ends is a matter of what follows, in
// zsh also of what does not follow at once.
func (w *walker) followsParameter(n int, quoted *syntax.DblQuoted) bool {
	for _, part := range quoted.Parts {
		p, ok := part.(*syntax.ParamExp)
		if ok && p.Short && int(p.Pos().Offset()) < w.at[n] && (int(p.End().Offset()) >= w.at[n] || w.language == syntax.LangZsh) {
			return true
		}
	}
	return false
}

// behind finds what in front of hole n, in a word outside of quotes, would change its meaning.
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

// escaped says whether a backslash in front of hole n escapes what comes next.
func (w *walker) isEscaped(n int, leaf *syntax.Lit) bool {
	front := w.text[leaf.Pos().Offset():w.at[n]]
	return (len(front)-len(strings.TrimRight(front, `\`)))%2 == 1
}

// above looks for what refuses hole n in the nodes around the leaf, from the inside out.
func (w *walker) checkAncestors(n int, up []syntax.Node, child syntax.Node) *reason {
	sub := false // in a command of its own: what is said of arguments is not said of its
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

// part says why a part of a node is no place for a value: nil where it is one.
func checkPart(parent, child syntax.Node) *reason {
	is := func(node syntax.Node) bool { return child == node }
	switch p := parent.(type) {
	case *syntax.File, *syntax.Stmt, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.BinaryCmd,
		*syntax.Subshell, *syntax.Block, *syntax.CaseClause, *syntax.CaseItem, *syntax.CallExpr, *syntax.DeclClause,
		*syntax.Word, *syntax.ArrayExpr, *syntax.TestClause, *syntax.ParenTest, *syntax.ProcSubst, *syntax.TimeClause:
		return nil
	case *syntax.DblQuoted:
		return reasonIf(p.Dollar, &inDollar)
	case *syntax.CmdSubst:
		return reasonIf(p.Backquotes || p.TempFile || p.ReplyVar, &inBackquotes)
	case *syntax.WordIter:
		return reasonIf(is(p.Name), &inName)
	case *syntax.CoprocClause:
		return reasonIf(!is(p.Stmt), &inName)
	case *syntax.FuncDecl:
		return reasonIf(!is(p.Body), &inName)
	case *syntax.Assign:
		return reasonIf(p.Naked || p.Value == nil && p.Array == nil || !is(p.Value) && !is(p.Array), &inName)
	case *syntax.ArrayElem:
		return reasonIf(!is(p.Value), &inArithmetic)
	case *syntax.Redirect:
		switch p.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			return &inHeredoc
		case syntax.DplIn, syntax.DplOut:
			return &behindDuplicate
		}
		return reasonIf(!is(p.Word), &inName)
	case *syntax.UnaryTest:
		return reasonIf(p.Op == syntax.TsVarSet || p.Op == syntax.TsRefVar, &inName)
	case *syntax.BinaryTest:
		return reasonIf(p.Op >= syntax.TsEql && p.Op <= syntax.TsGtr, &inArithmetic)
	case *syntax.ParamExp:
		return &inParameter
	case *syntax.ExtGlob:
		return &inGlob
	}
	return &inArithmetic // all that is left
}

func reasonIf(is bool, why *reason) *reason {
	if is {
		return why
	}
	return nil
}
