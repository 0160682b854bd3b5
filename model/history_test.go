package model

import (
	"fmt"
	"strings"
	"testing"
)

// ended is the end of a run, with its exit code and how many of two resources were stable.
func ended(run string, exit, stable, keep int) Record {
	s := &Summary{Total: 2}
	s.Count[Stable], s.Count[Changed] = stable, 2-stable
	return Record{Kind: RecordDone, Run: run, Exit: &exit, Summary: s, Keep: keep}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, going string
		facts       []Record
		want        string
	}{
		{"no runs", "", nil, ""},
		{"one that was killed", "", []Record{run("1"), begin("1 a")}, "1 killed"},
		{"one that goes on", "1", []Record{run("1"), begin("1 a")}, "1 going"},
		{"one that was killed before the one that goes on", "2", []Record{run("1"), run("2")}, "1 killed, 2 going"},
		{"one that has just ended does not go on", "1", []Record{run("1"), ended("1", 0, 1, 0)}, "1 exit 0"},
		{"begin and end are one run", "", []Record{run("1"), begin("1 a"), end("1 a changed"), ended("1", 1, 1, 0)}, "1 exit 1"},
		{"one line is a run", "", []Record{ended("1", 0, 2, 0)}, "1 converged"},
		{"of each sort as many as the last run was told", "", []Record{
			ended("1", 0, 1, 9), ended("2", 0, 2, 9), ended("3", 0, 1, 9), run("4"), ended("5", 0, 2, 9), ended("6", 0, 2, 2),
		}, "3 exit 0, 4 killed, 5 converged, 6 converged"},
		{"a failure that left all stable is no converged run", "", []Record{ended("1", 73, 2, 0)}, "1 exit 73"},
		{"forgetting is no run", "", []Record{forget("", "")}, ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := told(History(row.facts, row.going)); got != row.want {
				t.Errorf("is %q, want %q", got, row.want)
			}
		})
	}
}

func told(runs []RunRecord) string {
	var words []string
	for i := range runs {
		p := &runs[i]
		how := "killed"
		switch {
		case p.Running:
			how = "going"
		case p.Converged():
			how = "converged"
		case p.ExitCode != nil:
			how = fmt.Sprint("exit ", *p.ExitCode)
		}
		words = append(words, p.Run+" "+how)
	}
	return strings.Join(words, ", ")
}

func TestHistoryKeepsFiftyOfEachSort(t *testing.T) {
	t.Parallel()
	var facts []Record
	for i := range 120 {
		facts = append(facts, ended(fmt.Sprint("c", i), 0, 2, 0), ended(fmt.Sprint("x", i), 0, 1, 0))
	}
	runs := History(facts, "")
	if len(runs) != 100 || runs[0].Run != "c70" || runs[99].Run != "x119" {
		t.Errorf("%d runs, %q to %q; want 100, c70 to x119", len(runs), runs[0].Run, runs[len(runs)-1].Run)
	}
}
