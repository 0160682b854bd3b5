package model

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// randomFacts returns a journal that a settle could have written, killed now
// and then, of few resources, so that they meet often.
func randomFacts(r *rand.Rand) []Record {
	ids := []string{"a", "b", "c", "d", "e"}
	pick := func() string { return ids[r.IntN(len(ids))] }
	ends := []End{EndStable, EndChanged, EndFailed, EndIgnored, EndInterrupted, EndNothing, EndDeferred, EndShutdown}
	var facts []Record
	for n := range 1 + r.IntN(6) {
		id := fmt.Sprint(n)
		began := run(id)
		began.Time, began.User = time.Unix(int64(n), 0).UTC(), "alice"
		facts = append(facts, began)
		open := map[string]bool{}
		for range r.IntN(12) {
			resource := pick()
			switch k := r.IntN(11); {
			case k < 4 && !open[resource]:
				fact := Record{Kind: RecordBegan, Run: id, ID: resource, Missing: r.IntN(2) == 0}
				for range r.IntN(4) {
					if s := pick(); s != resource {
						fact.Subscribers = append(fact.Subscribers, []string{"", "former "}[r.IntN(2)]+s)
					}
				}
				facts = append(facts, fact)
				open[resource] = true
			case k < 5 && open[resource]:
				facts = append(facts, process(id, resource, 1+r.IntN(9)))
			case k < 8 && open[resource]:
				fact := Record{Kind: RecordEnded, Run: id, ID: resource, End: ends[r.IntN(len(ends))]}
				if r.IntN(4) == 0 {
					fact.Alias = "former " + resource
				}
				facts = append(facts, fact)
				delete(open, resource)
			case k == 8:
				facts = append(facts, settle(id, resource, ""))
			case k == 10:
				fact := last(id + " " + resource)
				fact.LastState = []string{"", "left", "left otherwise"}[r.IntN(3)]
				fact.Alias = []string{"", "former " + resource}[r.IntN(2)]
				facts = append(facts, fact)
			case k == 9:
				facts = append(facts, Record{Kind: RecordOwed, ID: resource, Run: id})
			}
		}
		if r.IntN(3) > 0 {
			exit := r.IntN(2)
			ended := began
			ended.Kind, ended.Exit, ended.Summary = RecordDone, &exit, &Summary{Total: 3}
			ended.Summary.Count[Stable] = 2 + r.IntN(2)
			ended.Keep = r.IntN(3)
			facts = append(facts, ended)
		}
		if r.IntN(6) == 0 {
			facts = append(facts, forget(pick(), ""))
		}
		if r.IntN(12) == 0 {
			facts = append(facts, forget("", ""))
		}
	}
	return facts
}

var sameMemory = cmp.Options{cmpopts.IgnoreUnexported(Memory{}), cmpopts.EquateEmpty()}

func TestAShorterJournalSaysTheSame(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		facts := randomFacts(rand.New(rand.NewPCG(seed, 1)))
		m := Replay(facts)
		if again := Replay(m.Records()); !reflect.DeepEqual(m, again) {
			t.Fatalf("seed %d: the facts of a memory are another one (-want +got):\n%s", seed, cmp.Diff(m, again, sameMemory))
		}
		short := Compact(facts)
		if again := Replay(short); !reflect.DeepEqual(m, again) {
			t.Fatalf("seed %d: compacted (-want +got):\n%s", seed, cmp.Diff(m, again, sameMemory))
		}
		if want, got := History(facts, ""), History(short, ""); !reflect.DeepEqual(want, got) {
			t.Fatalf("seed %d: history, compacted (-want +got):\n%s", seed, cmp.Diff(want, got))
		}
		if again := Compact(short); len(again) != len(short) {
			t.Fatalf("seed %d: compacted twice is %d facts, once %d", seed, len(again), len(short))
		}
	}
}

// slowDebts is Replay's sentence about debts, word by word and slow: for
// each fact that charges, each subscriber is owed until it next succeeds or is
// settled or forgotten.
func slowDebts(facts []Record) []OwedRefresh {
	var debts []OwedRefresh
	for i, fact := range facts {
		var by Record
		switch at := slices.IndexFunc(facts[i+1:], func(f Record) bool { return closes(fact, f) }); {
		case fact.Kind == RecordOwed:
			by = Record{Subscribers: []string{fact.ID}, Run: fact.Run}
		case fact.Kind != RecordBegan:
			continue
		case at < 0:
			by, i = fact, len(facts)
		default:
			by, i = fact, i+1+at
			if e := facts[i]; e.Kind == RecordEnded && e.End != EndChanged && e.End != EndFailed && e.End != EndInterrupted {
				continue
			}
		}
		for _, subscriber := range by.Subscribers {
			if !slices.ContainsFunc(facts[min(i, len(facts)):], func(f Record) bool { return pays(subscriber, f) }) {
				debts = append(debts, OwedRefresh{subscriber, by.ID, by.Run})
			}
		}
	}
	return debts
}

