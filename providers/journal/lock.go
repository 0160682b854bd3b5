package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Held is the error of a lock that another settle holds.
type Held struct{ Holder }

// Error returns the message.
func (h *Held) Error() string {
	var b strings.Builder
	b.WriteString("another apply is running")
	if h.Run == "" && h.PID != 0 {
		b.Reset()
		b.WriteString("another settle is changing the state")
	}
	if h.PID != 0 {
		fmt.Fprintf(&b, ": pid %d since %s", h.PID, h.Since.Format(time.RFC3339))
	}
	if len(h.Running) > 0 {
		fmt.Fprintf(&b, ", runs %s", strings.Join(h.Running, ", "))
	}
	return b.String()
}

// errLocked is the error of tryLock while another process holds the lock.
var errLocked = errors.New("lock is taken")

const (
	// lockPause is the time between two attempts to get a lock that is taken.
	lockPause = 50 * time.Millisecond
	// lastBreath is how long a dead holder may seem to hold the lock: until
	// the child that it was just forking has become another program.
	deadHolderGrace = 2 * time.Second
)

// Lock checks that the state can be written, takes the identity's lock within the
// given time, and reads the state. Close or the end of the process releases the
// lock; children do not inherit it.
func (s Store) Lock(ctx context.Context, wait time.Duration, me Holder) (*Journal, error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	deadline := time.Now().Add(wait)
	grave := time.Now().Add(deadHolderGrace)
	for {
		file, err := s.tryLock()
		if err == nil {
			return s.open(file, me)
		}
		if !errors.Is(err, errLocked) {
			return nil, s.explain("lock state", s.file("lock"), err)
		}
		left := time.Until(deadline)
		if left <= 0 {
			held := s.heldError()
			if s.Alive == nil || s.Alive(held.Process) || time.Now().After(grave) {
				return nil, held
			}
			left = time.Millisecond
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the lock: %w", context.Cause(ctx))
		case <-time.After(min(left, lockPause)):
		}
	}
}

// tryLock opens and locks the lock file. If the state was removed between the two
// steps, the lock protects nothing, so it starts over.
func (s Store) tryLock() (*os.File, error) {
	for {
		file, err := openFile(s.file("lock"), os.O_RDWR)
		if err != nil {
			return nil, err
		}
		if err = lockFile(file); err == nil {
			var same bool
			if same, err = isCurrent(file); same {
				return file, nil
			}
		}
		_ = file.Close() // nothing was written
		if err != nil {
			return nil, err
		}
	}
}

// isCurrent reports whether an open file is still the one at its path.
func isCurrent(file *os.File) (bool, error) {
	mine, err := file.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(file.Name())
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, there), err
}

// heldError returns the error that names the holder. The holder may be about to
// write its name, or the resource that it has just started, so a short wait helps.
func (s Store) heldError() *Held {
	held := &Held{}
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		h := s.holder()
		if h != nil {
			held.Holder = *h
		}
		gone := h == nil && held.PID != 0 || h != nil && s.Alive != nil && !s.Alive(h.Process)
		named := h != nil && (h.Run == "" || len(h.Running) > 0)
		if named || gone || time.Since(begin) > 3*nameDelay {
			return held
		}
	}
}

// holder returns the name in the lock file, whether that process is alive or dead;
// nil when the file is empty.
func (s Store) holder() *Holder {
	text, err := readFile(s.file("lock"))
	if err != nil {
		return nil // no lock, or none of our business
	}
	return readHolder(text)
}

func readHolder(text []byte) *Holder {
	line, _, ok := bytes.Cut(text, []byte("\n")) // the rest of a longer name may follow
	var h Holder
	if !ok || json.Unmarshal(line, &h) != nil {
		return nil
	}
	return &h
}

// writeTo puts the holder's name into the lock file with one write.
func (h *Holder) writeTo(file *os.File) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(append(text, '\n'), 0)
	return err
}

// open reads the state under the lock and writes our name into the lock file.
func (s Store) open(file *os.File, me Holder) (*Journal, error) {
	j := &Journal{lock: file, self: me}
	err := j.start(s)
	if err != nil {
		j.release()
		return nil, err
	}
	return j, nil
}

func (j *Journal) start(s Store) error {
	snap, err := s.read()
	if err != nil {
		return err
	}
	j.Snapshot = *snap
	text, err := io.ReadAll(j.lock)
	if err != nil {
		return s.explain("read state", j.lock.Name(), err)
	}
	j.pending = j.missingRecords(readHolder(text))
	if err := j.self.writeTo(j.lock); err != nil {
		return s.explain("save state", j.lock.Name(), err)
	}
	if j.self.Run != "" {
		j.pending = append(j.pending, j.self.runRecord())
	}
	return nil
}

// release removes our name from the lock file and releases the lock.
func (j *Journal) release() {
	_ = j.lock.Truncate(0) // the name of a dead process is ignored anyway
	_ = j.lock.Close()     // holds no data
	j.lock = nil
}
