package eval

import (
	"fmt"
	"strings"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/spelling"
)

// giveAll gives the variables their values from outside: the environment first,
// then the files of values, then the command line. A later source replaces the value
// of an earlier one. It returns whether a file of values could not be read: it may
// hold more.
func (e *Env) giveAll(in Inputs) (unread bool) {
	if len(e.vars.list) > 0 {
		e.giveEnvironment(in.Environ)
	}
	for _, file := range in.VarFiles {
		f, ok := readValueFile(file, e.sink)
		unread = unread || !ok
		for key, n := range f.pairs() {
			v := e.findDeclared(key.Value, f.Pos(key), in)
			if v == nil {
				continue
			}
			if data, ok := readData(f.File, n, e.sink); ok {
				e.give(v, given{data, f.Path, f.Pos(n)})
			} else {
				v.wrong = true
			}
		}
	}
	for _, g := range in.Vars {
		pos := model.Pos{File: "--var"}
		if v := e.findDeclared(g.Key, pos, in); v != nil {
			e.give(v, given{g.Text, "--var " + g.Key, pos})
		}
	}
	return unread
}

// giveEnvironment gives the values of SETTLE_VAR_NAME. It warns of names that are
// almost those of variables.
func (e *Env) giveEnvironment(environ []string) {
	const prefix = "SETTLE_VAR_"
	for _, pair := range environ {
		key, text, ok := strings.Cut(pair, "=")
		name, ours := strings.CutPrefix(key, prefix)
		if !ok || !ours {
			continue
		}
		pos := model.Pos{File: key}
		if v := e.vars.byName[name]; v != nil {
			e.give(v, given{text, key, pos})
		} else if meant, _ := spelling.Closest(name, e.vars.names, 2); meant != "" {
			e.sink.Warn(model.Problem{Pos: pos, Property: "vars", Message: "no variable is called " + name, Suggestion: entry.DidYouMean(prefix + meant)})
		}
	}
}

// give gives a variable a value. That of a secret is redacted at once, before a
// message can show it.
func (e *Env) give(v *variable, g given) {
	if v.secret {
		e.hide(g.value)
	}
	v.given = g
}

// findDeclared returns the variable of a name that is given, nil after reporting
// an unknown name. It reports nothing where another file may declare it.
func (e *Env) findDeclared(name string, pos model.Pos, in Inputs) *variable {
	if v := e.vars.byName[name]; v != nil {
		return v
	}
	if e.partial || in.Elsewhere != nil && in.Elsewhere(name) {
		return nil
	}
	suggestion := "declare it under vars"
	if meant := spelling.Suggest(name, e.vars.names); meant != "" {
		suggestion = entry.DidYouMean(meant)
	}
	e.sink.Refuse(model.Problem{Pos: pos, Property: "vars", Message: fmt.Sprintf("the manifest declares no variable %q", name), Suggestion: suggestion})
	return nil
}

// checkVariable reports a required variable without a value, and mistakes in the
// value or the default. A default with expressions is not evaluated yet: an
// expression that leads to nothing only matters once the variable is used.
func (e *Env) checkVariable(v *variable, unread bool) {
	switch {
	case v.given.value == nil && len(v.overrides) == 0 && v.required:
		if !unread {
			e.sink.Refuse(newFrame(v.file, "vars").Problem(v.pos, fmt.Sprintf("the variable %s is required and not given", v.name), fmt.Sprintf("give it with --var %s=…", v.name)))
		}
		v.wrong = true
	case v.given.value != nil || !v.hasExpression():
		_, found, _ := e.evaluateVariable(v)
		e.finish(Frame{}, found)
	default:
		e.followDefault(v, nil)
	}
}
