package main

import (
	"crypto/rand"
	"os"
	"time"

	"github.com/settle-cm/settle/model"
)

// newReport returns the report of a manifest of which nothing is known yet.
func newReport(mode, path string) model.Report {
	host, _ := os.Hostname() // a machine without a name has an empty one
	now := time.Now().UTC().Truncate(time.Second)
	return model.Report{
		Schema: model.ReportSchema, Version: version, Mode: mode, Manifest: path,
		Run: newRun(now), Host: host, Started: now,
		Summary: model.Summary{Plan: mode == "plan"},
	}
}

// newRun returns an id for a run that sorts by time and that people can read,
// e.g. 20260102T030405Z-k3pd7q.
func newRun(now time.Time) string {
	const letters = "23456789abcdefghjkmnpqrstvwxyz" // none that look alike
	tail := make([]byte, 6)
	_, _ = rand.Read(tail) // never fails: crypto/rand ends the program instead
	for i := range tail {
		tail[i] = letters[int(tail[i])%len(letters)]
	}
	return now.Format("20060102T150405Z") + "-" + string(tail)
}
