package manifests

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/condition"
	"github.com/settle-cm/settle/model/value"
)

// condition reads a text that is true or false of the machine.
func (s scope) condition(n *yaml.Node) (model.Value, bool) {
	if n.Kind != yaml.ScalarNode || parse.IsNull(n) {
		return s.want(n, model.Condition.String(), `quote it as a whole, in single quotes`)
	}
	s.doubtCut(n, true)
	return s.at(n), true
}

// control reads conditions as CCM has them.
func (s scope) control(n *yaml.Node) (model.Value, bool) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		suggestion := ""
		if n.Kind == yaml.ScalarNode {
			suggestion = "write it under if:, or as when:"
		}
		return s.want(n, model.Control.String(), suggestion)
	}
	v, all := model.Value{Pos: s.l.pos(n), Shape: model.Map}, true
	for key, under := range parse.Pairs(n) {
		part := s
		part.property += "." + key.Value
		if key.Value != "if" && key.Value != "unless" {
			s.refuse(s.l.pos(key), "unknown key "+parse.Quote(key.Value), cmp.Or(entry.DidYouMean(schema.Near(key.Value, []string{"if", "unless"}, schema.ChoiceSynonyms)), "write if or unless"))
			all = false
			continue
		}
		read, ok := part.condition(under)
		all = all && ok
		if ok {
			v.Pairs = append(v.Pairs, model.Pair{Pos: s.l.pos(key), Key: key.Value, Value: read})
		}
	}
	if !all { // it is not evaluated later
		s.sensible(v)
	}
	return v, all
}

// sensible says whether what when or control says is a condition, or says what
// is wrong with it. One that is another for each item is told then.
func (s scope) sensible(v model.Value) bool {
	if s.l.partial {
		return true
	}
	all := true
	ask := func(s scope, v model.Value) {
		if s.l.item != nil || !strings.Contains(v.Text, "each") {
			_, ok := s.holds(v)
			all = all && ok
		}
	}
	if v.Shape != model.Map {
		ask(s, v)
	}
	for _, pair := range v.Pairs {
		part := s
		part.property += "." + pair.Key
		ask(part, pair.Value)
	}
	return all
}

// off says why a resource is not for this machine, "" when it is for it. wrong
// are its properties that are wrong.
func (s scope) off(body *model.Body, wrong map[string]bool) string {
	var reason string
	ask := func(property string, v model.Value, want bool) {
		s.property = property
		holds, ok := s.holds(v)
		if ok && holds != want && reason == "" {
			reason = fmt.Sprintf("skipped (%s): %s", property, strings.Join(strings.Fields(v.Text), " "))
		}
	}
	if s.l.partial {
		return "" // what is declared is not known, and something is wrong anyway
	}
	if v, ok := body.Values["when"]; ok && !wrong["when"] {
		ask("when", v, true)
	}
	for _, pair := range body.Values["control"].Pairs {
		if !wrong["control"] {
			ask("control."+pair.Key, pair.Value, pair.Key == "if")
		}
	}
	if body.Has("when") || body.Has("control") {
		s.l.stamp("when", reason)
	}
	return reason
}

// answer is what came of a condition.
type answer struct {
	holds bool
	used  []condition.Use
	wrong *condition.Error // nil when it was a condition
}

// holds evaluates a condition. It returns false after saying that it is none.
func (s scope) holds(v model.Value) (holds, ok bool) {
	a, known := s.l.answers[v.Text]
	switch { // many resources may have the same
	case strings.Contains(v.Text, "each") && s.l.item != nil && s.l.item.unknown:
		return false, false
	case strings.Contains(v.Text, "each"):
		a = s.answer(v, s.each())
	case !known:
		a = s.answer(v, nil)
		s.l.answers = entry.Put(s.l.answers, v.Text, a)
	}
	for wrong := a.wrong; wrong != nil; wrong = wrong.Next {
		if wrong.Message != "" { // else it was said of the value
			s.refuse(s.l.inside(v, wrong.Line, wrong.Column), wrong.Message, wrong.Suggestion)
		}
	}
	if a.wrong != nil {
		return false, false
	}
	for _, u := range a.used {
		s.l.uses = append(s.l.uses, model.ValueUse{Expression: u.Name, Value: value.Show(u.Value), Pos: v.Pos})
	}
	return a.holds, true
}

// each is what a condition knows of the item that a resource is made for.
func (s scope) each() map[string]any {
	if s.l.item == nil {
		return nil
	}
	return map[string]any{"key": s.l.item.key, "value": value.Native(s.l.item.value)}
}

// answer evaluates a condition for an item, or for none. Items mostly look alike,
// and then it is compiled once for all of them.
func (s scope) answer(v model.Value, each map[string]any) (a answer) {
	key := v.Text + "\x00" + condition.Shape(each)
	c, err := s.l.conditions[key], error(nil)
	if c == nil {
		names := s.names(v.Pos)
		names.Each = each
		c, err = condition.Compile(v.Text, names)
		s.l.conditions = entry.Put(s.l.conditions, key, c)
	} else {
		c, err = c.For(each)
	}
	if err == nil {
		a.used = c.Used()
		a.holds, err = c.Holds()
	}
	if err != nil {
		_ = errors.As(err, &a.wrong) // it is nothing else
	}
	return a
}

// inside is the place of a character of a scalar, as far as it can be told from
// how the scalar is written: else that of the scalar.
func (l *loader) inside(v model.Value, line, column int) model.Pos {
	pos, text := v.Pos, &l.file.Text
	lines := strings.Split(v.Text, "\n")
	written := strings.TrimRight(lines[min(line, len(lines))-1], " ")
	source := text.Line(pos.Line)
	if len(source) > entry.MaxLine {
		return pos
	}
	source = parse.From(source, pos.Column)
	if strings.HasPrefix(source, "|") || strings.HasPrefix(source, ">") {
		below := strings.TrimRight(text.Line(pos.Line+line), " ")
		if margin, ok := strings.CutSuffix(below, written); ok && strings.TrimSpace(margin) == "" {
			pos.Line, pos.Column = pos.Line+line, len(margin)+column
		}
		return pos
	}
	for quotes := range 2 {
		if line == 1 && len(source) > quotes && strings.HasPrefix(source[quotes:], written) {
			pos.Column += quotes + min(column-1, utf8.RuneCountInString(written))
			return pos
		}
	}
	return pos
}

// names are what a condition at a place can speak of.
func (s scope) names(pos model.Pos) condition.Names {
	l := s.l
	return condition.Names{
		Vars: l.varNames, Facts: factNames,
		Var: func(name string) (any, *condition.Error) {
			found, ok := l.find(l.vars[name])
			switch {
			case !ok:
				return nil, &condition.Error{}
			case found == nil:
				return nil, &condition.Error{Message: fmt.Sprintf("the variable %s has no value", name), Suggestion: fmt.Sprintf("give it with --var %s=…, or a default", name)}
			}
			return value.Native(found), nil
		},
		Host: func(name string) (any, *condition.Error) {
			if !s.gather(pos) {
				return nil, &condition.Error{}
			}
			found, ok := l.facts.all.At(name)
			if !ok {
				return nil, &condition.Error{Message: fmt.Sprintf("this machine does not say host.%s", name), Suggestion: fmt.Sprintf("give it with --fact %s=…", name)}
			}
			return value.Native(found), nil
		},
		Env: func(name string) string {
			text, _ := l.getenv(name)
			return text
		},
	}
}
