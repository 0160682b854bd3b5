//go:build unix

package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/settle-cm/settle/model"
)

// keep makes a backup of a run.
func keep(t *testing.T, s Store, run string) {
	t.Helper()
	dir := filepath.Join(BackupDir(s.Dir, run), "etc")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "motd"), run)
}

// kept lists the runs that have backups.
func kept(t *testing.T, s Store) []string {
	t.Helper()
	entries, err := os.ReadDir(BackupDir(s.Dir, ""))
	if err != nil {
		t.Fatal(err)
	}
	var runs []string
	for _, entry := range entries {
		runs = append(runs, entry.Name())
	}
	return runs
}

func TestABackupLivesAsLongAsItsRun(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	other := s
	other.Identity = "other"
	for n := range 4 {
		keep(t, s, fmt.Sprint("r", n))
		finished(t, s, fmt.Sprint("r", n), 1, 2)
		keep(t, other, fmt.Sprint("o", n))
		finished(t, other, fmt.Sprint("o", n), 1, 0)
	}
	keep(t, s, "nobody's")
	finished(t, s, "converged", 0, 2)
	if got, want := kept(t, s), []string{"nobody's", "o0", "o1", "o2", "o3", "r2", "r3"}; !slices.Equal(got, want) {
		t.Errorf("backups of %v, want %v", got, want)
	}
	// one that was killed is a run as well
	keep(t, s, "killed")
	killed := locked(t, s, "killed")
	appendAll(t, killed, owe)
	if err := killed.lock.Close(); err != nil {
		t.Fatal(err)
	}
	finished(t, s, "r4", 1, 2)
	if got, want := kept(t, s), []string{"killed", "nobody's", "o0", "o1", "o2", "o3"}; !slices.Equal(got, want) {
		t.Errorf("after a kill backups of %v, want %v", got, want)
	}
}

// A journal that is made shorter must not forget whose backups are left.
func TestBackupsGoBeforeTheirRunsAreForgotten(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	long := model.Record{Kind: model.RecordSettled, ID: strings.Repeat("x", 1000)}
	j := locked(t, s, "r1")
	appendAll(t, j, slices.Repeat([]model.Record{long}, 1100)...)
	closed(t, j)
	done := model.Record{Kind: model.RecordDone, Run: "r2", Exit: &exit, Summary: &model.Summary{Total: 1}, Keep: 1}
	j = locked(t, s, "")
	appendAll(t, j, done)
	closed(t, j)
	keep(t, s, "r1")
	keep(t, s, "r2")
	j = locked(t, s, "r3")
	appendAll(t, j, owe)
	if j.size > compactAbove {
		t.Fatalf("the journal was not made shorter: %d bytes", j.size)
	}
	if got, want := kept(t, s), []string{"r2"}; !slices.Equal(got, want) {
		t.Errorf("backups of %v, want %v", got, want)
	}
	closed(t, j)
}

func TestBackupThatCannotBeRemovedIsReported(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	keep(t, s, "r0")
	finished(t, s, "r0", 1, 1)
	if err := os.RemoveAll(BackupDir(s.Dir, "")); err != nil {
		t.Fatal(err)
	}
	write(t, BackupDir(s.Dir, ""), "no directory")
	j := locked(t, s, "r1")
	report := &model.Report{ExitCode: 1}
	if err := j.Finish(report, 1); err == nil || !strings.HasPrefix(err.Error(), "cannot prune backups: "+BackupDir(s.Dir, "")+": not a directory") {
		t.Errorf("says %v", err)
	}
	closed(t, j)
}
