package render

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/settle-cm/settle/model"
)

// countOf returns "1 problem", "2 problems".
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Duration returns milliseconds as people read them: 40ms, 0.4s, 1m05s, 2h03m.
func Duration(ms int64) string {
	tenths := (ms + 50) / 100
	seconds := (ms + 500) / 1000
	switch {
	case ms < 100:
		return fmt.Sprintf("%dms", ms)
	case tenths < 600:
		return fmt.Sprintf("%d.%ds", tenths/10, tenths%10)
	case seconds < 3600:
		return fmt.Sprintf("%dm%02ds", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%dh%02dm", seconds/3600, seconds%3600/60)
}

// seconds returns milliseconds as XML and metrics write a time.
func seconds(ms int64) string { return fmt.Sprintf("%d.%03d", ms/1000, ms%1000) }

// statusText returns a status as people write it.
func statusText(s model.Status) string { return strings.ReplaceAll(s.String(), "_", " ") }

// displayName returns the name of a report's manifest, or its path when it has
// no name. It is not escaped.
func displayName(r *model.Report) string {
	if r.Name == "" {
		return r.Manifest
	}
	return r.Name
}

// isUnresolved reports whether a resource failed or was interrupted, ignored
// failures included.
func isUnresolved(o *model.ResourceReport) bool {
	return o.Status == model.Failed || o.Status == model.Interrupted
}

// listUnresolved returns the resources that failed, then those that were
// interrupted: when the time for a run is up, a failure may be why.
func listUnresolved(r *model.Report) []*model.ResourceReport {
	var failed, interrupted []*model.ResourceReport
	for i := range r.Resources {
		switch o := &r.Resources[i]; o.Status {
		case model.Failed:
			failed = append(failed, o)
		case model.Interrupted:
			interrupted = append(interrupted, o)
		}
	}
	return append(failed, interrupted...)
}

// isFailure reports whether a resource failed or was interrupted and the failure
// counts.
func isFailure(o *model.ResourceReport) bool { return isUnresolved(o) && !o.Ignored }

// isRefreshed reports whether a resource ran because of a refresh: one of this
// run, or one that an earlier run left owed.
func isRefreshed(o *model.ResourceReport) bool {
	return len(o.RefreshedBy) > 0 || strings.HasPrefix(o.Reason, "refresh ")
}

// isDue reports whether a resource of a plan would or may run.
func isDue(o *model.ResourceReport) bool {
	return o.Status == model.WouldRun || o.Status == model.WouldRefresh || o.Status == model.MayRun
}

// isDueCheck reports whether a resource of a plan would or may run, but can never
// change anything.
func isDueCheck(o *model.ResourceReport) bool {
	return o.Action == model.ActionCheck && isDue(o)
}

// outputLines returns the lines of a resource's output. Of a progress bar, which
// rewrites its line, the last state is left.
func outputLines(o *model.ResourceReport) []string {
	all := splitLines(o.Output)
	for i, line := range all {
		line = strings.TrimRight(line, "\r")
		all[i] = line[strings.LastIndexByte(line, '\r')+1:]
	}
	return all
}

// droppedMark matches the line that stands for the dropped middle of an output.
var droppedMark = regexp.MustCompile(`^\.\.\. ([0-9]+) bytes dropped \.\.\.$`)

// countDropped returns how many bytes were dropped in these lines of an output.
func countDropped(o *model.ResourceReport, lines []string) int {
	if !o.Truncated {
		return 0
	}
	for _, line := range lines {
		if m := droppedMark.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1]) // digits
			return n
		}
	}
	return 0
}

// ignoredSignal reports whether settle had to kill a command that did not end at
// the first signal.
func ignoredSignal(o *model.ResourceReport) bool {
	return o.Signal == "SIGKILL" && !strings.Contains(o.Reason, o.Signal)
}

// lastOutputLine returns the last line of a resource's output that is not blank,
// without colours and escaped; "" when people are not shown its output.
func lastOutputLine(o *model.ResourceReport) string {
	if o.Quiet {
		return ""
	}
	all := outputLines(o)
	for i := len(all) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(Escape(colorCodes.ReplaceAllString(all[i], ""))); line != "" {
			return line
		}
	}
	return ""
}

// guardText returns a guard with its command and the answer of it.
func guardText(g model.GuardResult) string { return g.Property + ": " + guardAnswer(g) }

func guardAnswer(g model.GuardResult) string {
	answer := "no exit code"
	if g.Exit != nil {
		answer = fmt.Sprintf("exit %d", *g.Exit)
	}
	return fmt.Sprintf("%s (%s)", Escape(g.Command), answer)
}

// maxValue is how many bytes of a value are shown to people: enough to recognise it.
const maxValue = 200

// valueLines returns a line for each value that a resource uses: the expression,
// its value, and where the expression is written.
func valueLines(o *model.ResourceReport) []string {
	var all []string
	for _, v := range o.Values {
		text := v.Value
		if len(text) > maxValue {
			text = strings.ToValidUTF8(text[:maxValue], "") + " …"
		}
		from := ""
		if v.From != "" {
			from = ", from " + v.From
		}
		all = append(all, fmt.Sprintf("%s = %s%s  (%s)", Escape(v.Expression), Escape(text), Escape(from), Escape(v.Pos.String())))
	}
	return all
}

// skippedBecause returns how many resources were skipped because of a failure,
// as a phrase; "" for zero.
func skippedBecause(r *model.Report, o *model.ResourceReport) string {
	n := 0
	for i := range r.Resources {
		if r.Resources[i].Status == model.Skipped && r.Resources[i].RootCause == o.ID {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return countOf(n, "resource") + " because of this"
}

// failureCost returns how many resources a failure kept from running, as a phrase;
// "" for zero.
func failureCost(r *model.Report, o *model.ResourceReport) string {
	if skipped := skippedBecause(r, o); skipped != "" {
		return "skipped: " + skipped
	}
	return ""
}
