package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/source"
	"github.com/settle-cm/settle/model"
)

// Validate refuses reports that would replace an input. kong calls it.
func (c *validateCommand) Validate() error {
	return errors.Join(c.manifestArgs.Validate(), c.checkFiles(append(defaultToSettleYAML(c.Manifests), c.files()...)))
}

type validateCommand struct {
	manifestArgs
	reportFlags
	valueFlags
}

// Help is shown by settle validate --help.
func (*validateCommand) Help() string {
	return `Examples:

    settle validate                     settle.yaml in this directory
    settle validate --strict *.yaml     treat warnings as problems
    settle validate manifests           every manifest in a directory
    generate | settle validate -        a manifest from standard input

A directory stands for its *.yaml and *.yml files, without those that another of them includes.

Exits 0 when there is no problem, 65 when there are problems, 66 when a manifest cannot be read.`
}

func (c *validateCommand) run(a *app) []exit.Ending {
	ctx, stop := a.withSignals(context.Background(), 0)
	defer stop()
	o := order{mode: "validate", strict: c.Strict, inputs: a.inputs(ctx, c.valueFlags, c.Manifests...)}
	paths := defaultToSettleYAML(c.Manifests)
	found, wrong := make([][]string, len(paths)), make([]error, len(paths))
	for i, path := range paths {
		found[i], wrong[i] = listManifests(path)
	}
	o.Elsewhere = a.elsewhere(ctx, slices.Concat(found...))
	var all []*loaded
	for i, path := range paths {
		if wrong[i] != nil {
			all = append(all, newUnreadable("validate", path, wrong[i]))
			continue
		}
		all = append(all, a.loadListed(ctx, found[i], o)...)
	}
	show := a.newPublisher("validate", c.reportFlags, len(all) > 1)
	var endings []exit.Ending
	for _, l := range all {
		if l.refused == nil {
			l.report.Summary = model.Summary{Total: len(l.manifest.Resources)}
		}
		e := exit.Ending{Refused: l.refused, Report: &l.report, Began: time.Now()}
		show.Begin(l.published())
		e.Finish()
		show.End()
		endings = append(endings, e)
	}
	a.closeReports(show, all, endings)
	return endings
}

// dropIncluded leaves out files that another file includes. Such a file need not be
// valid alone, and its problems are reported there. Of files that include each other
// the first one stays.
func dropIncluded(all []*loaded) []*loaded {
	var kept []*loaded
	for i, l := range all {
		part := false
		for j, other := range all {
			part = part || i != j && other.includes(l) && (j < i || !l.includes(other))
		}
		if !part {
			kept = append(kept, l)
		}
	}
	return kept
}

// includes reports whether a manifest has read another file.
func (l *loaded) includes(part *loaded) bool {
	return l.files != nil && l.files.Includes(part.src.Identity)
}

// loadListed loads the manifests of a directory, or one file. Files that others of them
// include are left out.
func (a *app) loadListed(ctx context.Context, files []string, o order) []*loaded {
	var all []*loaded
	for _, file := range files {
		all = append(all, a.load(ctx, file, o))
	}
	return dropIncluded(all)
}

// listManifests returns the manifests in a directory. For a file it returns that file.
func listManifests(path string) ([]string, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() { // load reports the error
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, source.WithoutPath(err)
	}
	var files []string
	for _, entry := range entries {
		name := entry.Name()
		file := filepath.Join(path, name)
		if strings.HasPrefix(name, ".") || !slices.Contains(source.Extensions, filepath.Ext(name)) {
			continue
		}
		if info, err := os.Stat(file); err == nil && info.IsDir() { // or a link to one
			continue
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return nil, errors.New("no file in it is called *.yaml or *.yml: name the manifests")
	}
	return files, nil
}
