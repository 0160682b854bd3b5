package render

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/settle-cm/settle/model"
)

// History returns a list of runs for people, in the order given.
func History(runs []model.RunRecord) []byte {
	if len(runs) == 0 {
		return []byte("no runs yet\n")
	}
	var rows [][]string
	for i := range runs {
		p := &runs[i]
		row := []string{p.Run, p.Started.UTC().Format(time.DateTime), p.User, endOfRun(p)}
		if p.ExitCode != nil {
			row = append(row, applySummary(&model.Report{Summary: p.Summary, DurationMS: p.DurationMS}))
		}
		rows = append(rows, row)
	}
	return alignColumns(rows)
}

// endOfRun returns in words how a run of the history ended.
func endOfRun(p *model.RunRecord) string {
	switch {
	case p.Running:
		return "is running"
	case p.ExitCode == nil:
		return "was killed"
	}
	return fmt.Sprintf("exit %d", *p.ExitCode)
}

// RunHeader returns the line above the report of an earlier run.
func RunHeader(p *model.RunRecord) []byte {
	line := "run " + p.Run + " of " + p.Started.UTC().Format(time.DateTime)
	if p.User != "" {
		line += " by " + p.User
	}
	return []byte(Escape(line+": "+endOfRun(p)) + "\n")
}

// alignColumns returns rows as lines whose columns are aligned.
func alignColumns(rows [][]string) []byte {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = Escape(row[i])
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a bytes.Buffer takes every write
	return b.Bytes()
}
