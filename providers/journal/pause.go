package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Pause stops applies until it ends or `settle resume` removes it.
type Pause struct {
	By     string    `json:"by"`
	Reason string    `json:"reason,omitempty"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until,omitzero"` // zero: until `settle resume`
	All    bool      `json:"-"`              // it is of every identity
}

// Error returns the message.
func (p *Pause) Error() string {
	var b strings.Builder
	b.WriteString("paused by " + p.By)
	if p.Reason != "" {
		b.WriteString(": " + p.Reason)
	}
	if p.Until.IsZero() {
		b.WriteString(", until `settle resume")
		if p.All {
			b.WriteString(" --all")
		}
		b.WriteString("`")
		return b.String()
	}
	b.WriteString(", until " + p.Until.Format(time.RFC3339))
	return b.String()
}

func (s Store) pauseFile(all bool) string {
	if all {
		return filepath.Join(s.Dir, ".paused") // no identity's directory begins with a dot
	}
	return s.file("paused")
}

// Paused returns the pause in force: that of all identities, or of this one; nil without one.
func (s Store) Paused(now time.Time) (*Pause, error) {
	for _, all := range []bool{true, false} {
		pause, err := s.readPause(all)
		if err != nil || pause != nil && (pause.Until.IsZero() || now.Before(pause.Until)) {
			return pause, err
		}
	}
	return nil, nil
}

func (s Store) readPause(all bool) (*Pause, error) {
	path := s.pauseFile(all)
	text, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, s.explain("read pause", path, err)
	}
	pause := Pause{All: all}
	if err := json.Unmarshal(text, &pause); err != nil {
		return nil, &Error{fmt.Sprintf("pause is damaged: %s: %v; take it back with `settle resume`", path, err), err}
	}
	return &pause, nil
}

// Pause stops applies until it ends or `settle resume` removes it.
func (j *Journal) Pause(p Pause) error { return j.store.pause(p, false) }

// Resume removes the identity's pause. It returns false when there was none.
func (j *Journal) Resume() (bool, error) { return j.store.resume(false) }

// PauseAll pauses every identity of the state directory. It takes no lock, so an
// apply that has begun goes on.
func (s Store) PauseAll(p Pause) error {
	if err := s.prepareDir(); err != nil {
		return err
	}
	return s.pause(p, true)
}

// ResumeAll removes the pause of all identities. It returns false when there was none.
func (s Store) ResumeAll() (bool, error) { return s.resume(true) }

func (s Store) pause(p Pause, all bool) error {
	path := s.pauseFile(all)
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode pause: %w", err)
	}
	if err := replaceFile(path, append(text, '\n')); err != nil {
		return s.explain("save pause", path, err)
	}
	return nil
}

func (s Store) resume(all bool) (bool, error) {
	path := s.pauseFile(all)
	err := os.Remove(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, s.explain("take back pause", path, err)
	}
	return true, syncDir(filepath.Dir(path))
}
