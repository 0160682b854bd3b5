package proc

import (
	"testing"
	"time"
)

// TestCensusIsShared: a run of many commands on a machine of many processes ends
// in time only if they do not all look for themselves. It is not parallel:
// others would look, too.
func TestCensusIsShared(t *testing.T) {
	living()
	began := census.began
	census.found = []one{{pid: 1, group: 2, marks: "a b"}}
	if found := living(); len(found) == 1 && found[0].pid == 1 || !census.began.After(began) {
		t.Errorf("what was found before is no answer: %v", found)
	}
	census.began, census.found = time.Now().Add(time.Hour), []one{{pid: 1, group: 2, marks: "a b"}} // as if begun while we wait
	defer func() { census.began = time.Time{} }()
	for _, tt := range []struct {
		group int
		mark  string
		want  bool
	}{{2, "", true}, {2, "x", true}, {3, "b", true}, {3, "a", true}, {3, "a b", false}, {3, "", false}, {3, "c", false}} {
		if alive, known := survivors(tt.group, tt.mark); alive != tt.want || !known {
			t.Errorf("group %d, mark %q: %v, %v", tt.group, tt.mark, alive, known)
		}
	}
}
