package manifests

import (
	"fmt"
	"strings"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/spelling"
	"github.com/settle-cm/settle/model/value"
)

// give gives the variables what comes for them from outside, each source over
// the one before, and says what is wrong with it and with the defaults.
func (l *loader) give() {
	l.giveFlags()
	l.giveFiles()
	if len(l.vars) == 0 {
		return
	}
	l.giveEnvironment()
	for _, name := range l.varNames {
		v := l.vars[name]
		s := scope{l: l, property: "vars"}
		switch {
		case v.given == nil && v.required:
			if !l.unread {
				s.refuse(v.pos, fmt.Sprintf("the variable %s is required and not given", name), fmt.Sprintf("give it with --var %s=…", name))
			}
			v.wrong = true
		case v.given != nil || v.fallback == nil || !expressive(v.fallback):
			l.find(v)
		default:
			l.chase(v)
		}
	}
}

// giveFlags takes over --var.
func (l *loader) giveFlags() {
	for _, g := range l.src.Vars {
		pos := model.Pos{File: "--var"}
		if v := l.declaredVar(g.Key, pos); v != nil {
			l.hand(v, g.Text, "--var "+g.Key, pos)
		}
	}
}

// giveFiles takes over the --var-files.
func (l *loader) giveFiles() {
	for _, f := range l.src.VarFiles {
		for key, n := range l.valueFile(f) {
			pos := model.Pos{File: f.Path, Line: key.Line, Column: key.Column}
			v := l.declaredVar(key.Value, pos)
			if v == nil {
				continue
			}
			pos.Line, pos.Column = n.Line, n.Column
			if given, ok := l.data(f.Path, n); ok {
				l.hand(v, given, f.Path, pos)
			} else {
				v.wrong = true
			}
		}
	}
}

// giveEnvironment takes over SETTLE_VAR_…, and warns where that is a surprise.
func (l *loader) giveEnvironment() {
	const prefix = "SETTLE_VAR_"
	for _, pair := range l.src.Environ {
		key, text, ok := strings.Cut(pair, "=")
		name, ours := strings.CutPrefix(key, prefix)
		if !ok || !ours {
			continue
		}
		pos := model.Pos{File: key}
		v := l.vars[name]
		if v == nil {
			if meant, _ := spelling.Closest(name, l.varNames, 2); meant != "" {
				l.warning(model.Problem{Pos: pos, Property: "vars", Message: "no variable is called " + name, Suggestion: entry.DidYouMean(prefix + meant)})
			}
			continue
		}
		if before, by := v.given, v.by; before != nil && value.Show(before) != text {
			l.warning(model.Problem{Pos: pos, Property: "vars", Message: fmt.Sprintf("%s goes over %s", key, by), Suggestion: "unset it if that is not meant"})
		}
		l.hand(v, text, key, pos)
	}
}

// hand gives a variable a value from outside: a text, or what a file says.
func (l *loader) hand(v *variable, given any, by string, pos model.Pos) {
	if v.secret {
		l.hide(given)
	}
	v.given, v.by, v.at = given, by, pos
}

// declaredVar returns the variable of a name, nil after saying that there is none.
func (l *loader) declaredVar(name string, pos model.Pos) *variable {
	if v := l.vars[name]; v != nil {
		return v
	}
	if l.partial || l.src.Elsewhere != nil && l.src.Elsewhere(name) { // where it may be declared
		return nil
	}
	suggestion := "declare it under vars"
	if meant := spelling.Suggest(name, l.varNames); meant != "" {
		suggestion = entry.DidYouMean(meant)
	}
	l.problem(model.Problem{Pos: pos, Property: "vars", Message: fmt.Sprintf("the manifest declares no variable %q", name), Suggestion: suggestion})
	return nil
}
