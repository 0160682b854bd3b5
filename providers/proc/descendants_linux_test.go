package proc

import (
	"testing"
	"time"
)

// TestProcessScanIsShared: a run of many commands on a machine of many processes ends
// in time only if they do not all look for themselves. It is not parallel:
// others would look, too.
func TestProcessScanIsShared(t *testing.T) {
	listCandidates()
	began := processList.began
	processList.found = []candidate{{pid: 1, group: 2, tags: "a b"}}
	if found := listCandidates(); len(found) == 1 && found[0].pid == 1 || !processList.began.After(began) {
		t.Errorf("what was found before is no answer: %v", found)
	}
	processList.began, processList.found = time.Now().Add(time.Hour), []candidate{{pid: 1, group: 2, tags: "a b"}} // as if begun while we wait
	defer func() { processList.began = time.Time{} }()
	for _, tt := range []struct {
		group int
		mark  string
		want  bool
	}{{2, "", true}, {2, "x", true}, {3, "b", true}, {3, "a", true}, {3, "a b", false}, {3, "", false}, {3, "c", false}} {
		if alive, known := hasSurvivors(tt.group, tt.mark); alive != tt.want || !known {
			t.Errorf("group %d, mark %q: %v, %v", tt.group, tt.mark, alive, known)
		}
	}
}
