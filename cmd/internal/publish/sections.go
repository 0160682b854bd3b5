package publish

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/cmd/internal/terminal"
	"github.com/settle-cm/settle/model"
)

// sections writes the output of each resource as a section of GitLab's log that
// can be folded. Sections cannot be interleaved: the first resource with output
// has the log until it ends. The output of others waits, within bounds.
type sections struct {
	console *terminal.Console
	m       *model.Manifest

	mu      sync.Mutex
	current int // the resource whose section is open, or noResource
	opened  int // how many sections there were, for their names
	waiting []*waitingOutput
}

// waitingOutput is the output of a resource that waits for the log.
type waitingOutput struct {
	n       int
	lines   []string
	size    int
	dropped int
	ended   bool
}

// maxWaiting is how many bytes of one resource's output are kept while another
// resource has the log.
const maxWaiting = 256 << 10

const noResource = -1

func newSections(c *terminal.Console, m *model.Manifest) *sections {
	return &sections{console: c, m: m, current: noResource}
}

// printLine writes one line, or keeps it until its resource has the log.
func (s *sections) printLine(n int, line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == noResource {
		s.open(n)
	}
	if s.current == n {
		s.console.PrintOutput("", line)
		return
	}
	s.waitingFor(n).add(string(line))
}

func (s *sections) waitingFor(n int) *waitingOutput {
	for _, w := range s.waiting {
		if w.n == n {
			return w
		}
	}
	w := &waitingOutput{n: n}
	s.waiting = append(s.waiting, w)
	return w
}

func (w *waitingOutput) add(line string) {
	if w.size+len(line) > maxWaiting {
		w.dropped++
		return
	}
	w.size += len(line) + 1
	w.lines = append(w.lines, line)
}

// finished ends the section of a resource. A resource without output so far gets
// a section with the output that the report keeps.
func (s *sections) finished(n int, o *model.ResourceReport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == n {
		s.close()
		s.openNext()
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
	w := s.waitingFor(n)
	for line := range strings.Lines(o.Output) {
		w.add(strings.TrimRight(line, "\r\n"))
	}
	w.ended = true
	if s.current == noResource {
		s.openNext()
	}
}

// openNext writes the sections of waiting resources that have ended, and opens
// the section of the first that is still running.
func (s *sections) openNext() {
	for len(s.waiting) > 0 && s.current == noResource {
		w := s.waiting[0]
		s.waiting = s.waiting[1:]
		s.open(w.n)
		for _, line := range w.lines {
			s.console.PrintOutput("", []byte(line))
		}
		if w.dropped > 0 {
			s.console.PrintOutput("", fmt.Appendf(nil, "(%s left out here: another resource had the log)", countLines(w.dropped)))
		}
		if w.ended {
			s.close()
		}
	}
}

func (s *sections) open(n int) {
	s.current = n
	s.opened++
	s.console.PrintMark(render.SectionStart(s.id(n), s.opened, time.Now()))
}

func (s *sections) close() {
	s.console.PrintMark(render.SectionEnd(s.id(s.current), s.opened, time.Now()))
	s.current = noResource
}

func (s *sections) id(n int) string { return s.m.Resources[n].ID() }

func countLines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}
