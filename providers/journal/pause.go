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

// Pause keeps applies from running until it is over or taken back.
type Pause struct {
	By     string    `json:"by"`
	Reason string    `json:"reason,omitempty"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until,omitzero"` // zero: until somebody resumes
	All    bool      `json:"-"`              // it is of every identity
}

// Error says who paused, why and until when: a pause is why an apply did not run.
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

// Paused returns the pause that holds now: one of every identity, else one of
// this; nil when there is none.
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

// Pause pauses the identity; a pause that is there already is replaced.
func (j *Journal) Pause(p Pause) error { return j.store.pause(p, false) }

// Resume takes the identity's pause back; false when there was none.
func (j *Journal) Resume() (bool, error) { return j.store.resume(false) }

// PauseAll pauses every identity of the state directory. No lock is over all
// of them: an apply that has begun is not stopped.
func (s Store) PauseAll(p Pause) error {
	if err := s.prepareDir(); err != nil {
		return err
	}
	return s.pause(p, true)
}

// ResumeAll takes the pause of every identity back; false when there was none.
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
