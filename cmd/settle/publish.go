package main

import (
	"errors"

	"github.com/settle-cm/settle/cmd/internal/publish"
	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/model"
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
func (a *app) closeReports(show *publish.Publisher, all []*loaded, endings []ending) bool {
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
			endings[i].unwritten = errors.Join(endings[i].unwritten, err)
			endings[i].finish()
		}
	}
	show.Close()
	return err == nil
}

// printProblems prints why a command that makes no report cannot do its work, to
// standard error and as annotations of the pipeline.
func (a *app) printProblems(l *loaded) {
	p := publish.NewPipeline("auto", a.err, a.Quiet) // first: it fences off what follows
	publish.PrintProblems(a.err, &l.report, a.Quiet)
	p.Annotate([]model.Report{l.report})
}

// reportRefusal prints why a manifest was refused, in the format that was asked for.
func (a *app) reportRefusal(l *loaded, format string) ending {
	e := ending{refused: l.refused, report: &l.report}
	e.finish()
	a.printProblems(l)
	if format == "json" {
		a.print(render.JSON([]model.Report{l.report}, render.Options{}))
	}
	return e
}
