//go:build unix

package journal

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/settle-cm/settle/model"
)

// mount mounts a file system of its own for a test, or skips the test.
func mount(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := mountTmpfs(dir, options); err != nil {
		t.Skipf("a file system of its own needs root and a kernel that lets it: %v", err)
	}
	t.Cleanup(func() {
		if err := unmount(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

var owe = model.Record{Kind: model.RecordOwed, ID: "exec#s", By: "exec#p", Run: "r1"}

func TestFullDiskStopsTheRunAndLosesNothing(t *testing.T) {
	t.Parallel()
	dir := mount(t, "size=64k")
	s := Store{Dir: filepath.Join(dir, "state"), Identity: "web"}
	j := locked(t, s, "r1")
	appendAll(t, j, owe)
	ballast, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(ballast, endless{}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filled the disk: %v", err)
	}
	if err := ballast.Close(); err != nil {
		t.Fatal(err)
	}
	more := model.Record{Kind: model.RecordOwed, ID: strings.Repeat("x", 3000), Run: "r1"}
	for n := 0; err == nil || errors.Is(err, syscall.ENOSPC) && n == 0; n++ {
		if n > 100 {
			t.Fatal("a full disk takes everything")
		}
		err = j.Append([]model.Record{more}, true)
	}
	want := "cannot save state: no space left on device (" + s.file("journal") + ")"
	if err.Error() != want {
		t.Errorf("says %q, want %q", err, want)
	}
	var stated *Error
	if !errors.As(err, &stated) {
		t.Errorf("%T is not an Error", err)
	}
	before := read(t, s)
	if debts := before.Memory().Owed; len(debts) == 0 || debts[0].ID != "exec#s" {
		t.Errorf("what was safe is lost: %v", debts)
	}
	report := &model.Report{ExitCode: 1}
	if err := errors.Join(j.SaveReport(report), j.Finish(report, 0)); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the end of the run: %v", err)
	}
	if err := os.Remove(ballast.Name()); err != nil {
		t.Fatal(err)
	}
	appendAll(t, j, owe) // there is room again, and the file is whole
	closed(t, j)
	after := read(t, s) // the end of the run is in it where it found room
	if n := len(after.records); n <= len(before.records) || after.records[n-1].ID != owe.ID {
		t.Errorf("%d records, want more than %d, the last one %v", n, len(before.records), owe)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestFullDiskStopsTheFirstRun(t *testing.T) {
	t.Parallel()
	dir := mount(t, "size=64k,nr_inodes=2")
	s := Store{Dir: filepath.Join(dir, "state"), Identity: "web"}
	_, err := s.Lock(t.Context(), 0, apply("r1"))
	if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "cannot make state directory: no space left on device (") {
		t.Errorf("error is %v", err)
	}
}

func TestReadOnlyFileSystemIsExplained(t *testing.T) {
	t.Parallel()
	dir := mount(t, "ro,size=64k")
	s := Store{Dir: filepath.Join(dir, "state"), Identity: "web"}
	_, err := s.Lock(t.Context(), 0, apply("r1"))
	want := "cannot make state directory: " + s.Dir + ": it is on a read-only file system; name another directory with --state-dir"
	if err == nil || err.Error() != want {
		t.Errorf("says %v, want %s", err, want)
	}
	if snap, err := s.Read(); err != nil || snap.Found {
		t.Errorf("reading: %v", err)
	}
}

// faulty makes a journal whose disk fails in a given way, once.
func faulty(t *testing.T, s Store, fail func(j *Journal)) *Journal {
	t.Helper()
	j := locked(t, s, "r1")
	appendAll(t, j, owe)
	fail(j)
	return j
}

var errIO = &os.PathError{Op: "write", Path: "/x", Err: syscall.EIO}

func TestPartialWriteIsTakenBack(t *testing.T) {
	t.Parallel()
	for _, half := range []int{0, 1, 9, 50} {
		s := newStore(t)
		j := faulty(t, s, func(j *Journal) {
			write := j.write
			j.write = func(p []byte) (int, error) {
				j.write = write
				n, err := write(p[:half])
				if err == nil {
					err = errIO
				}
				return n, err
			}
		})
		again := owe
		again.ID = "exec#again"
		err := j.Append([]model.Record{again}, true)
		want := "cannot save state: " + s.file("journal") + ": input/output error"
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%d bytes: says %v, want %s", half, err, want)
		}
		if debts := j.Memory().Owed; len(debts) != 1 {
			t.Errorf("%d bytes: what was not written is remembered: %v", half, debts)
		}
		appendAll(t, j, again)
		closed(t, j)
		if debts := read(t, s).Memory().Owed; len(debts) != 2 {
			t.Errorf("%d bytes: debts are %v", half, debts)
		}
	}
}

func TestPartialWriteThatStaysStopsTheJournal(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	j := faulty(t, s, func(j *Journal) {
		j.write = func(p []byte) (int, error) {
			n, _ := j.file.Write(p[:5])
			_ = j.file.Close() // so that it cannot be truncated
			return n, errIO
		}
	})
	if err := j.Append([]model.Record{owe}, false); err == nil {
		t.Fatal("no error")
	}
	j.write = func(p []byte) (int, error) { t.Error("it goes on writing behind half a line"); return len(p), nil }
	if err := j.Append([]model.Record{owe}, false); !errors.Is(err, syscall.EIO) {
		t.Errorf("the next one: %v", err)
	}
	if err := j.Finish(&model.Report{}, 0); !errors.Is(err, syscall.EIO) {
		t.Errorf("the end: %v", err)
	}
	if snap := read(t, s); len(snap.Memory().Owed) != 1 {
		t.Errorf("debts are %v", snap.Memory().Owed)
	}
	_ = j.Close() // its file is closed already
	j = locked(t, s, "r2")
	appendAll(t, j, owe)
	closed(t, j)
	if snap := read(t, s); len(snap.records) != 4 { // two runs, two debts, and nothing of the half line
		t.Errorf("records are %v", snap.records)
	}
}

func TestFailedSyncStopsTheJournal(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	j := faulty(t, s, func(j *Journal) {
		sync := j.sync
		j.sync = func() error { j.sync = sync; return errIO }
	})
	for range 2 { // a second sync would succeed, and prove nothing
		if err := j.Append([]model.Record{owe}, true); !errors.Is(err, syscall.EIO) {
			t.Errorf("error is %v", err)
		}
	}
	closed(t, j)
}

func TestAppendSyncsOnceForAllBefore(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	syncs := 0
	j := faulty(t, s, func(j *Journal) {
		sync := j.sync
		j.sync = func() error { syncs++; return sync() }
	})
	rows := []struct {
		records []model.Record
		durable bool
		want    int
	}{
		{[]model.Record{owe}, false, 0},
		{[]model.Record{owe}, false, 0},
		{nil, false, 0},
		{nil, true, 1},
		{nil, true, 1},
		{[]model.Record{owe}, true, 2},
	}
	for n, row := range rows {
		if err := j.Append(row.records, row.durable); err != nil || syncs != row.want {
			t.Errorf("step %d: %d syncs, want %d (%v)", n, syncs, row.want, err)
		}
	}
}

func TestAConvergedRunIsOneLineAndNoSync(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	closed(t, faulty(t, s, func(*Journal) {}))
	before, err := os.ReadFile(s.file("journal"))
	if err != nil {
		t.Fatal(err)
	}
	j := locked(t, s, "r2")
	j.sync = func() error { t.Error("synced"); return nil }
	if err := j.Append(nil, true); err != nil {
		t.Fatal(err)
	}
	report := &model.Report{DurationMS: 12}
	report.Summary.Total, report.Summary.Count[model.Stable] = 3, 3
	if err := errors.Join(j.SaveReport(report), j.Finish(report, 7)); err != nil {
		t.Fatal(err)
	}
	closed(t, j)
	after, err := os.ReadFile(s.file("journal"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(after[len(before):]), "\n"); lines != 1 {
		t.Errorf("%d lines:\n%s", lines, after[len(before):])
	}
	if _, err := os.Stat(filepath.Join(s.Path(), "runs")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it left a report: %v", err)
	}
	runs := read(t, s).Runs()
	last := runs[len(runs)-1]
	if last.Run != "r2" || last.DurationMS != 12 || last.Summary.Total != 3 || !last.Converged() || last.User != "alice" || !last.Started.Equal(began) {
		t.Errorf("the history has %+v", last)
	}
}
