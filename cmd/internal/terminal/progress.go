package terminal

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/settle-cm/settle/cmd/internal/render"
)

const (
	drawInterval  = 200 * time.Millisecond // a resource that takes less is not shown
	checkInterval = time.Second
	silentTime    = 30 * time.Second // without output, after which a log line says that a command still runs
)

// Progress shows which resources are being run: in the status line of a
// terminal, else in a log line whenever a command was silent for silentTime.
type Progress struct {
	console *Console
	stop    chan struct{}
	stopped chan struct{}

	hadOutput []atomic.Bool // by resource: since the last check

	announcing sync.Mutex // held while AnnounceInterrupt writes, so that End comes after it

	mu      sync.Mutex
	running []runningResource // in the order of their start
	done    int
	total   int
}

// runningResource is a resource that was started and has not finished.
type runningResource struct {
	n       int
	id      string
	since   time.Time
	silence time.Time // when its last output, or the last log line about it, was written
}

// NewProgress returns a progress that writes to c.
func NewProgress(c *Console) *Progress { return &Progress{console: c} }

// Begin starts to show the run of so many resources.
func (p *Progress) Begin(total int) {
	if p.console.quiet {
		return
	}
	p.mu.Lock()
	p.running, p.done, p.total, p.hadOutput = nil, 0, total, make([]atomic.Bool, total)
	p.mu.Unlock()
	p.stop, p.stopped = make(chan struct{}), make(chan struct{})
	go p.show()
}

// End removes the status line. It may be called without Begin.
func (p *Progress) End() {
	p.announcing.Lock()
	defer p.announcing.Unlock()
	if p.stop == nil {
		return
	}
	close(p.stop)
	<-p.stopped
	p.stop = nil
	p.console.StatusLine.Show("")
}

func (p *Progress) show() {
	defer close(p.stopped)
	interval := checkInterval
	if p.console.StatusLine != nil {
		interval = drawInterval
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case now := <-ticker.C:
			if s := p.console.StatusLine; s != nil {
				s.Show(p.statusText(now, s.columns()))
				continue
			}
			for _, line := range p.silentLines(now) {
				p.console.Info(line)
			}
		}
	}
}

// Started adds a resource, by its number and its id.
func (p *Progress) Started(n int, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.running = append(p.running, runningResource{n: n, id: id, since: now, silence: now})
}

// Finished removes a resource. It may not have been started.
func (p *Progress) Finished(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	for i, r := range p.running {
		if r.n == n {
			p.running = append(p.running[:i], p.running[i+1:]...)
			return
		}
	}
}

// HadOutput records that a resource wrote something. It is called for every line.
func (p *Progress) HadOutput(n int) {
	if n < len(p.hadOutput) && !p.hadOutput[n].Load() {
		p.hadOutput[n].Store(true)
	}
}

// AnnounceInterrupt notes which resources run. It returns a function that writes
// which resources the interrupted run waits for, for how long at most, and how to kill
// them: again names the way to repeat the signal. The function has to be called, since
// End waits for it. It writes nothing when no resource was running.
func (p *Progress) AnnounceInterrupt(again string, grace time.Duration) func() {
	p.announcing.Lock()
	ids := p.runningIDs()
	return func() {
		defer p.announcing.Unlock()
		if len(ids) == 0 {
			return
		}
		const shown = 3
		them, list := "it", strings.Join(ids[:min(len(ids), shown)], ", ")
		if len(ids) > 1 {
			them = "them"
		}
		if more := len(ids) - shown; more > 0 {
			list += fmt.Sprintf(" and %d more", more)
		}
		p.console.Warn(fmt.Sprintf("interrupted: waiting up to %s for %s to end; %s to kill %s", formatElapsed(grace), list, again, them))
	}
}

// runningIDs returns the ids of the running resources, in the order of their start.
func (p *Progress) runningIDs() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ids []string
	for i := range p.running {
		ids = append(ids, render.Escape(p.running[i].id))
	}
	return ids
}

// silentLines returns a log line for each resource that was silent for silentTime.
func (p *Progress) silentLines(now time.Time) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var lines []string
	for i := range p.running {
		r := &p.running[i]
		if p.hadOutput[r.n].Swap(false) {
			r.silence = now
		}
		if silent := now.Sub(r.silence); silent >= silentTime {
			lines = append(lines, fmt.Sprintf("%s still runs after %s, silent for %s", render.Escape(r.id), formatElapsed(now.Sub(r.since)), formatElapsed(silent)))
			r.silence = now
		}
	}
	return lines
}

// statusText lists the running resources with their times, and how many of all
// are done, in fewer than so many columns. Resources that do not fit are counted.
func (p *Progress) statusText(now time.Time, columns int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.running) == 0 {
		return ""
	}
	width := columns - 1 // a full last column makes some terminals wrap
	line := fmt.Sprintf("%d/%d", p.done, p.total)
	shown := 0
	for i := range p.running {
		r := &p.running[i]
		rest := ""
		if n := len(p.running) - i - 1; n > 0 {
			rest = fmt.Sprintf(" +%d", n)
		}
		item := " " + render.Escape(r.id) + " " + formatElapsed(now.Sub(r.since))
		if i > 0 {
			item = "," + item
		}
		if render.Cells(line+item+rest) > width {
			break
		}
		line += item
		shown++
	}
	switch more := len(p.running) - shown; {
	case shown == 0:
		return p.shortText(line, now, width)
	case more > 0:
		line += fmt.Sprintf(" +%d", more)
	}
	return line
}

// shortText is the status line when not even one name fits: it cuts the name.
func (p *Progress) shortText(line string, now time.Time, width int) string {
	r := &p.running[0]
	end := " " + formatElapsed(now.Sub(r.since))
	if n := len(p.running) - 1; n > 0 {
		end += fmt.Sprintf(" +%d", n)
	}
	if name := width - render.Cells(line+" "+end); name >= 4 {
		return line + " " + render.Shorten(render.Escape(r.id), name) + end
	}
	return render.Shorten(line+end, max(width, 1))
}

// formatElapsed returns a time in seconds, minutes or hours: 7s, 1m05s, 2h03m.
func formatElapsed(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return render.Duration(d.Truncate(time.Second).Milliseconds())
}
