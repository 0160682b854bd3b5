package render

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
)

const (
	laneHeight = 24
	axisHeight = 22
)

// bar is one resource on the timeline.
type bar struct {
	n, lane int
	Span
}

// assignLanes puts resources that ran at the same time side by side: each span goes
// into the first free lane. It leaves out spans that are too short to be seen, unless
// a command ran in them, and returns how many.
func assignLanes(r *model.Report, spans []Span) (bars []bar, lanes int, end time.Duration, hidden int) {
	for _, s := range spans {
		end = max(end, s.To)
	}
	var free []time.Duration
	for _, n := range startOrder(spans) {
		s := spans[n]
		if n >= len(r.Resources) || r.Resources[n].Attempts == 0 && s.To-s.From < end/80 {
			hidden++
			continue
		}
		lane := 0
		for lane < len(free) && free[lane] > s.From {
			lane++
		}
		if lane == len(free) {
			free = append(free, 0)
		}
		free[lane] = s.To
		bars = append(bars, bar{n, lane, s})
	}
	return bars, len(free), end, hidden
}

// startOrder returns the indexes of the resources that were started, in the order
// of their start.
func startOrder(spans []Span) []int {
	var order []int
	for n, s := range spans {
		if s.To > 0 {
			order = append(order, n)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(spans[a].From, spans[b].From) })
	return order
}

// drawTimeline returns a drawing of when each resource ran, as wide as the page.
func drawTimeline(r *model.Report, spans []Span, target func(n int) string) string {
	bars, count, end, hidden := assignLanes(r, spans)
	if len(bars) == 0 {
		return ""
	}
	var b strings.Builder
	height := axisHeight + count*laneHeight
	fmt.Fprintf(&b, `<svg class="timeline" width="100%%" height="%d" role="group" aria-label="What ran when">`+"\n", height)
	for _, at := range ticks(end) {
		x := percent(at, end)
		fmt.Fprintf(&b, `<line x1="%s" x2="%s" y1="14" y2="%d"/><text class="tick" x="%s" y="10">%s</text>`+"\n", x, x, height, x, tickText(at, end))
	}
	for _, bar := range bars {
		o := &r.Resources[bar.n]
		l := styleOf(o)
		fmt.Fprintf(&b, `<a href="%s" class="bar %s"><title>%s</title><svg x="%s" y="%d" width="%s" height="%d"><rect width="100%%" height="100%%" rx="3"/><text x="6" y="14"><tspan class="mark">%s</tspan> %s</text></svg></a>`+"\n",
			html.EscapeString(target(bar.n)), l.Tone, html.EscapeString(fmt.Sprintf("%s %s, from %s to %s", Escape(o.ID), l.Word, exactTime(bar.From), exactTime(bar.To))),
			percent(bar.From, end), axisHeight+bar.lane*laneHeight, percent(max(bar.To-bar.From, end/400), end), laneHeight-4,
			html.EscapeString(l.Marker), html.EscapeString(Escape(o.ID)))
	}
	b.WriteString("</svg>\n")
	if hidden > 0 {
		fmt.Fprintf(&b, "<p class=\"note\">%d more took next to no time and changed nothing.</p>\n", hidden)
	}
	return b.String()
}

func percent(at, end time.Duration) string {
	return fmt.Sprintf("%.2f%%", 100*float64(at)/float64(max(end, 1)))
}

// ticks divides a time into at most ten steps of a usual length.
func ticks(end time.Duration) []time.Duration {
	step := time.Millisecond
	for _, factor := range stepFactors {
		if end/step <= 8 {
			break
		}
		step = factor
	}
	var at []time.Duration
	for t := time.Duration(0); t <= end && len(at) < 20; t += step {
		at = append(at, t)
	}
	return at
}

const (
	ms   = time.Millisecond
	day  = 24 * time.Hour
	year = 365 * day
)

var stepFactors = []time.Duration{
	2 * ms, 5 * ms, 10 * ms, 20 * ms, 50 * ms, 100 * ms, 200 * ms, 500 * ms, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second,
	15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, day, 7 * day, 30 * day, year,
}

// tickText returns a time in the unit that suits the whole duration.
func tickText(at, end time.Duration) string {
	switch {
	case at == 0:
		return "0"
	case end < time.Second:
		return fmt.Sprintf("%dms", at.Milliseconds())
	case end < 10*time.Second:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", at.Seconds()), ".0") + "s"
	case end < time.Minute:
		return fmt.Sprintf("%ds", int(at.Seconds()))
	}
	minutes, seconds := int(at.Minutes()), int(at.Seconds())%60
	switch {
	case minutes == 0:
		return fmt.Sprintf("%ds", seconds)
	case minutes >= 60:
		return fmt.Sprintf("%dh%02dm", minutes/60, minutes%60)
	case seconds > 0:
		return fmt.Sprintf("%dm%02ds", minutes, seconds)
	}
	return fmt.Sprintf("%dm", minutes)
}

// exactTime returns a time for the tooltip of a bar.
func exactTime(d time.Duration) string { return d.Round(ms).String() }
