package manifests

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/manifests/entry"
	"github.com/settle-cm/settle/manifests/parse"
	"github.com/settle-cm/settle/manifests/schema"
	"github.com/settle-cm/settle/model"
)

// resource reads one resource: its properties n (nil for none), with defaults
// where it gives none itself, and what its type makes of them.
func (l *loader) resource(v *schema.Vocabulary, name named, n *yaml.Node, d *defaults) {
	body := &l.body // one serves all resources: making one for each, with its map, would be a third of the work
	clear(body.Values)
	*body = model.Body{Ref: model.Ref{Type: v.Name, Name: name.text}, Pos: name.Pos, Base: l.base, Named: name.Value, Values: body.Values}
	s := scope{l: l, id: body.Ref.String(), property: "name"}
	switch {
	case v.ByName == nil:
		l.ghosts[body.Ref] = true
		return
	case name.text == schema.Reserved:
		s.refuse(name.Pos, "a resource cannot be called defaults", "give it another name")
		if n != nil {
			l.nameless(v, n, nil)
		}
		return
	}
	since := l.sink.Mark()
	var wrong map[string]bool
	l.self = &body.Ref
	if n != nil {
		wrong = s.properties(v, n, nil, body)
	}
	wrong = s.inherit(v, d, body, wrong)
	if !l.affords(s, body) {
		l.ghosts[body.Ref] = true
		l.self = nil
		return
	}
	if v.ByName["command"] != nil && body.Bool("sensitive") && !body.Has("command") && !wrong["command"] {
		body.Refuse("sensitive", "sensitive needs command: the name is shown", "move the command from the name to command:")
	}
	off := s.off(body, wrong)
	body.Off = off != ""
	l.settle(body.Off)
	spec := v.Decode(body)
	l.unfilled(v, body)
	l.collect(body, wrong)
	if body.Bool("sensitive") || wrong["sensitive"] {
		l.hush(v, since)
	}
	if off == "" {
		l.claim(body, s.id)
		l.place(body)
	}
	l.index(body, s.id)
	l.note(body, s.id)
	l.m.Resources = append(l.m.Resources, model.Resource{
		Ref: body.Ref, Pos: body.Pos,
		Alias: body.Text("alias"), Description: body.Text("description"), Tags: texts(body.Each("tags")),
		OnRefresh: onRefresh(body), Tries: max(1, body.Values["tries"].Int), TrySleep: trySleep(body),
		Sensitive: body.Bool("sensitive"), IgnoreFailure: body.Bool("ignore_failure"), Off: off, Values: l.used(body), Spec: spec,
	})
	l.learn(v, body)
	l.self = nil
	if l.copy != nil {
		l.copy.resource(v, body)
	}
}

// affords counts the text of a resource. It returns false when all of them have
// more than they may, after saying so once.
func (l *loader) affords(s scope, body *model.Body) bool {
	before := l.weight
	for _, v := range body.Values {
		l.weight += weight(v)
	}
	if l.weight <= entry.MaxText {
		return true
	}
	if before <= entry.MaxText {
		l.problem(model.Problem{
			Pos: body.Pos, ID: s.id, Suggestion: "put long texts into files",
			Message: "the resources have more than 128 MiB of text together, by defaults, aliases and for_each",
		})
	}
	return false
}

func weight(v model.Value) int {
	sum := len(v.Text)
	for _, item := range v.Items {
		sum += weight(item)
	}
	for _, pair := range v.Pairs {
		sum += len(pair.Key) + weight(pair.Value)
	}
	return sum
}

// nameless reads the properties of a resource that has no name which can be
// used, for what is wrong with them. but is a key to leave out, or nil.
func (l *loader) nameless(v *schema.Vocabulary, n, but *yaml.Node) {
	if v.ByName == nil {
		return
	}
	body := model.Body{Ref: model.Ref{Type: v.Name}, Pos: l.pos(n), Base: l.base, Values: settings{}}
	since := l.sink.Mark()
	s := scope{l: l}
	l.self = &body.Ref
	wrong := with(s.properties(v, n, but, &body), "")
	l.self = nil
	sensitive := body.Bool("sensitive") || wrong["sensitive"]
	l.settle(s.off(&body, wrong) != "")
	v.Decode(&body)
	for property := range v.ByName { // what is said of one that is not given may follow from the name
		if !body.Has(property) {
			wrong[property] = true
		}
	}
	for _, said := range []model.Problems{body.Problems, body.Warnings} {
		for i := range said {
			said[i].ID = ""
		}
	}
	l.collect(&body, wrong)
	if sensitive {
		l.hush(v, since)
	}
}

