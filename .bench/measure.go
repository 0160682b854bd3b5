//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// program is something that does the work of a case.
type program struct {
	name    string // in the table
	argv    []string
	prepare func() error // before each run, not measured
	want    string       // what its standard output has to hold when the work was done
	exit    int          // the exit code that it has to end with
}

// sample is one measured run.
type sample struct {
	wall, cpu time.Duration
	rss       int64 // peak, of the program or of the largest of its children, in bytes
}

// result is all that was measured of one program at one size.
type result struct {
	name    string // of the case
	n       int
	program string
	samples map[int]sample // by turn: one that is slow has not all
	spent   time.Duration
	failed  string // why there is nothing, or no more
}

type results []*result

// measureCase measures all programs at all sizes of a case.
func (l *lab) measureCase(ctx context.Context, c *benchCase) (results, error) {
	var all results
	for _, n := range c.sizes {
		programs, err := c.programs(l, n)
		if err != nil {
			return nil, err
		}
		found, err := l.measureSize(ctx, c.name, n, programs)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// measureSize runs all programs in turn, as often as there is time for: at
// least once.
func (l *lab) measureSize(ctx context.Context, name string, n int, programs []program) (results, error) {
	found := make(results, len(programs))
	for i, p := range programs {
		found[i] = &result{name: name, n: n, program: p.name, samples: map[int]sample{}}
		if l.slow[l.slowness(name, p.name)] {
			found[i].failed = "was too slow before"
		}
	}
	end := time.Now().Add(time.Until(l.until) / time.Duration(l.cells))
	l.cells--
	for turn := 0; turn < l.runs && (turn == 0 || time.Now().Before(end)); turn++ {
		for i := range programs {
			r := found[i]
			if r.failed != "" || r.spent > l.budget {
				continue
			}
			l.tell("%s %d: %s, run %d of %d", name, n, r.program, turn+1, l.runs)
			s, err := l.once(ctx, &programs[i])
			switch {
			case ctx.Err() != nil:
				return nil, context.Cause(ctx)
			case err != nil && ours(r.program):
				return nil, fmt.Errorf("%s at %d: %w", r.program, n, err)
			case err != nil:
				r.failed = err.Error()
				l.slow[l.slowness(name, r.program)] = errors.Is(err, errSlow)
			default:
				r.samples[turn] = s
				r.spent += s.wall
			}
		}
	}
	l.tell("")
	return found, nil
}

// slowness names cases that are not tried again after they were too slow: the larger
// sizes of a case, and when there is no time at all, whatever else it does.
func (l *lab) slowness(name, program string) string {
	if l.quick {
		return program
	}
	return name + " " + program
}

// tell shows progress on a terminal.
func (l *lab) tell(format string, args ...any) {
	if l.log != nil {
		_, _ = fmt.Fprintf(l.log, "\r\x1b[K"+format, args...) // progress only
	}
}

// ours says whether a failure is one of this repository, not of a peer.
func ours(name string) bool {
	return strings.HasPrefix(name, "settle") || strings.HasPrefix(name, "C") || strings.HasPrefix(name, "Go")
}

var errSlow = errors.New("too slow for the time given")

// once measures one run. The C launcher does, because a child's peak memory
// includes what its parent had when it forked.
func (l *lab) once(ctx context.Context, p *program) (sample, error) {
	if p.prepare != nil {
		if err := p.prepare(); err != nil {
			return sample{}, err
		}
	}
	limit := l.limit
	if ours(p.name) {
		limit = 10 * time.Minute // it has to come to its end, however busy the machine is
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
	defer cancel()
	out := filepath.Join(l.dir, "measured")
	_ = os.Remove(out) // of the run before
	cmd := exec.CommandContext(ctx, l.floor, append([]string{"measure", out}, p.argv...)...)
	cmd.Dir, cmd.Env = l.dir, l.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	var said, complained tail
	cmd.Stdout, cmd.Stderr = &said, &complained
	err := cmd.Run()
	if ctx.Err() != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // all of it is gone, or goes now
		return sample{}, context.Cause(ctx)
	}
	if err != nil {
		return sample{}, fmt.Errorf("%w: %s", err, complained.last)
	}
	s, code, err := read(out)
	switch {
	case err != nil:
		return s, err
	case code != p.exit:
		return s, fmt.Errorf("exit %d: %s", code, bytes.TrimSpace(append(said.last, complained.last...)))
	case !bytes.Contains(said.last, []byte(p.want)):
		return s, fmt.Errorf("it did not say %q but %s", p.want, said.last)
	}
	return s, nil
}

// read returns what the launcher has written.
func read(file string) (s sample, code int, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return s, 0, err
	}
	var wall, cpu, kib int64
	if _, err := fmt.Sscan(string(text), &wall, &cpu, &kib, &code); err != nil {
		return s, 0, fmt.Errorf("read measure: %w", err)
	}
	return sample{time.Duration(wall), time.Duration(cpu), kib << 10}, code, nil
}

// tail reads everything and keeps the end.
type tail struct{ last []byte }

const tailSize = 1000

func (t *tail) Write(p []byte) (int, error) {
	t.last = append(t.last, p[max(0, len(p)-tailSize):]...)
	t.last = t.last[max(0, len(t.last)-tailSize):]
	return len(p), nil
}

// ReadFrom reads in large pieces, so that the writer need not wait.
func (t *tail) ReadFrom(r io.Reader) (int64, error) {
	buf := make([]byte, 256<<10)
	var total int64
	for {
		n, err := r.Read(buf)
		_, _ = t.Write(buf[:n])
		total += int64(n)
		switch {
		case errors.Is(err, io.EOF):
			return total, nil
		case err != nil:
			return total, err
		}
	}
}
