//go:build unix

package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
)

// finished is one whole run that ended with an exit code; 0 is a converged one.
func finished(t *testing.T, s Store, run string, exit, keep int) *model.Report {
	t.Helper()
	j := locked(t, s, run)
	report := &model.Report{
		Schema: model.ReportSchema, Mode: "apply", Run: run, ExitCode: exit, DurationMS: 12,
		Resources: []model.ResourceReport{{Declaration: model.Declaration{ID: "exec#a", Type: "exec", Name: "a"}, Status: model.Changed, Output: "<b>\x00"}},
	}
	report.Summary = model.Summarize(false, report.Resources, 2)
	if exit == 0 {
		report.Resources[0].Status = model.Stable
		report.Summary = model.Summarize(false, report.Resources, 0)
	}
	if err := errors.Join(j.SaveReport(report), j.Finish(report, keep)); err != nil {
		t.Fatal(err)
	}
	closed(t, j)
	return report
}

func TestAReportIsShownAgain(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	first := finished(t, s, "r1", 1, 0)
	finished(t, s, "r2", 0, 0)
	snap := read(t, s)
	past, report, err := snap.Report("r1")
	if err != nil || past.Run != "r1" || past.Summary.Owed != 2 || *past.ExitCode != 1 {
		t.Errorf("r1 is %+v, %v", past, err)
	}
	diff(t, "report", first, report)
	past, report, err = snap.Report("last")
	if err != nil || past.Run != "r2" || report != nil || !past.Converged() {
		t.Errorf("the last run is %+v with %v, %v; want a line of r2", past, report, err)
	}
}

func TestUnknownRunIsNamed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	rows := []struct{ run, want string }{
		{"last", "no runs yet: settle apply makes the first"},
		{"r", `no run "r"; the only one is r0`},
		{"../r0", `no run "../r0"; the last ones are r1, r0`},
		{"r", `no run "r"; the last ones are r2, r1, r0`},
		{"r", `no run "r"; the last ones are r3, r2, r1`},
	}
	for n, row := range rows {
		_, _, err := read(t, s).Report(row.run)
		var missing *UnknownRun
		if !errors.As(err, &missing) || err.Error() != row.want {
			t.Errorf("says %v, want %s", err, row.want)
		}
		finished(t, s, fmt.Sprint("r", n), 0, 0)
	}
}

func TestDamagedReportIsExplained(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	finished(t, s, "r1", 1, 0)
	write(t, s.reportFile("r1"), "{")
	_, _, err := read(t, s).Report("r1")
	if err == nil || !strings.Contains(err.Error(), "report is damaged: "+s.reportFile("r1")) {
		t.Errorf("says %v", err)
	}
}

func TestReportsAreRemovedWithTheirRuns(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for n := range 5 {
		finished(t, s, fmt.Sprint("bad", n), 1, 2)
		finished(t, s, fmt.Sprint("good", n), 0, 2)
	}
	var runs []string
	for _, past := range read(t, s).Runs() {
		runs = append(runs, past.Run)
	}
	if want := []string{"bad3", "good3", "bad4", "good4"}; !slices.Equal(runs, want) {
		t.Errorf("the history has %v, want %v", runs, want)
	}
	files, err := os.ReadDir(filepath.Join(s.Path(), "runs"))
	if err != nil || len(files) != 2 || files[0].Name() != "bad3.json" || files[1].Name() != "bad4.json" {
		t.Errorf("reports are %v, %v", files, err)
	}
}

func TestCompactionKeepsHistoryAndMemory(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	finished(t, s, "r1", 1, 0)
	j := locked(t, s, "r2")
	appendAll(t, j, filler()...)
	closed(t, j)
	long, err := os.Stat(s.file("journal"))
	if err != nil || long.Size() <= compactAbove {
		t.Fatalf("%v, %v", long, err)
	}
	j = locked(t, s, "")
	appendAll(t, j, model.Record{Kind: model.RecordForget, ID: "exec#x"})
	closed(t, j)
	if info, err := os.Stat(s.file("journal")); err != nil || info.Size() < long.Size() {
		t.Errorf("something else than a run has shortened it: %v, %v", info, err)
	}
	before := read(t, s)
	write(t, s.file("journal.new"), "half of what a killed one wrote")
	j = locked(t, s, "r3")
	if j.Position() != before.Position() {
		t.Error("to lock it moves its position")
	}
	appendAll(t, j, owe)
	closed(t, j)
	short, err := os.Stat(s.file("journal"))
	if err != nil || short.Size() > 2000 {
		t.Errorf("it is still %d bytes long: %v", short.Size(), err)
	}
	if _, err := os.Stat(s.file("journal.new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the new one is left behind: %v", err)
	}
	after := read(t, s)
	diff(t, "debts", append(before.Memory().Owed, model.OwedRefresh{ID: owe.ID, By: owe.By, Since: owe.Run}), after.Memory().Owed)
	diff(t, "runs", before.Runs(), after.Runs()[:2])
	if before.Position() == after.Position() {
		t.Error("the position is the same")
	}
}

