//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

func median[T cmp.Ordered](values []T) T {
	var zero T
	if len(values) == 0 {
		return zero
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func (r *result) median(of func(sample) float64) float64 {
	var values []float64
	for _, s := range r.samples {
		values = append(values, of(s))
	}
	return median(values)
}

func wall(s sample) float64 { return s.wall.Seconds() }
func cpu(s sample) float64  { return s.cpu.Seconds() }
func rss(s sample) float64  { return float64(s.rss) / 1e6 }

// ratio returns how much more one program took than another, by the median of
// the turns in which both ran; NaN without such a turn.
func ratio(r, base *result, of func(sample) float64) float64 {
	if r == nil || base == nil {
		return math.NaN()
	}
	var values []float64
	for turn, s := range r.samples {
		if b, ok := base.samples[turn]; ok {
			values = append(values, of(s)/of(b))
		}
	}
	if len(values) == 0 {
		return math.NaN()
	}
	return median(values)
}

// find returns one result of a case: at a size, or with 0 at the largest.
func (rs results) find(name string, n int, program string) *result {
	var found *result
	for _, r := range rs {
		if r.name == name && r.program == program && (n == r.n || n == 0) {
			found = r
		}
	}
	return found
}

// table shows the results of a case.
func table(c *benchCase, rs results) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s: N %s\n\n", c.name, c.what)
	b.WriteString("| N | | wall | CPU | peak RSS | wall: × floor | CPU: × floor | growth | runs |\n|--:|---|--:|--:|--:|--:|--:|--:|--:|\n")
	floor := map[int]*result{}
	for _, r := range rs {
		if floor[r.n] == nil {
			floor[r.n] = r
		}
		if len(r.samples) == 0 {
			fmt.Fprintf(&b, "| %d | %s | %s | | | | | | 0 |\n", r.n, r.program, r.failed)
			continue
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %.0f MB | %s | %s | %s | %d |\n", r.n, r.program,
			seconds(r.median(wall)), seconds(r.median(cpu)), r.median(rss),
			times(ratio(r, floor[r.n], wall)), times(ratio(r, floor[r.n], cpu)), growth(c, rs, r), len(r.samples))
	}
	return b.String()
}

func seconds(s float64) string {
	switch d := time.Duration(s * float64(time.Second)); {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", s*1e3)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", s*1e3)
	}
	return fmt.Sprintf("%.2f s", s)
}

func times(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return fmt.Sprintf("%.2f", x)
}

// growth is the exponent by which the wall time has grown since the size
// before: 1 is linear.
func growth(c *benchCase, rs results, r *result) string {
	i := slices.Index(c.sizes, r.n)
	if i < 1 {
		return ""
	}
	before := rs.find(r.name, c.sizes[i-1], r.program)
	if before == nil || len(before.samples) == 0 {
		return ""
	}
	return times(math.Log(r.median(wall)/before.median(wall)) / math.Log(float64(r.n)/float64(before.n)))
}

// bar is one of the numbers to reach.
type bar struct {
	what  string
	value func(results) float64
	limit float64
	least bool // the value is to be at least the limit
}

// against is a bar for a ratio of wall times at the largest size.
func against(name, program, base string, limit float64) bar {
	return bar{
		fmt.Sprintf("%s: %s, times %s", name, program, base),
		func(rs results) float64 { return ratio(rs.find(name, 0, program), rs.find(name, 0, base), wall) }, limit, false,
	}
}

// most is a bar for one figure of settle at the largest size.
func most(name, what string, of func(sample) float64, limit float64) bar {
	return bar{name + ": " + what, func(rs results) float64 {
		if r := rs.find(name, 0, settled); r != nil {
			return r.median(of)
		}
		return math.NaN()
	}, limit, false}
}

var bars = []bar{
	against("converged", settled, inGo, 2),
	{"converged: 10,000, times 1,000", func(rs results) float64 {
		large, small := rs.find("converged", 10_000, settled), rs.find("converged", 1000, settled)
		if large == nil || small == nil {
			return math.NaN()
		}
		return large.median(wall) / small.median(wall)
	}, 12, false},
	most("converged", "peak RSS at 10,000, MB", rss, 100),
	against("run", settled, inC, 1.3),
	against("run", settledTwo, inC, 0.75),
	against("chain", settled, inCSynced, 1.6),
	against("fan-out", settled, inCSynced, 1.6),
	against("fan-in", settled, inCSynced, 1.6),
	most("sleep", "64 × 0.1 s, seconds", wall, 0.3),
	{"output: MB/s", func(rs results) float64 {
		r := rs.find("output", 0, settled)
		if r == nil {
			return math.NaN()
		}
		return float64(r.n) / r.median(wall)
	}, 200, true},
	most("output", "peak RSS, MB", rss, 60),
	against("helpers", settled, inC, 1.5),
	most("start", "settle version, ms", func(s sample) float64 { return wall(s) * 1e3 }, 15),
}

// barTable shows how settle stands to the bars of its specification.
func barTable(rs results) string {
	var b strings.Builder
	b.WriteString("### Bars\n\n| what | bar | measured | |\n|---|--:|--:|---|\n")
	for _, bar := range bars {
		value, sign, verdict := bar.value(rs), "≤", "reached"
		if math.IsNaN(value) {
			continue
		}
		if bar.least {
			sign = "≥"
		}
		if value > bar.limit != bar.least {
			verdict = "missed"
		}
		fmt.Fprintf(&b, "| %s | %s %g | %.3g | %s |\n", bar.what, sign, bar.limit, value, verdict)
	}
	return b.String()
}

// shape says when and where it was measured, and with what.
func (l *lab) shape(ctx context.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; %d × %s; %s; %s; load %s\n", time.Now().UTC().Format("2006-01-02"), runtime.NumCPU(),
		cmp.Or(value("/proc/cpuinfo", "model name"), runtime.GOARCH), strings.TrimSpace(first(ctx, "uname", "-sr")), runtime.Version(), load())
	for _, p := range append([]peer{{name: settled, path: l.settle, version: []string{"version"}}}, l.peers...) {
		fmt.Fprintf(&b, "- %s: %s\n", p.name, first(ctx, p.path, p.version...))
	}
	return b.String()
}

// first returns the first line that a program prints.
func first(ctx context.Context, program string, args ...string) string {
	out, err := exec.CommandContext(ctx, program, args...).Output()
	if err != nil {
		return err.Error()
	}
	line, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n"))
	return string(line)
}

// value returns the first value of a key in a file of "key : value" lines.
func value(file, key string) string {
	text, _ := os.ReadFile(file) // elsewhere there is no such file
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}
