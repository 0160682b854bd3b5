//go:build unix

package journal

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/settle-cm/settle/model"
)

// piped makes the journal a pipe: a reader gets the bytes written to it, and waits
// until it is closed. open waits for the reader.
func piped(t *testing.T, s Store) (open func() (*os.File, error)) {
	t.Helper()
	path := s.file("journal")
	if err := os.MkdirAll(s.Path(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return func() (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) }
}

var openAttempt = []model.Record{
	{Kind: model.RecordRun, Run: "r1"},
	{Kind: model.RecordBegan, Run: "r1", ID: "exec#p", Subscribers: []string{"exec#s"}},
}

// A writer that repairs a torn line may show a reader parts of two files.
func TestReaderRetriesBeforeItReportsDamage(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.readJournal = os.ReadFile // which waits for a pipe
	open := piped(t, s)
	write(t, s.file("whole"), string(text(openAttempt...)))
	served := make(chan error, 1)
	go func() {
		served <- func() error {
			pipe, err := open()
			if err != nil {
				return err
			}
			if _, err := pipe.WriteString(header + "0000 half a line"); err != nil {
				return err
			}
			_, err = pipe.Write(text(openAttempt...))
			return errors.Join(err, os.Rename(s.file("whole"), s.file("journal")), pipe.Close())
		}()
	}()
	snap := read(t, s)
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	diff(t, "records", openAttempt, snap.records)
}

// What a run has begun is not lost because the run ended while we were reading:
// its end is just behind what we have read.
func TestRunEndingDuringAReadIsNotKilled(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.Alive = alive
	s.readJournal = os.ReadFile // which waits for a pipe
	open := piped(t, s)
	lock, err := openFile(s.file("lock"), os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	me := apply("r1")
	if err := me.writeTo(lock); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- func() error {
			pipe, err := open()
			if err != nil {
				return err
			}
			_, err = pipe.Write(text(openAttempt...))
			return errors.Join(err, lock.Truncate(0), pipe.Close())
		}()
	}()
	snap := read(t, s)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	m := snap.Memory()
	if len(m.Owed) > 0 || !slices.Equal(m.Running, []string{"exec#p"}) {
		t.Errorf("debts %v, running %v", m.Owed, m.Running)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
}
