package terminal

import (
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// StatusLine is a line at the bottom of a terminal that changes. Everything else
// is written above it. The cursor rests at the start of the line: then the line
// can be erased whole, even when a terminal that became narrower has wrapped it.
// Nothing is asked of the terminal but its size.
type StatusLine struct {
	columns func() int
	w       io.Writer

	mu   sync.Mutex
	line string
}

// newStatusLine returns nil when w is not a terminal, or one that cannot do it.
func newStatusLine(w io.Writer) *StatusLine {
	t := os.Getenv("TERM")
	f, ok := fileOf(w)
	if !ok || !IsTerminal(w) || t == "" || t == "dumb" {
		return nil
	}
	return &StatusLine{w: w, columns: func() int {
		columns, _, err := term.GetSize(int(f.Fd()))
		if err != nil || columns < 1 {
			return 80
		}
		return columns
	}}
}

const (
	// eraseLine goes to the first column, since an echoed ^C may have moved the
	// cursor, and clears to the end of the screen.
	eraseLine = "\r\x1b[J"
	// wrapOff and wrapOn keep a line on one row that is wider than the terminal:
	// the terminal may become narrower right before the line is written.
	wrapOff, wrapOn = "\x1b[?7l", "\x1b[?7h\r"
)

// above returns a writer to w that keeps the line below what it writes.
func (s *StatusLine) above(w io.Writer) io.Writer { return aboveLine{s, w} }

type aboveLine struct {
	*StatusLine
	w io.Writer
}

func (a aboveLine) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.line == "" {
		return a.w.Write(p)
	}
	_, _ = io.WriteString(a.StatusLine.w, eraseLine) // if it fails so does the next write
	n, err := a.w.Write(p)
	_, _ = io.WriteString(a.StatusLine.w, wrapOff+a.line+wrapOn)
	return n, err
}

// Show replaces the line; "" removes it. It does nothing when s is nil.
func (s *StatusLine) Show(line string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case line == "" && s.line == "":
	case line == "":
		_, _ = io.WriteString(s.w, eraseLine) // a terminal that is gone needs no line
	default:
		_, _ = io.WriteString(s.w, eraseLine+wrapOff+line+wrapOn)
	}
	s.line = line
}
