package render

import (
	"strings"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
)

func TestOwedListsRefreshesAndUnfinished(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name  string
		debts []OwedRefresh
		marks []Unfinished
		want  string
	}{
		{"nothing", nil, nil, "nothing is owed\n"},
		{"each in words", []OwedRefresh{
			{ID: "exec#s", By: "exec#p", SinceRun: "1"},
			{ID: "exec#lost", SinceRun: "1"},
			{ID: "exec#old", By: "exec#p", SinceRun: "1", Now: "exec#new"},
			{ID: "exec#gone\n", By: "exec#p", SinceRun: "2", Orphan: true},
		}, []Unfinished{{"exec#m", "3"}},
			"exec#s        refresh owed   since run 1 by exec#p\n" +
				"exec#lost     refresh owed   since run 1, which found no state\n" +
				"exec#old      refresh owed   since run 1 by exec#p, is now exec#new\n" +
				`exec#gone\n   refresh owed   since run 2 by exec#p; it is gone from the manifest: settle forget exec#gone\n` + "\n" +
				"exec#m        unfinished     by run 3: it runs again, whatever it creates is there\n"},
	}
	for _, row := range rows {
		if got := string(Owed(row.debts, row.marks)); got != row.want {
			t.Errorf("%s:\n%s\nwant\n%s", row.name, got, row.want)
		}
	}
}

func TestHistoryListsRunsInColumns(t *testing.T) {
	t.Parallel()
	if got := string(History(nil)); got != "no runs yet\n" {
		t.Errorf("none: %q", got)
	}
	exit := 1
	ended := model.RunRecord{Run: "20260102T030405Z-abcdef", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), User: "alice", DurationMS: 1900, ExitCode: &exit}
	ended.Summary.Total, ended.Summary.Count[model.Failed], ended.Summary.Count[model.Stable], ended.Summary.Owed = 3, 1, 2, 1
	killed, going := ended, ended
	killed.Run, killed.ExitCode, killed.User = "20260102T030000Z-ghjkmn", nil, "bob"
	going.Run, going.ExitCode, going.Running = "20260103T030000Z-pqrstu", nil, true
	want := "20260103T030000Z-pqrstu   2026-01-02 03:04:05   alice   is running\n" +
		"20260102T030405Z-abcdef   2026-01-02 03:04:05   alice   exit 1   0 changed, 1 failed, 2 stable, 1 refresh owed in 1.9s\n" +
		"20260102T030000Z-ghjkmn   2026-01-02 03:04:05   bob     was killed\n"
	if got := string(History([]model.RunRecord{going, ended, killed})); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	if got, want := string(RunHeader(&ended)), "run 20260102T030405Z-abcdef of 2026-01-02 03:04:05 by alice: exit 1\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestHistoryPageLinksEachRunToItsReport(t *testing.T) {
	failed, stored := number(1), applyReport()
	stored.Times = []model.Times{{FromMS: 1, ToMS: 400}}
	records := []model.RunRecord{
		{Run: "20260103T030405Z-cccccc", User: "<b>", Summary: model.Summary{Total: 20}, Running: true},
		{Run: stored.Run, Started: stored.Started, DurationMS: stored.DurationMS, User: "alice", ExitCode: failed, Summary: stored.Summary},
		{Run: "20260101T030405Z-aaaaaa", DurationMS: 40, User: "alice", ExitCode: number(0), Summary: model.Summary{Total: 20}},
	}
	runs := make([]PastRun, len(records))
	for i, r := range records {
		runs[i].RunRecord = r
	}
	runs[1].Report = &stored
	page := HistoryPage("web", "site.yaml", runs)
	golden(t, "history.html", page)
	for _, want := range []string{
		`<a href="#r1">` + stored.Run + `</a>`, `<article class="run-of" id="r1"`, `&lt;b&gt;`,
		`aria-label="What ran when"`, `aria-label="Duration of each run"`,
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(string(page), `href="#r0"`) {
		t.Error("a run without a report has a link")
	}
}