func TestLongJournalIsUsedWhenCompactionFails(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	j := locked(t, s, "r1")
	var records []model.Record
	for n := range 12000 {
		records = append(records, model.Record{Kind: model.RecordOwed, ID: fmt.Sprintf("exec#a resource with a longer name %d", n), By: "exec#p", Run: "r1"})
	}
	appendAll(t, j, records...)
	closed(t, j)
	before, err := os.Stat(s.file("journal"))
	if err != nil || before.Size() <= compactAbove {
		t.Fatalf("%v, %v", before, err)
	}
	j = locked(t, s, "r2")
	appendAll(t, j, owe)
	closed(t, j)
	after, err := os.Stat(s.file("journal"))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("it was written anew for nothing: %v", err)
	}
	if n := len(read(t, s).Memory().Owed); n != 12001 {
		t.Errorf("%d debts", n)
	}
}

func TestTornLineIsCutBeforeTheNextRecord(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	j := locked(t, s, "r1")
	appendAll(t, j, owe)
	closed(t, j)
	whole, err := os.ReadFile(s.file("journal"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) + 1 {
		write(t, s.file("journal"), string(whole[:n]))
		before := read(t, s)
		j := locked(t, s, "r2")
		appendAll(t, j, owe)
		closed(t, j)
		after := read(t, s)
		if len(after.records) != len(before.records)+2 { // the run and the debt
			t.Fatalf("cut at %d: %d records, then %d", n, len(before.records), len(after.records))
		}
	}
}

func TestReadersOfABusyJournalSeeWholeRecords(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	stop := make(chan struct{})
	wrote := make(chan error, 1)
	go func() {
		wrote <- func() error {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return nil
				default:
				}
				j, err := s.Lock(t.Context(), 0, apply(fmt.Sprint("r", n)))
				if err != nil {
					return err
				}
				if err := j.Append(append(filler(), owe), false); err != nil {
					return err
				}
				if _, err := j.file.WriteString("00000000 a torn li"); err != nil {
					return err
				}
				if err := j.Close(); err != nil {
					return err
				}
			}
		}()
	}()
	seen := 0
	for deadline := time.Now().Add(20 * time.Second); seen < 50; {
		if time.Now().After(deadline) {
			t.Fatalf("only %d reads found something", seen)
		}
		snap := read(t, s)
		if snap.Found && len(snap.Memory().Owed) > 0 {
			seen++
		}
	}
	close(stop)
	if err := <-wrote; err != nil {
		t.Error(err)
	}
}

func TestRunningResourcesAreNamed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.Alive = alive
	j := locked(t, s, "r1")
	for n := range 10 {
		j.Started(fmt.Sprint("exec#", n))
	}
	j.Finished("exec#0")
	j.Finished("exec#unknown")
	want := []string{"exec#1", "exec#2", "exec#3", "exec#4", "exec#5", "exec#6", "exec#7", "exec#8"}
	var held *Held
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := s.Lock(t.Context(), 0, apply("r2")); !errors.As(err, &held) {
			t.Fatal(err)
		}
		if slices.Equal(held.Running, want) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it runs %v", held.Running)
		}
	}
	if !strings.HasSuffix(held.Error(), "Z, runs "+strings.Join(want, ", ")) {
		t.Errorf("says %v", held)
	}
	closed(t, j)
	j = locked(t, s, "")
	if _, err := s.Lock(t.Context(), 0, apply("r2")); err == nil || !strings.HasPrefix(err.Error(), "another settle is changing the state: pid ") {
		t.Errorf("says %v", err)
	}
	closed(t, j)
	if text, err := os.ReadFile(s.file("lock")); err != nil || len(text) > 0 {
		t.Errorf("a name stays: %q, %v", text, err)
	}
}

func TestRemovedStateIsLockedAgain(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	old := locked(t, s, "r1")
	if err := os.RemoveAll(s.Dir); err != nil {
		t.Fatal(err)
	}
	closed(t, locked(t, s, "r2"))
	closed(t, old)
}

func TestActiveRunIsNotKilled(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.Alive = alive
	j := locked(t, s, "r1")
	appendAll(t, j, model.Record{Kind: model.RecordBegan, Run: "r1", ID: "exec#p", Subscribers: []string{"exec#s"}, Missing: true})
	snap := read(t, s)
	m := snap.Memory()
	if snap.Active == nil || snap.Active.Run != "r1" || len(m.Owed)+len(m.Unfinished) > 0 || !slices.Equal(m.Running, []string{"exec#p"}) {
		t.Errorf("while it goes on: %+v, %+v", snap.Active, m)
	}
	s.Alive = dead
	snap = read(t, s)
	m = snap.Memory()
	if snap.Active != nil || len(m.Owed) != 1 || m.Unfinished["exec#p"] != "r1" {
		t.Errorf("once it is dead: %+v, %+v", snap.Active, m)
	}
	closed(t, j)
}

func TestNothingIsAppendedAfterClose(t *testing.T) {
	t.Parallel()
	j := locked(t, newStore(t), "r1")
	closed(t, j)
	j.Started("exec#a") // a late word from a watch
	if err := j.Append([]model.Record{owe}, true); !errors.Is(err, os.ErrClosed) {
		t.Errorf("error is %v", err)
	}
}
