package eval

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/condition"
	"github.com/settle-cm/settle/model/value"
)

// readCondition reads the text of a condition.
func (e *Env) readCondition(f Frame, n *yaml.Node) (model.Value, bool) {
	r := e.reader(f)
	if n.Kind != yaml.ScalarNode || parse.IsNull(n) {
		return r.RefuseForm(n, model.Condition.String(), `quote it as a whole, in single quotes`)
	}
	r.WarnComment(n, true)
	return r.ValueAt(n), true
}

// readControl reads the conditions of CCM: a map of if and unless.
func (e *Env) readControl(f Frame, n *yaml.Node) (model.Value, bool) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		suggestion := ""
		if n.Kind == yaml.ScalarNode {
			suggestion = "write it under if:, or as when:"
		}
		return e.reader(f).RefuseForm(n, model.Control.String(), suggestion)
	}
	v, all := model.Value{Pos: f.File.Pos(n), Shape: model.Map}, true
	for key, under := range parse.Pairs(n) {
		part := f.In(f.Property + "." + key.Value)
		if key.Value != "if" && key.Value != "unless" {
			meant := schema.Near(key.Value, []string{"if", "unless"}, schema.ChoiceSynonyms)
			e.refuse(f, key, "unknown key "+parse.Quote(key.Value), cmp.Or(entry.DidYouMean(meant), "write if or unless"))
			all = false
			continue
		}
		read, ok := e.readCondition(part, under)
		all = all && ok
		if ok {
			v.Pairs = append(v.Pairs, model.Pair{Pos: f.File.Pos(key), Key: key.Value, Value: read})
		}
	}
	if !all { // SkipReason will not evaluate it, so its mistakes are reported now
		e.CheckCondition(f, v)
	}
	return v, all
}

// CheckCondition reports mistakes in the value of when or control. It returns
// true for a valid one. A condition on an item is checked for each item later.
func (e *Env) CheckCondition(f Frame, v model.Value) bool {
	if e.partial {
		return true
	}
	all := true
	check := func(f Frame, v model.Value) {
		if f.Item != nil || !usesItem(v) {
			_, found, ok := e.evaluateCondition(f, v)
			e.finish(f, found)
			all = all && ok
		}
	}
	if v.Shape != model.Map {
		check(f, v)
	}
	for _, pair := range v.Pairs {
		check(f.In(f.Property+"."+pair.Key), pair.Value)
	}
	return all
}

// usesItem reports whether a condition may name the item of a for_each. It may say
// yes for a text that contains the word otherwise: then an answer is not cached.
func usesItem(v model.Value) bool { return strings.Contains(v.Text, "each") }

// SkipReason evaluates the conditions among the properties of a resource. It
// returns why the resource is not for this machine, "" when it is. wrong holds the
// properties that could not be read.
func (e *Env) SkipReason(f Frame, values map[string]model.Value, wrong map[string]bool) (string, Found) {
	var reason string
	var found Found
	if e.partial { // the variables are not all known, and the manifest is wrong anyway
		return "", found
	}
	check := func(property string, v model.Value, want bool) {
		holds, more, ok := e.evaluateCondition(f.In(property), v)
		found.add(more)
		if ok && holds != want && reason == "" {
			reason = fmt.Sprintf("skipped (%s): %s", property, strings.Join(strings.Fields(v.Text), " "))
		}
	}
	when, hasWhen := values["when"]
	if hasWhen && !wrong["when"] {
		check("when", when, true)
	}
	control, hasControl := values["control"]
	for _, pair := range control.Pairs {
		if !wrong["control"] {
			check("control."+pair.Key, pair.Value, pair.Key == "if")
		}
	}
	if hasWhen || hasControl {
		e.tally.stamp("when", reason)
	}
	return reason, found
}

// answer is the result of evaluating a condition.
type answer struct {
	holds bool
	used  []condition.Use
	wrong *condition.Error // nil for a valid condition
	found Found            // of the variables that it names
}

// evaluateCondition evaluates a condition. It returns false after reporting that
// the text is not a valid condition.
func (e *Env) evaluateCondition(f Frame, v model.Value) (holds bool, found Found, ok bool) {
	if e.isCCMCondition(v.Text) {
		holds, ok = e.conditionCCM(f, &yaml.Node{Line: v.Line, Column: v.Column}, v.Text)
		return holds, found, ok
	}
	a, known := e.answers[v.Text]
	switch { // many resources may have the same condition
	case usesItem(v) && f.Item != nil && f.Item.Unknown:
		return false, Found{}, false
	case usesItem(v):
		a = e.answer(f, v, itemNames(f.Item))
	case known:
		a.found.Uses = nil // the first resource has them
	default:
		a = e.answer(f, v, nil)
		e.answers = entry.Put(e.answers, v.Text, a)
	}
	for wrong := a.wrong; wrong != nil; wrong = wrong.Next {
		if wrong.Message != "" { // without a message the value itself was reported
			e.sink.Refuse(f.Problem(placeInside(f.File, v, wrong.Line, wrong.Column), wrong.Message, wrong.Suggestion))
		}
	}
	found.add(a.found)
	if a.wrong != nil {
		return false, found, false
	}
	for _, u := range a.used {
		found.Uses = append(found.Uses, model.ValueUse{Expression: u.Name, Value: value.Show(u.Value), From: e.levelsOfName(u.Name), Pos: v.Pos})
	}
	return a.holds, found, true
}

// itemNames returns the names under each in a condition.
func itemNames(item *Item) map[string]any {
	if item == nil {
		return nil
	}
	return map[string]any{"key": item.Key, "value": value.ToNative(item.Value)}
}

// answer evaluates a condition, for an item or for none. A condition is compiled
// once for all items of the same shape.
func (e *Env) answer(f Frame, v model.Value, each map[string]any) (a answer) {
	key := v.Text + "\x00" + condition.Shape(each)
	c, err := e.conditions[key], error(nil)
	if c == nil {
		names := e.conditionNames(f, v.Pos, &a.found)
		names.Each = each
		c, err = condition.Compile(v.Text, names)
		e.conditions = entry.Put(e.conditions, key, c)
	} else {
		c, err = c.WithEach(each)
	}
	if err == nil {
		a.used = c.Uses()
		a.holds, err = c.Holds()
	}
	if err != nil {
		_ = errors.As(err, &a.wrong) // it always is one
	}
	return a
}

// conditionNames returns the names that a condition can use.
func (e *Env) conditionNames(f Frame, pos model.Pos, found *Found) condition.Names {
	at := &yaml.Node{Line: pos.Line, Column: pos.Column}
	return condition.Names{
		Vars: e.vars.names, Facts: factNames,
		Var: func(name string) (any, *condition.Error) {
			v, more, ok := e.evaluateVariable(e.vars.byName[name])
			found.add(more)
			switch {
			case !ok:
				return nil, &condition.Error{}
			case v == nil:
				return nil, &condition.Error{Message: fmt.Sprintf("the variable %s has no value", name), Suggestion: fmt.Sprintf("give it with --var %s=…, or a default", name)}
			}
			return value.ToNative(v), nil
		},
		Host: func(name string) (any, *condition.Error) {
			if !e.gatherFacts(f, at) {
				return nil, &condition.Error{}
			}
			v, ok := e.facts.all.At(name)
			if !ok {
				return nil, &condition.Error{Message: fmt.Sprintf("this machine does not say host.%s", name), Suggestion: fmt.Sprintf("give it with --fact %s=…", name)}
			}
			return value.ToNative(v), nil
		},
		Env: func(name string) string {
			text, _ := e.environ.get(name)
			return text
		},
	}
}
