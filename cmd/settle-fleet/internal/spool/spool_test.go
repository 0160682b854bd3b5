package spool

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"
)

func runs(ids ...string) (all []Run) {
	for i, id := range ids {
		all = append(all, Run{id, time.Unix(int64(1000+i), 0)})
	}
	return all
}

func TestDecide(t *testing.T) {
	t.Parallel()
	me := Machine{Instance: "me", Adopted: []string{"old"}}
	journal := runs("a", "b", "c", "d")
	for name, c := range map[string]struct {
		told  Told
		last  *Last
		start Told
		send  string
		lost  bool
		other string
		note  bool
	}{
		"nothing was told":                   {Told{}, nil, Told{}, "abcd", false, "", false},
		"all is as remembered":               {Told{"b", 7}, &Last{7, "b", "me"}, Told{"b", 7}, "cd", false, "", false},
		"the acknowledgement was lost":       {Told{"b", 7}, &Last{9, "c", "me"}, Told{"c", 9}, "d", false, "", false},
		"of the first run":                   {Told{}, &Last{1, "a", "me"}, Told{"a", 1}, "bcd", false, "", false},
		"acknowledged messages were lost":    {Told{"c", 9}, &Last{5, "a", "me"}, Told{"a", 5}, "bcd", true, "", true},
		"the stream was lost":                {Told{"c", 9}, nil, Told{}, "abcd", true, "", true},
		"back to a run that is forgotten":    {Told{"c", 9}, &Last{2, "x", "me"}, Told{"x", 2}, "abcd", true, "", true},
		"the state was restored":             {Told{"b", 7}, &Last{9, "x", "me"}, Told{"b", 9}, "cd", false, "", true},
		"the journal forgot the last told":   {Told{"x", 9}, &Last{9, "x", "me"}, Told{"x", 9}, "abcd", false, "", false},
		"the stream was copied":              {Told{"b", 7}, &Last{3, "b", "me"}, Told{"b", 3}, "cd", false, "", false},
		"another machine":                    {Told{"b", 7}, &Last{8, "y", "you"}, Told{"b", 7}, "", false, "you", true},
		"an instance that this one replaces": {Told{}, &Last{8, "y", "old"}, Told{"", 8}, "abcd", false, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Decide(c.told, c.last, me, journal, time.Unix(0, 0))
			send := ""
			for _, run := range d.Send {
				send += run.ID
			}
			if d.Told != c.start || send != c.send || d.Lost != c.lost || d.Conflict != c.other || (d.Note != "") != c.note {
				t.Errorf("%+v", d)
			}
		})
	}
	if d := Decide(Told{"a", 1}, nil, me, journal, time.Unix(1002, 0)); len(d.Send) != 2 || d.Send[0].ID != "c" {
		t.Errorf("of runs that are too old it sends %v", d.Send)
	}
}

// A broker that loses its end, a network that loses answers, and a machine that
// is killed anywhere: in the end every run is there once, in order.
func TestEveryRunIsToldOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 1))
		var stream []Last // the broker's
		var journal []Run
		told, saved := Told{}, Told{}
		sequence := uint64(0)
		tell := func(reliable bool) {
			var last *Last
			if len(stream) > 0 {
				last = &stream[len(stream)-1]
			}
			d := Decide(told, last, Machine{Instance: "me"}, journal, time.Time{})
			told = d.Told
			for _, run := range d.Send {
				have := uint64(0)
				if len(stream) > 0 {
					have = stream[len(stream)-1].Sequence
				}
				if have != told.Sequence || !reliable && random.IntN(4) == 0 {
					return // refused, or it did not arrive
				}
				sequence++
				stream = append(stream, Last{sequence, run.ID, "me"})
				if !reliable && random.IntN(4) == 0 {
					return // the answer did not arrive
				}
				told = Told{run.ID, sequence}
				if saved = told; !reliable && random.IntN(4) == 0 {
					return // killed
				}
			}
		}
		for n := range 40 {
			journal = append(journal, Run{strconv.Itoa(n), time.Unix(int64(n), 0)})
			if random.IntN(8) == 0 && len(stream) > 0 {
				stream = stream[:random.IntN(len(stream)+1)] // an older copy of the store
			}
			told = saved
			tell(false)
			saved = told
		}
		tell(true)
		var got []string
		for _, m := range stream {
			got = append(got, m.Run)
		}
		var want []string
		for _, run := range journal {
			want = append(want, run.ID)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: told %v", seed, got)
		}
	}
}
