package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
)

// leaving acts, notes what it was told of the last time, and ends as it is made to.
type leaving struct {
	asked  string
	effect model.Effect
	err    error
	during func()
	keeps  bool
}

func (s *leaving) About() model.About { return model.About{KeepsState: s.keeps} }

func (s *leaving) Check(_ context.Context, ask model.Ask) (model.Decision, error) {
	s.asked = ask.LastState
	return model.Decision{Act: true}, nil
}

func (s *leaving) Run(context.Context, model.Stage) (model.Effect, error) {
	if s.during != nil {
		s.during()
	}
	return s.effect, s.err
}

func TestHowThingsWereLeftIsRemembered(t *testing.T) {
	const name, former = "exec#0", "exec#former"
	broken := errors.New("broken")
	for _, row := range []struct {
		name   string
		memory map[string]string
		effect model.Effect
		err    error
		asked  string
		want   string // in the end
		facts  int
	}{
		{"first", nil, model.Effect{Began: true, LastState: "b"}, nil, "", "b", 1},
		{"again", map[string]string{name: "a"}, model.Effect{Began: true, LastState: "b"}, nil, "a", "b", 2},
		{"nothing changed", map[string]string{name: "a"}, model.Effect{Unchanged: true, LastState: "b"}, nil, "a", "b", 2},
		{"nothing to say", map[string]string{name: "a"}, model.Effect{Began: true}, nil, "a", "", 1},
		{"never has", nil, model.Effect{Began: true}, nil, "", "", 0},
		{"failed half way: no one knows", map[string]string{name: "a"}, model.Effect{Began: true, LastState: "b"}, broken, "a", "", 1},
		{"failed before it began: all is as it was", map[string]string{name: "a"}, model.Effect{}, broken, "a", "a", 2},
		{"renamed", map[string]string{former: "a"}, model.Effect{Began: true, LastState: "b"}, nil, "a", "b", 2},
		{"renamed, and failed half way", map[string]string{former: "a"}, model.Effect{Began: true}, broken, "a", "", 1},
		{"of another", map[string]string{"exec#other": "a"}, model.Effect{Began: true, LastState: "b"}, nil, "", "b", 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &leaving{effect: row.effect, err: row.err}
			m := &model.Manifest{Order: []int{0}, Resources: []model.Resource{{
				Ref: model.Ref{Type: "exec", Name: "0"}, Alias: "former", Tries: 1, Spec: s,
			}}}
			_, facts := apply(t, m, model.Memory{LastStates: row.memory}, engine.Options{Jobs: 1})
			if s.asked != row.asked || len(facts) != row.facts {
				t.Errorf("asked with %q, want %q; %d facts, want %d", s.asked, row.asked, len(facts), row.facts)
			}
			after := model.Replay(append((&model.Memory{LastStates: row.memory}).Records(), facts...))
			if got := after.LastStateOf(&m.Resources[0]); got != row.want {
				t.Errorf("remembers %q, want %q", got, row.want)
			}
		})
	}
}

// Killed, or without power, while it acts: then what was known is known no more.
func TestWhileItActsNoOneKnowsHowThingsAre(t *testing.T) {
	j := &tape{}
	memory := model.Memory{LastStates: map[string]string{"exec#0": "a"}}
	s := &leaving{effect: model.Effect{Began: true, LastState: "b"}}
	s.during = func() {
		if now := model.Replay(append(memory.Records(), j.facts...)); len(now.LastStates) > 0 || j.durable != 1 {
			t.Errorf("remembers %v, and %d facts are durable", now.LastStates, j.durable)
		}
	}
	m := &model.Manifest{Order: []int{0}, Resources: []model.Resource{{Ref: model.Ref{Type: "exec", Name: "0"}, Tries: 1, Spec: s}}}
	_, err := engine.Run(t.Context(), &model.Plan{Manifest: m, Memory: memory, Run: "r"}, engine.Options{Act: engine.Apply, Journal: j, Now: clock, RemembersState: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Record{{Kind: model.RecordLastState, ID: "exec#0"}, {Kind: model.RecordLastState, ID: "exec#0", LastState: "b"}}
	if d := cmp.Diff(want, j.facts); d != "" {
		t.Errorf("facts (-want +got):\n%s", d)
	}
}

// A type whose state stays true while it acts loses it to another state only.
func TestKeptStateIsNotDroppedBeforeTheResourceActs(t *testing.T) {
	for _, row := range []struct {
		name   string
		effect model.Effect
		err    error
		want   []model.Record
	}{
		{"another state", model.Effect{Began: true, LastState: "b"}, nil, []model.Record{{Kind: model.RecordLastState, ID: "exec#0", LastState: "b"}}},
		{"no state", model.Effect{Began: true}, nil, []model.Record{{Kind: model.RecordLastState, ID: "exec#0"}}},
		{"no effect", model.Effect{}, errors.New("no answer"), []model.Record{{Kind: model.RecordLastState, ID: "exec#0", LastState: "a"}}},
	} {
		j := &tape{}
		s := &leaving{keeps: true, effect: row.effect, err: row.err}
		s.during = func() {
			if len(j.facts) > 0 {
				t.Errorf("%s: it acts after %v", row.name, j.facts)
			}
		}
		m := &model.Manifest{Order: []int{0}, Resources: []model.Resource{{Ref: model.Ref{Type: "exec", Name: "0"}, Tries: 1, Spec: s}}}
		plan := &model.Plan{Manifest: m, Memory: model.Memory{LastStates: map[string]string{"exec#0": "a"}}, Run: "r"}
		if _, err := engine.Run(t.Context(), plan, engine.Options{Act: engine.Apply, Journal: j, Now: clock, RemembersState: true}); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(row.want, j.facts); d != "" {
			t.Errorf("%s: records (-want +got):\n%s", row.name, d)
		}
	}
}

func TestMeasuresAreSummedAndAgainAllowsAnotherAttempt(t *testing.T) {
	s := &leaving{effect: model.Effect{Again: true, Measures: model.Measures{"tries": 1}}, err: errors.New("no answer")}
	m := &model.Manifest{Order: []int{0}, Resources: []model.Resource{{Ref: model.Ref{Type: "exec", Name: "0"}, Tries: 3, Spec: s}}}
	results, _ := apply(t, m, model.Memory{}, engine.Options{})
	if results[0].Attempts != 3 || results[0].Measures["tries"] != 3 {
		t.Errorf("%d attempts, %v", results[0].Attempts, results[0].Measures)
	}
}
