package model_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model"
)

// web is build -> test -> deploy -> smoke, with docs beside it.
func web() *model.Manifest {
	names := []struct {
		name, alias, tags string
		on                []int
	}{
		{"build", "", "ci", nil},
		{"test", "unit", "ci slow", []int{0}},
		{"docs", "", "docs", nil},
		{"deploy", "", "prod", []int{1}},
		{"smoke", "", "prod slow", []int{3, 2}},
	}
	m := &model.Manifest{Path: "m.yaml"}
	for i, n := range names {
		r := model.Resource{Ref: model.Ref{Type: "exec", Name: n.name}, Alias: n.alias, Tags: strings.Fields(n.tags)}
		for _, on := range n.on {
			r.Upstream = append(r.Upstream, model.Edge{On: on, Refresh: true})
			m.Resources[on].Subscribers = append(m.Resources[on].Subscribers, r.ID())
		}
		m.Resources = append(m.Resources, r)
		m.Order = append(m.Order, i)
	}
	return m
}

func TestSelect(t *testing.T) {
	tests := []struct {
		name string
		s    model.Selection
		want string // the names left, each with what it waits for
	}{
		{name: "all", want: "build test(build) docs deploy(test) smoke(deploy docs)"},
		{name: "only is closed upstream", s: model.Selection{Only: []string{"exec#deploy"}}, want: "build test(build) deploy(test)"},
		{name: "only by alias", s: model.Selection{Only: []string{"exec#unit"}}, want: "build test(build)"},
		{name: "several add up", s: model.Selection{Only: []string{"exec#docs", "exec#build"}}, want: "build docs"},
		{name: "tags are closed too", s: model.Selection{Tags: []string{"slow"}}, want: "build test(build) docs deploy(test) smoke(deploy docs)"},
		{name: "only and tags add up", s: model.Selection{Only: []string{"exec#build"}, Tags: []string{"docs"}}, want: "build docs"},
		{name: "skip removes; its edges are met", s: model.Selection{SkipTags: []string{"slow"}}, want: "build docs deploy"},
		{name: "nothing has that name", s: model.Selection{Only: []string{"exec#nope"}}, want: ""},
		{name: "skip wins over only", s: model.Selection{Only: []string{"exec#smoke"}, SkipTags: []string{"ci"}}, want: "docs deploy smoke(deploy docs)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			whole := web()
			m := tt.s.Select(whole)
			if got := describe(m); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if diff := cmp.Diff(web(), whole); diff != "" {
				t.Errorf("the whole manifest changed:\n%s", diff)
			}
			for i := range m.Resources {
				if r := &m.Resources[i]; r.Name == "build" && cmp.Diff([]string{"exec#test"}, r.Subscribers) != "" {
					t.Errorf("build lost its subscribers: %v", r.Subscribers)
				}
			}
		})
	}
}

func TestSelectionAddsTypes(t *testing.T) {
	other := &model.Manifest{Resources: []model.Resource{
		{Ref: model.Ref{Type: "exec", Name: "docs"}},
		{Ref: model.Ref{Type: "file", Name: "deploy"}},
	}}
	tests := []struct {
		name            string
		only            []string
		want, ambiguous []string
	}{
		{name: "no name", only: nil},
		{name: "a reference stays", only: []string{"exec#test"}, want: []string{"exec#test"}},
		{name: "a name gets its type", only: []string{"test", "exec#build"}, want: []string{"exec#test", "exec#build"}},
		{name: "an alias is a name too", only: []string{"unit"}, want: []string{"exec#test"}},
		{name: "one id in two manifests is one resource", only: []string{"docs"}, want: []string{"exec#docs"}},
		{name: "an unknown name stays", only: []string{"nope"}, want: []string{"nope"}},
		{name: "a name of two types is ambiguous", only: []string{"deploy"}, want: []string{"deploy"}, ambiguous: []string{"exec#deploy", "file#deploy"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			full, ambiguous := model.Selection{Only: tt.only}.AddTypes([]*model.Manifest{web(), other})
			if diff := cmp.Diff([][]string{tt.want, tt.ambiguous}, [][]string{full.Only, ambiguous}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSelectionUnknown(t *testing.T) {
	s := model.Selection{Only: []string{"exec#unit", "exec#nope"}, Tags: []string{"ci", "no"}, SkipTags: []string{"slow", "never"}}
	refs, tags := s.FindUnknown([]*model.Manifest{{}, web()})
	if diff := cmp.Diff([][]string{{"exec#nope"}, {"no", "never"}}, [][]string{refs, tags}); diff != "" {
		t.Error(diff)
	}
}

func describe(m *model.Manifest) string {
	var parts []string
	for _, n := range m.Order {
		part := m.Resources[n].Name
		var on []string
		for _, e := range m.Resources[n].Upstream {
			on = append(on, m.Resources[e.On].Name)
		}
		if len(on) > 0 {
			part += "(" + strings.Join(on, " ") + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}
