package manifests

import (
	"fmt"
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/model"
)

// resource reads one resource: its properties n (nil for none), with defaults
// where it gives none itself, and what its type makes of them.
func (l *loader) resource(v *vocabulary, name model.Value, n *yaml.Node, defaults settings) {
	body := &model.Body{Ref: model.Ref{Type: v.Name, Name: name.Text}, Pos: name.Pos, Base: l.base}
	s := scope{l: l, id: body.Ref.String(), property: "name"}
	switch {
	case v.properties == nil:
		l.names.absent(body.Ref)
		return
	case name.Text == reserved:
		s.refuse(name.Pos, "a resource cannot be called defaults", "give it another name")
		return
	}
	wrong := s.properties(v, n, body, name.Pos)
	for property, value := range defaults {
		if _, ok := body.Values[property]; !ok {
			body.Values[property] = value
		}
	}
	if v.properties["command"] != nil && body.Bool("sensitive") && !body.Has("command") && !wrong["command"] {
		body.Refuse("sensitive", "sensitive needs command: the name is shown", "move the command from the name to command:")
	}
	spec := v.Decode(body)
	l.collect(body, wrong)
	l.names.add(l, body)
	l.bodies = append(l.bodies, body)
	l.m.Resources = append(l.m.Resources, model.Resource{
		Ref: body.Ref, Pos: body.Pos,
		Alias: body.Text("alias"), Description: body.Text("description"), Tags: texts(body.Each("tags")),
		OnRefresh: onRefresh(body), Tries: max(1, body.Values["tries"].Int), TrySleep: trySleep(body),
		Sensitive: body.Bool("sensitive"), IgnoreFailure: body.Bool("ignore_failure"), Spec: spec,
	})
	l.learn(v, body)
}

// properties reads the properties of one resource into its body. It returns
// the names of those that are wrong, with "" for a key that no one knows.
func (s scope) properties(v *vocabulary, n *yaml.Node, body *model.Body, name model.Pos) map[string]bool {
	var wrong map[string]bool
	bad := func(property string) {
		if wrong == nil {
			wrong = map[string]bool{}
		}
		wrong[property] = true
	}
	if n == nil {
		body.Values = settings{}
		return nil
	}
	body.Values = make(settings, len(n.Content)/2+2)
	for key, value := range pairs(n) {
		p := v.properties[key.Value]
		if p == nil {
			s.l.unknownProperty(key, s.id, v)
			bad("")
			continue
		}
		s.property = p.Name
		if p.Name == "name" {
			if pos := s.l.pos(value); pos != name {
				s.refuse(s.l.pos(key), fmt.Sprintf("the name is given already: %q", body.Name), "drop one of them, or make this one an alias")
			}
			continue
		}
		if value, ok := s.value(p, key, value); ok {
			body.Values[p.Name] = value
		} else {
			bad(p.Name)
		}
	}
	return wrong
}

// collect takes over what the type said of a body. It leaves out what only
// follows from a property that was wrong before.
func (l *loader) collect(body *model.Body, wrong map[string]bool) {
	keep := func(all, found model.Problems) model.Problems {
		for _, p := range found {
			if !wrong[p.Property] && (p.Property != "" || len(wrong) == 0) {
				all = append(all, p)
			}
		}
		return all
	}
	l.problems, l.warnings = keep(l.problems, body.Problems), keep(l.warnings, body.Warnings)
	body.Problems, body.Warnings = nil, nil
}

// learn notes the values that a resource's environment gives to secrets.
func (l *loader) learn(v *vocabulary, body *model.Body) {
	if len(l.m.Secrets) == 0 {
		return
	}
	for _, property := range v.environments {
		for _, pair := range body.Values[property].Pairs {
			if slices.Contains(l.m.Secrets, pair.Key) && !l.revealed[pair.Value.Text] {
				l.revealed[pair.Value.Text] = true
				l.m.SecretValues = append(l.m.SecretValues, pair.Value.Text)
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
