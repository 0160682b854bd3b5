package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/page"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/status"
)

var pagesDir = flag.String("pages", "", "keep the pages of fleets of 3, 200 and 10,000 machines in this directory, to look at them")

// someMachines returns statuses in which about one machine in 20 fails and one in 50
// is silent, with a machine name and a reason that look like HTML.
func someMachines(n int, now time.Time) []machineStatus {
	var all []machineStatus
	for i := range n {
		m := machineStatus{Told: now.Add(-time.Minute)}
		m.Machine = fmt.Sprintf("web%05d.example.com", i)
		r := status.Release{Version: 17, State: status.OK, Run: &status.Run{ID: fmt.Sprintf("%08x", i*7919)}}
		switch {
		case i%20 == 1:
			r.State, r.Failure = status.Failed, []string{"exec#migrate failed: exit 3"}
		case i%100 == 2:
			r.Version, r.Refused = 16, &status.Refused{Version: 17, Why: "<script>alert(1)</script>"}
		case i%50 == 3:
			m.Silent, m.Told = true, now.Add(-3*time.Hour)
		case i%30 == 4:
			r.Drift = &status.Drift{Count: 1, Resources: []string{"file#motd"}}
		}
		m.Releases = map[string]status.Release{"web": r}
		all = append(all, m)
	}
	return all
}

func TestFleetPageHoldsEveryMachineAndEscapesTheirTexts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for _, n := range []int{0, 3, 200, 10000} {
		f := newPage("prod", "", someMachines(n, now), now)
		if n > 0 {
			f.Rollouts = []string{"web@17: halted, wave 2 of 4, 190 done, 10 failed, by ci-42@build7 since 11:02"}
		}
		text := string(page.HTML(f))
		if strings.Contains(text, "<script>alert") || n == 200 && !strings.Contains(text, "&lt;script&gt;alert(1)&lt;/script&gt;") {
			t.Errorf("%d machines: a machine's text is not escaped", n)
		}
		for i := range n {
			if got := strings.Count(text, fmt.Sprintf(`id="m-web%05d.example.com"`, i)); n < 1000 && got != 1 {
				t.Fatalf("machine %d of %d is there %d times", i, n, got)
			}
		}
		if got := strings.Count(text, "<tr"); got != n+1 {
			t.Errorf("%d machines have %d rows", n, got)
		}
		if n == 200 && !strings.Contains(text, "<b>10 machines</b>: exec#migrate failed: exit 3") {
			t.Errorf("failures are not grouped")
		}
		if len(text) > 4<<20 {
			t.Errorf("%d machines are %d bytes", n, len(text))
		}
		if *pagesDir != "" {
			if err := os.WriteFile(filepath.Join(*pagesDir, fmt.Sprintf("fleet-%d.html", n)), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%d machines: %d bytes", n, len(text))
	}
}