// closes says whether an attempt ends, or is known to be lost, with a fact.
func closes(began, f Record) bool {
	switch f.Kind {
	case RecordEnded:
		return f.ID == began.ID
	case RecordRun, RecordDone, RecordForget:
		return true
	}
	return false
}

func pays(subscriber string, f Record) bool {
	switch f.Kind {
	case RecordEnded:
		return (f.End == EndStable || f.End == EndChanged) && (f.ID == subscriber || f.Alias == subscriber)
	case RecordSettled, RecordForget:
		return f.ID == subscriber || f.Alias == subscriber || f.Kind == RecordForget && f.ID == ""
	}
	return false
}

func TestReplayAgreesWithTheSentence(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		facts := randomFacts(rand.New(rand.NewPCG(seed, 2)))
		owed := map[string]bool{}
		for _, d := range slowDebts(facts) {
			owed[d.ID+"<"+d.By] = true
		}
		got := map[string]bool{}
		for _, d := range Replay(facts).Owed {
			got[d.ID+"<"+d.By] = true
		}
		if !maps.Equal(owed, got) {
			t.Fatalf("seed %d: debts (-want +got):\n%s\n%v", seed, cmp.Diff(owed, got), facts)
		}
	}
}

func BenchmarkReplay(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		// one publisher of all, and all publishers of one: both ends of a debt
		hub := Record{Kind: RecordBegan, Run: "1", ID: "hub"}
		var facts []Record
		for i := range n {
			id := fmt.Sprintf("exec#resource %d", i)
			hub.Subscribers = append(hub.Subscribers, id)
			facts = append(facts, begin("1 p s"), end("1 p changed"))
			facts[2*i].ID, facts[2*i+1].ID = id, id
		}
		facts = append([]Record{hub, end("1 hub changed")}, facts...)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				m := Replay(facts)
				for i := range hub.Subscribers {
					m.OwedTo(named(hub.Subscribers[i][5:], ""))
				}
			}
		})
	}
}

// A process that was started and not recorded is found by its tag.
func TestBeginWithoutEndLeavesATag(t *testing.T) {
	began := Record{Kind: RecordBegan, Run: "r", ID: "a", Alias: "x", Tag: "r/3"}
	led := Record{Kind: RecordProcess, Run: "r", ID: "a", Process: &Process{PID: 7}}
	tests := []struct {
		name  string
		facts []Record
		yes   []string
		no    []string
		none  bool
	}{
		{"no process was recorded", []Record{began}, []string{"r/3", "r/3.2"}, []string{"r/33", "r/3.x", "r/4", "s/3", ""}, false},
		{"the first was", []Record{began, led}, []string{"r/3.2", "r/3.10"}, []string{"r/3", "r/3.1"}, false},
		{"two were", []Record{began, led, led}, []string{"r/3.3"}, []string{"r/3", "r/3.2"}, false},
		{"it ended", []Record{began, led, {Kind: RecordEnded, Run: "r", ID: "a", End: EndFailed}}, nil, nil, true},
		{"a begin without a tag", []Record{{Kind: RecordBegan, Run: "r", ID: "a"}}, nil, nil, true},
		{"it was forgotten", []Record{began, {Kind: RecordForget, ID: "a"}}, nil, nil, true},
		{"all was forgotten", []Record{began, {Kind: RecordForget}}, nil, nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := Replay(tt.facts)
			m = Replay(m.Records()) // compaction keeps it
			stray, ok := m.Strays["a"]
			if ok == tt.none {
				t.Fatalf("%+v", m.Strays)
			}
			for _, tag := range tt.yes {
				if !stray.IsUnrecorded(tag) {
					t.Errorf("%q does not match %+v", tag, stray)
				}
			}
			for _, tag := range tt.no {
				if stray.IsUnrecorded(tag) {
					t.Errorf("%q matches %+v", tag, stray)
				}
			}
		})
	}
}
