package journal

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/settle-cm/settle/model"
)

// alive takes every process for alive, and dead none.
func alive(model.Process) bool { return true }
func dead(model.Process) bool  { return false }

func newStore(t *testing.T) Store {
	t.Helper()
	return Store{Dir: t.TempDir() + "/state", Identity: "web", Alive: dead}
}

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func apply(run string) Holder {
	return Holder{Process: model.Process{PID: os.Getpid()}, Run: run, Since: began, User: "alice"}
}

func locked(t *testing.T, s Store, run string) *Journal {
	t.Helper()
	j, err := s.Lock(t.Context(), 0, apply(run))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() }) // most tests close it themselves
	return j
}

func appendAll(t *testing.T, j *Journal, records ...model.Record) {
	t.Helper()
	if err := j.Append(records, true); err != nil {
		t.Fatal(err)
	}
}

func closed(t *testing.T, j *Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, s Store) *Snapshot {
	t.Helper()
	snap, err := s.Read()
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(model.Memory{}), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func TestAppendedRecordsAreRead(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	if snap := read(t, s); snap.Found || len(snap.Memory().Owed) > 0 {
		t.Error("found something where nothing is")
	}
	j := locked(t, s, "r1")
	if j.Found {
		t.Error("a state that is just being made was found")
	}
	appendAll(t, j, model.Record{Kind: model.RecordBegan, Run: "r1", ID: "exec#a", Subscribers: []string{"exec#b"}, Missing: true})
	appendAll(t, j, model.Record{Kind: model.RecordEnded, Run: "r1", ID: "exec#a", End: model.EndChanged})
	want := []model.OwedRefresh{{ID: "exec#b", By: "exec#a", Since: "r1"}}
	diff(t, "debts under the lock", want, j.Memory().Owed)
	closed(t, j)
	snap := read(t, s)
	if !snap.Found {
		t.Error("the state was not found again")
	}
	diff(t, "debts", want, snap.Memory().Owed)
	kinds := []model.RecordKind{}
	for _, record := range snap.records {
		kinds = append(kinds, record.Kind)
	}
	if !slices.Equal(kinds, []model.RecordKind{model.RecordRun, model.RecordBegan, model.RecordEnded}) {
		t.Errorf("records are %v", kinds)
	}
}
