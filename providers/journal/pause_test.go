//go:build unix

package journal

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	db := s
	db.Identity = "db"
	paused := func(s Store, now time.Time) string {
		t.Helper()
		p, err := s.Paused(now)
		if err != nil {
			t.Fatal(err)
		}
		if p == nil {
			return ""
		}
		return p.Error()
	}
	expect := func(what, web, others string, now time.Time) {
		t.Helper()
		if got := paused(s, now); got != web {
			t.Errorf("%s: web is %q, want %q", what, got, web)
		}
		if got := paused(db, now); got != others {
			t.Errorf("%s: db is %q, want %q", what, got, others)
		}
	}
	expect("at first", "", "", began)
	if was, err := s.ResumeAll(); was || err != nil {
		t.Errorf("resumed all: %v, %v", was, err)
	}

	j := locked(t, s, "")
	if was, err := j.Resume(); was || err != nil {
		t.Errorf("resumed: %v, %v", was, err)
	}
	if err := j.Pause(Pause{By: "alice", Reason: "maintenance", Since: began, Until: began.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	const one = "paused by alice: maintenance, until 2026-01-02T04:04:05Z"
	expect("one identity", one, "", began)
	expect("one second before its end", one, "", began.Add(time.Hour-time.Second))
	expect("at its end", "", "", began.Add(time.Hour))

	if err := s.PauseAll(Pause{By: "bob", Since: began}); err != nil {
		t.Fatal(err)
	}
	const all = "paused by bob, until `settle resume --all`"
	expect("all", all, all, began)
	expect("all, for ever", all, all, began.AddDate(100, 0, 0))
	if was, err := s.ResumeAll(); !was || err != nil {
		t.Errorf("resumed all: %v, %v", was, err)
	}
	expect("all resumed", one, "", began)
	if err := j.Pause(Pause{By: "carol", Since: began}); err != nil {
		t.Fatal(err)
	}
	expect("paused again", "paused by carol, until `settle resume`", "", began)
	if was, err := j.Resume(); !was || err != nil {
		t.Errorf("resumed: %v, %v", was, err)
	}
	expect("resumed", "", "", began)
	closed(t, j)
}

func TestPauseAllNeedsNoStateBefore(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	if err := s.PauseAll(Pause{By: "bob"}); err != nil {
		t.Fatal(err)
	}
	if snap := read(t, s); snap.Found {
		t.Error("a pause is taken for a journal")
	}
	s.Identity = ".paused" // must not meet the file of all
	closed(t, locked(t, s, "r1"))
}

func TestDamagedPauseStopsApply(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	write(t, s.file("paused"), "")
	if _, err := s.Paused(began); err == nil || !strings.Contains(err.Error(), "take it back with `settle resume`") {
		t.Errorf("error is %v", err)
	}
	j := locked(t, s, "")
	if was, err := j.Resume(); !was || err != nil {
		t.Errorf("resumed: %v, %v", was, err)
	}
	if _, err := os.Stat(s.file("paused")); err == nil {
		t.Error("it is still there")
	}
	closed(t, j)
}
