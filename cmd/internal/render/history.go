package render

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/settle-cm/settle/model"
)

// Debt is one refresh that is owed, as `settle owed` shows it.
type Debt struct {
	ID       string `json:"id"`
	By       string `json:"by"` // "" when the state was missing
	SinceRun string `json:"since_run"`
	Orphan   bool   `json:"orphan"`
	Now      string `json:"-"` // the id of the resource that has its name as alias
}

// Mark is a resource whose creates was left unfinished, as `settle owed` shows it.
type Mark struct{ ID, Run string }

// Owed lists, for people, what is remembered against the manifest's resources.
func Owed(debts []Debt, marks []Mark) []byte {
	if len(debts)+len(marks) == 0 {
		return []byte("nothing is owed\n")
	}
	var rows [][]string
	for _, d := range debts {
		note := "since run " + d.SinceRun + " by " + d.By
		switch {
		case d.By == "":
			note = "since run " + d.SinceRun + ", which found no state"
		case d.Now != "":
			note += ", is now " + d.Now
		case d.Orphan:
			note += "; it is gone from the manifest: settle forget " + d.ID
		}
		rows = append(rows, []string{d.ID, "refresh owed", note})
	}
	for _, m := range marks {
		rows = append(rows, []string{m.ID, "unfinished", "by run " + m.Run + ": it runs again, whatever it creates is there"})
	}
	return columns(rows)
}

// History lists runs for people, in the order given.
func History(runs []model.RunRecord) []byte {
	if len(runs) == 0 {
		return []byte("no runs yet\n")
	}
	var rows [][]string
	for i := range runs {
		p := &runs[i]
		row := []string{p.Run, p.Started.UTC().Format(time.DateTime), p.User, became(p)}
		if p.ExitCode != nil {
			row = append(row, applied(&model.Report{Summary: p.Summary, DurationMS: p.DurationMS}))
		}
		rows = append(rows, row)
	}
	return columns(rows)
}

// became says in words how a run of the history ended.
func became(p *model.RunRecord) string {
	switch {
	case p.Going:
		return "is running"
	case p.ExitCode == nil:
		return "was killed"
	}
	return fmt.Sprintf("exit %d", *p.ExitCode)
}

// PastLine is the head of a run that is shown again.
func PastLine(p *model.RunRecord) []byte {
	line := "run " + p.Run + " of " + p.Started.UTC().Format(time.DateTime)
	if p.User != "" {
		line += " by " + p.User
	}
	return []byte(Escape(line+": "+became(p)) + "\n")
}

// columns puts the words of each row below those of the row before.
func columns(rows [][]string) []byte {
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
