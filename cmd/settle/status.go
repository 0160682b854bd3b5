package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/settle-cm/settle/cmd/internal/render"
)

// screen is a terminal with one line at its bottom that changes: whatever is
// written comes above it. The cursor rests at the line's beginning, so that the
// line can be erased whole although a terminal that became narrower has wrapped
// it; nothing is asked of the terminal but its size.
type screen struct {
	size func() int // columns
	w    io.Writer

	mu   sync.Mutex
	line string
}

// newScreen returns nil where nobody watches, or the terminal cannot do it.
func newScreen(w io.Writer) *screen {
	t := os.Getenv("TERM")
	if !terminal(w) || t == "" || t == "dumb" {
		return nil
	}
	f, _ := file(w) // terminal has seen that it is one
	return &screen{w: w, size: func() int {
		columns, _, err := term.GetSize(int(f.Fd()))
		if err != nil || columns < 1 {
			return 80
		}
		return columns
	}}
}

const (
	// erase clears from the cursor to the end of the screen, after going to the
	// first column: a person's ^C may have moved it.
	erase = "\r\x1b[J"
	// noWrap and wrap keep a line on one row that is wider than the terminal:
	// it may become narrower a moment before anyone can know.
	noWrap, wrap = "\x1b[?7l", "\x1b[?7h\r"
)

// over returns a writer of a stream that is shown on the screen.
func (s *screen) over(w io.Writer) io.Writer { return screened{s, w} }

type screened struct {
	*screen
	w io.Writer
}

// Write puts a text above the line.
func (s screened) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line == "" {
		return s.w.Write(p)
	}
	_, _ = io.WriteString(s.screen.w, erase) // if it fails so does what follows
	n, err := s.w.Write(p)
	_, _ = io.WriteString(s.screen.w, noWrap+s.line+wrap)
	return n, err
}

// show replaces the line; "" takes it away. A nil screen shows nothing.
func (s *screen) show(line string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case line == "" && s.line == "":
	case line == "":
		_, _ = io.WriteString(s.w, erase) // a terminal that is gone needs no line
	default:
		_, _ = io.WriteString(s.w, erase+noWrap+line+wrap)
	}
	s.line = line
}

const (
	drawEvery = 200 * time.Millisecond // a resource that is quicker is not shown
	beatEvery = time.Second
	silence   = 30 * time.Second // after which a command off a terminal is said to be still there
)

// live tells those who watch a walk what runs: on a terminal in a line that
// changes, elsewhere in a line of the log whenever a command was silent for long.
type live struct {
	console *console
	stop    chan struct{}
	stopped chan struct{}

	said []atomic.Bool // by resource: it said something since the last look

	mu    sync.Mutex
	doing []doing // in the order of their start
	done  int
	total int
}

// doing is a resource that is at work.
type doing struct {
	n     int
	id    string
	since time.Time
	quiet time.Time // since when it said nothing and nothing was said of it
}

func newLive(c *console) *live { return &live{console: c} }

// begin starts to tell of a walk over so many resources.
func (l *live) begin(total int) {
	if l.console.quiet {
		return
	}
	l.doing, l.done, l.total, l.said = nil, 0, total, make([]atomic.Bool, total)
	l.stop, l.stopped = make(chan struct{}), make(chan struct{})
	go l.tell()
}

// end is called when the walk is over, also when it never began.
func (l *live) end() {
	if l.stop == nil {
		return
	}
	close(l.stop)
	<-l.stopped
	l.stop = nil
	l.console.screen.show("")
}

func (l *live) tell() {
	defer close(l.stopped)
	every := beatEvery
	if l.console.screen != nil {
		every = drawEvery
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-l.stop:
			return
		case now := <-ticker.C:
			if s := l.console.screen; s != nil {
				s.show(l.line(now, s.size()))
				continue
			}
			for _, beat := range l.beats(now) {
				l.console.Info(beat)
			}
		}
	}
}

func (l *live) started(n int, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.doing = append(l.doing, doing{n: n, id: id, since: now, quiet: now})
}

func (l *live) finished(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done++
	for i, d := range l.doing {
		if d.n == n {
			l.doing = append(l.doing[:i], l.doing[i+1:]...)
			return
		}
	}
}

// spoke notes that a resource said something. It is called for every line.
func (l *live) spoke(n int) {
	if n < len(l.said) && !l.said[n].Load() {
		l.said[n].Store(true)
	}
}

// beats says of each resource that was silent for long that it is still at work.
func (l *live) beats(now time.Time) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for i := range l.doing {
		d := &l.doing[i]
		if l.said[d.n].Swap(false) {
			d.quiet = now
		}
		if silent := now.Sub(d.quiet); silent >= silence {
			all = append(all, fmt.Sprintf("%s still runs after %s, silent for %s", render.Escape(d.id), clock(now.Sub(d.since)), clock(silent)))
			d.quiet = now
		}
	}
	return all
}

// line is what runs, for how long, and how much of all is done, in fewer than so
// many columns. What does not fit is counted.
func (l *live) line(now time.Time, columns int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.doing) == 0 {
		return ""
	}
	room := columns - 1 // a full last column makes some terminals wrap
	line := fmt.Sprintf("%d/%d", l.done, l.total)
	shown := 0
	for i := range l.doing {
		d := &l.doing[i]
		rest := ""
		if n := len(l.doing) - i - 1; n > 0 {
			rest = fmt.Sprintf(" +%d", n)
		}
		part := " " + render.Escape(d.id) + " " + clock(now.Sub(d.since))
		if i > 0 {
			part = "," + part
		}
		if render.Cells(line+part+rest) > room {
			break
		}
		line += part
		shown++
	}
	switch left := len(l.doing) - shown; {
	case shown == 0:
		return l.narrow(line, now, room)
	case left > 0:
		line += fmt.Sprintf(" +%d", left)
	}
	return line
}

// narrow is the line where there is no room for one name in full.
func (l *live) narrow(line string, now time.Time, room int) string {
	d := &l.doing[0]
	end := " " + clock(now.Sub(d.since))
	if n := len(l.doing) - 1; n > 0 {
		end += fmt.Sprintf(" +%d", n)
	}
	if name := room - render.Cells(line+" "+end); name >= 4 {
		return line + " " + render.Shorten(render.Escape(d.id), name) + end
	}
	return render.Shorten(line+end, max(room, 1))
}

// clock is a time as it passes: 7s, 1m05s, 2h03m.
func clock(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return render.Duration(d.Truncate(time.Second).Milliseconds())
}
