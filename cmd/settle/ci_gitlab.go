package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/cmd/internal/terminal"
	"github.com/settle-cm/settle/model"
)

// sections shows what commands say in GitLab's way: the output of each resource
// is a part of the log that folds. Parts cannot be interleaved, so the first
// resource that speaks has the floor until it ends; what others say in the
// meantime waits, within bounds.
type sections struct {
	console *terminal.Console
	m       *model.Manifest

	mu      sync.Mutex
	floor   int // who has it, -1 for nobody
	opened  int // how many sections there were, for their names
	waiting []*speaker
}

// speaker is a resource that waits for the floor.
type speaker struct {
	n       int
	lines   []string
	size    int
	dropped int
	ended   bool
}

// speakerMost is how much of what one resource says is kept while another has
// the floor.
const speakerMost = 256 << 10

const nobody = -1

func newSections(c *terminal.Console, m *model.Manifest) *sections {
	return &sections{console: c, m: m, floor: nobody}
}

// line shows one line, or keeps it until its resource has the floor.
func (s *sections) line(n int, line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.floor == nobody {
		s.open(n)
	}
	if s.floor == n {
		s.console.PrintOutput("", line)
		return
	}
	s.speaker(n).say(string(line))
}

func (s *sections) speaker(n int) *speaker {
	for _, w := range s.waiting {
		if w.n == n {
			return w
		}
	}
	w := &speaker{n: n}
	s.waiting = append(s.waiting, w)
	return w
}

func (w *speaker) say(line string) {
	if w.size+len(line) > speakerMost {
		w.dropped++
		return
	}
	w.size += len(line) + 1
	w.lines = append(w.lines, line)
}

// finished ends the section of a resource. One that said nothing as it went gets
// a section of what the report keeps of its output.
func (s *sections) finished(n int, o *model.ResourceReport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.floor == n {
		s.close()
		s.next()
		return
	}
	waits := false
	for _, w := range s.waiting {
		if w.n == n {
			w.ended, waits = true, true
		}
	}
	if waits || o.Output == "" || o.Quiet {
		return
	}
	w := s.speaker(n)
	for line := range strings.Lines(o.Output) {
		w.say(strings.TrimRight(line, "\r\n"))
	}
	w.ended = true
	if s.floor == nobody {
		s.next()
	}
}

// next gives the floor to those who wait: to all that have ended in turn, and to
// the first that goes on.
func (s *sections) next() {
	for len(s.waiting) > 0 && s.floor == nobody {
		w := s.waiting[0]
		s.waiting = s.waiting[1:]
		s.open(w.n)
		for _, line := range w.lines {
			s.console.PrintOutput("", []byte(line))
		}
		if w.dropped > 0 {
			s.console.PrintOutput("", fmt.Appendf(nil, "(%s left out here: another resource had the log)", counted(w.dropped, "line")))
		}
		if w.ended {
			s.close()
		}
	}
}

func (s *sections) open(n int) {
	s.floor = n
	s.opened++
	s.console.PrintMark(render.SectionStart(s.id(n), s.opened, time.Now()))
}

func (s *sections) close() {
	s.console.PrintMark(render.SectionEnd(s.id(s.floor), s.opened, time.Now()))
	s.floor = nobody
}

func (s *sections) id(n int) string { return s.m.Resources[n].ID() }