// properties reads the properties of one resource, all keys of a map but one,
// into its body. It returns the names of those that are wrong, with "" for a key
// that no one knows.
func (s scope) properties(v *schema.Vocabulary, n, but *yaml.Node, body *model.Body) map[string]bool {
	var wrong map[string]bool
	named := body.Name == "" // by one of the keys
	for key, value := range parse.Pairs(n) {
		if key == but {
			continue
		}
		p := v.ByName[key.Value]
		if p == nil {
			s.unknownProperty(key, v)
			wrong = with(wrong, "")
			continue
		}
		s.property = p.Name
		if p.Name == "for_each" {
			continue // which made this resource
		}
		if p.Name == "name" {
			if named = named || s.l.pos(value) == body.Pos; !named {
				s.refuse(s.l.pos(key), fmt.Sprintf("the name is given already: %q", body.Name), "drop one of them, or make this one an alias")
			}
			continue
		}
		if value, ok := s.value(p, key, value); ok {
			body.Values[p.Name] = value
		} else {
			wrong = with(wrong, p.Name)
		}
	}
	return wrong
}

// with adds a word to a set that is mostly empty.
func with(set map[string]bool, word string) map[string]bool {
	return entry.Put(set, word, true)
}

// collect takes over what the type said of a body. It leaves out what only
// follows from a property that was wrong before.
func (l *loader) collect(body *model.Body, wrong map[string]bool) {
	take := func(found model.Problems, keep func(model.Problem)) {
		for _, p := range found {
			if !wrong[p.Property] && (p.Property != "" || len(wrong) == 0) {
				keep(p)
			}
		}
	}
	take(body.Problems, l.problem)
	take(body.Warnings, l.warning)
}

// quoted is a part of a message that the user wrote.
var quoted = regexp.MustCompile(`"(?:\\.|[^"\\])*"`)

// hush takes what a sensitive resource runs, feeds and sets out of what is said of it.
func (l *loader) hush(v *schema.Vocabulary, since entry.Mark) {
	l.sink.EditSince(since, func(p *model.Problem) {
		if v.IsSensitive(p.Property) {
			p.Message = quoted.ReplaceAllString(p.Message, "***")
		}
	})
}

// note keeps what is needed of a body once all resources are read.
func (l *loader) note(body *model.Body, id string) {
	n := len(l.ids)
	l.ids = append(l.ids, id)
	for i, property := range edgeProperties {
		for _, ref := range body.Each(property) {
			l.links[i] = append(l.links[i], link{n, ref.Text, ref.Pos, body.Values[property].Default})
		}
	}
	if v := body.Values["refreshonly"]; v.Bool {
		l.refreshOnly = append(l.refreshOnly, link{from: n, Pos: v.Pos})
	}
}

// unfilled refuses values in commands that nobody has made words of: then they
// would not be where they belong.
func (l *loader) unfilled(v *schema.Vocabulary, body *model.Body) {
	if len(l.uses) == 0 || len(body.Problems) > 0 {
		return
	}
	refuse := func(property string, value model.Value) {
		if value.Placeholders.Each() != nil && value.Placeholders.Filled == "" {
			body.RefuseAt(value.Pos, property, fmt.Sprintf("%s cannot stand in this command", value.Placeholders.Items[0].Expr), "hand it over in environment")
		}
	}
	for _, word := range v.Words {
		for _, value := range body.Each(word) {
			refuse(word, value)
		}
	}
	if v.ByName["command"] != nil && !body.Has("command") {
		refuse("", body.Named)
	}
}

// used returns the values that were put into the resource that is being read.
func (l *loader) used(body *model.Body) []model.ValueUse {
	if len(l.uses) == 0 {
		return nil
	}
	uses := slices.Clone(l.uses)
	if body.Bool("sensitive") {
		for i := range uses {
			uses[i].Value = "***"
		}
	}
	return uses
}

// learn notes the values that a resource's environment gives to secrets.
func (l *loader) learn(v *schema.Vocabulary, body *model.Body) {
	if len(l.m.Secrets) == 0 {
		return
	}
	for _, property := range v.Environments {
		for _, pair := range body.Values[property].Pairs {
			if slices.Contains(l.m.Secrets, pair.Key) {
				l.reveal(pair.Value.Text)
			}
		}
	}
}

func texts(values []model.Value) []string {
	var list []string
	for _, v := range values {
		list = append(list, v.Text)
	}
	return list
}

func onRefresh(body *model.Body) model.OnRefresh {
	if body.Text("on_refresh") == "check" {
		return model.RefreshChecks
	}
	return model.RefreshRuns
}

func trySleep(body *model.Body) time.Duration {
	if body.Has("try_sleep") {
		return body.Duration("try_sleep")
	}
	return time.Second
}

func (s scope) unknownProperty(key *yaml.Node, v *schema.Vocabulary) {
	u := v.UnknownProperty(key.Value)
	s.property = key.Value
	s.refuse(s.l.pos(key), u.Message, u.Suggestion)
}
