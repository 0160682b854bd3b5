//go:build unix

package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/settle-cm/settle/model"
)

// Another user must not lead settle to change or remove other files.
func TestUntrustedStateDirectoriesAreRefused(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		make func(t *testing.T, s Store, elsewhere string)
		want string
	}{
		{"a link for the identity", func(t *testing.T, s Store, elsewhere string) { link(t, elsewhere, s.Path()) }, "is a symbolic link"},
		{"a link for the reports", func(t *testing.T, s Store, elsewhere string) {
			if err := os.Mkdir(s.Path(), 0o700); err != nil {
				t.Fatal(err)
			}
			link(t, elsewhere, filepath.Join(s.Path(), "runs"))
		}, "is a symbolic link"},
		{"a state directory that others may write", func(t *testing.T, s Store, _ string) { open(t, s.Dir, 0o777) }, "others may write"},
		{"one that a group may write", func(t *testing.T, s Store, _ string) { open(t, s.Dir, 0o770) }, "others may write"},
		{"an identity that others may write", func(t *testing.T, s Store, _ string) { open(t, s.Path(), 0o702) }, "others may write"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			open(t, s.Dir, 0o700)
			elsewhere := t.TempDir()
			open(t, elsewhere, 0o755)
			write(t, filepath.Join(elsewhere, "old.json"), "precious")
			row.make(t, s, elsewhere)
			_, err := s.Lock(t.Context(), 0, apply("r1"))
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("says %v", err)
			}
			info, err := os.Stat(elsewhere)
			if err != nil || info.Mode().Perm() != 0o755 {
				t.Errorf("the other directory is %v, %v", info.Mode(), err)
			}
		})
	}
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

func TestOnlyOwnReportsAreRemoved(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	j := locked(t, s, "r1")
	runs := filepath.Join(s.Path(), "runs")
	write(t, filepath.Join(runs, "old.json"), `{"schema":"settle.report/v1"}`)
	write(t, filepath.Join(runs, "notes.txt"), "mine")
	write(t, filepath.Join(runs, "data.json"), `{"precious":1}`)
	link(t, filepath.Join(runs, "old.json"), filepath.Join(runs, "link.json"))
	finish(t, j, 0)
	for name, kept := range map[string]bool{"old.json": false, "notes.txt": true, "data.json": true, "link.json": true} {
		if _, err := os.Lstat(filepath.Join(runs, name)); (err == nil) != kept {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// finish ends a run that changed something.
func finish(t *testing.T, j *Journal, keep int) {
	t.Helper()
	if err := j.Finish(changedReport(), keep); err != nil {
		t.Fatal(err)
	}
	closed(t, j)
}

// A run whose state is removed must not report refreshes that no later run knows.
func TestStateRemovedDuringTheRunIsAnError(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"journal", "", "lock"} {
		for _, early := range []bool{true, false} {
			s := newStore(t)
			j := locked(t, s, "r0")
			finish(t, j, 0)
			j = locked(t, s, "r1")
			if !early {
				appendAll(t, j, owe)
			}
			if err := os.RemoveAll(s.file(what)); err != nil {
				t.Fatal(err)
			}
			err := j.Append([]model.Record{owe}, true)
			err = errors.Join(err, j.Finish(changedReport(), 0))
			if err == nil {
				t.Errorf("%q removed, early %v: no error", what, early)
			}
			_ = j.Close()
		}
	}
}

func TestJournalWithoutRecordsIsNotFound(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", header} {
		s := newStore(t)
		write(t, s.file("journal"), text)
		snap, err := s.Read()
		if err != nil || snap.Found {
			t.Errorf("%q: found %v, %v", text, snap.Found, err)
		}
	}
}

// When the directory cannot be synced after the rename, the short journal stands
// and may not survive a power loss. When the rename fails, the long one is as good.
func TestFailedCompactionIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	for _, renamed := range []bool{true, false} {
		s := newStore(t)
		j := locked(t, s, "r0")
		for j.size <= compactAbove {
			appendAll(t, j, owe, model.Record{Kind: model.RecordSettled, ID: owe.ID}, model.Record{Kind: model.RecordRun, Run: strings.Repeat("x", 1000)})
		}
		closed(t, j)
		j = locked(t, s, "r1")
		j.replace = func(path string, text []byte) error {
			if renamed {
				if err := replaceFile(path, text); err != nil {
					t.Fatal(err)
				}
			}
			return syscall.EIO
		}
		err := j.Append([]model.Record{owe}, true)
		if renamed != (err != nil) {
			t.Errorf("renamed %v: %v", renamed, err)
		}
		_ = j.Close()
		if _, err := s.Read(); err != nil {
			t.Errorf("renamed %v: %v", renamed, err)
		}
	}
}

// A power loss keeps any of the sectors that were not synced. The records before
// the first lost one remain, and a hole in a synced place is damage.
func TestLostSectorsDropTheUnsyncedTail(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	j := locked(t, s, "r1")
	appendAll(t, j, owe) // durable
	synced := int(j.size)
	for range 40 {
		if err := j.Append([]model.Record{{Kind: model.RecordBegan, Run: "r1", ID: "exec#" + strings.Repeat("y", 50)}}, false); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, j)
	whole, err := os.ReadFile(s.file("journal"))
	if err != nil {
		t.Fatal(err)
	}
	lose := func(from, sectors, keep int) []byte {
		image := append([]byte{}, whole...)
		for n := range sectors {
			for i := max(keep, (from+n)*sector); i < min(len(image), (from+n+1)*sector); i++ {
				image[i] = 0
			}
		}
		return image
	}
	for from := 0; from*sector < len(whole); from++ {
		for sectors := 1; sectors <= 3; sectors++ {
			records, good, err := decode("j", lose(from, sectors, synced))
			if err != nil || good < synced || len(records) == 0 {
				t.Errorf("sectors %d+%d: %d records in %d bytes, %v", from, sectors, len(records), good, err)
			}
		}
	}
	if _, _, err := decode("j", lose(0, 1, len(header))); err == nil {
		t.Error("a hole in a synced place is no damage")
	}
	if records, good, err := decode("j", append(make([]byte, sector), whole[sector:]...)); err == nil {
		t.Errorf("a lost header with a record that was synced: %d records in %d bytes", len(records), good)
	}
}

func changedReport() *model.Report {
	r := &model.Report{Schema: model.ReportSchema, ExitCode: 1}
	r.Summary.Set("changed", 1)
	return r
}
