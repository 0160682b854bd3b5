package main

import (
	"errors"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/publish"
	"github.com/settle-cm/settle/cmd/internal/render"
)

// newPublisher returns the publisher for a command that makes reports. titled
// says that it makes several.
func (a *app) newPublisher(mode string, f reportFlags, titled bool) *publish.Publisher {
	return publish.New(publish.Options{
		Out: a.out, Err: a.err, Version: version, Mode: mode, Output: f.Output, CI: f.CI, Files: f.Report,
		Quiet: a.Quiet, Verbose: a.Verbose, Color: a.color, Titled: titled, Excerpts: a.watched,
	})
}

// published returns the manifest as a publisher needs it.
func (l *loaded) published() publish.Run {
	return publish.Run{Manifest: l.manifest, Report: &l.report, Redact: l.mask.Redact}
}

// closeReports writes the report files and all output that needs every report.
// A file that cannot be written changes how each manifest ended. It returns
// whether all files were written.
func (a *app) closeReports(show *publish.Publisher, all []*loaded, endings []exit.Ending) bool {
	var families []render.Family
	if show.Wants("metrics") {
		var tallies []*helperTally
		for _, l := range all {
			tallies = append(tallies, l.finishTally())
		}
		families = helperFamilies(tallies)
	}
	err := show.WriteFiles(families)
	if err != nil {
		a.err.PrintError(err.Error())
		for i := range endings {
			endings[i].Unwritten = errors.Join(endings[i].Unwritten, err)
			endings[i].Finish()
		}
	}
	show.Close()
	return err == nil
}
