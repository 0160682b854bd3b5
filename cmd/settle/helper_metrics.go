package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/settle-cm/settle/cmd/internal/publish"
	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/providers/journal"
	"github.com/settle-cm/settle/resources/provision"
)

// helperTally holds the counters of the helpers of one manifest, over all its runs.
type helperTally struct {
	manifest string
	sites    []string // of its provisions; none: there is nothing to tell
	counts   map[string]provision.Counts
	paused   map[string]bool
}

// listSites lists the sites of a manifest's provisions.
func listSites(m *model.Manifest) []string {
	sites := map[string]bool{}
	for i := range m.Resources {
		if site, ok := provision.Site(m.Resources[i].Spec); ok {
			sites[site] = true
		}
	}
	return slices.Sorted(maps.Keys(sites))
}

// countsFile returns the file that keeps the counters between runs.
func countsFile(l *loaded) string {
	return filepath.Join(journal.Store{Dir: l.report.State.Dir, Identity: l.manifest.Identity}.Path(), "helpers.json")
}

// readTally reads the counters of earlier runs. An unreadable file counts from zero
// again, which readers of counters expect.
func (l *loaded) readTally() *helperTally {
	t := &helperTally{manifest: l.report.Manifest, counts: map[string]provision.Counts{}, paused: map[string]bool{}}
	if l.manifest == nil {
		return t
	}
	if t.sites = listSites(l.manifest); len(t.sites) == 0 || l.report.State.Dir == "" {
		return t
	}
	if text, err := os.ReadFile(countsFile(l)); err != nil || json.Unmarshal(text, &t.counts) != nil || t.counts == nil {
		t.counts = map[string]provision.Counts{}
	}
	return t
}

// count adds a run to the counters of a manifest with provisions, and saves them. The
// state must be locked.
func (l *loaded) count(results []model.Result) error {
	l.tally = l.readTally()
	if len(l.tally.sites) == 0 {
		return nil
	}
	before := maps.Clone(l.tally.counts)
	l.tally.paused = provision.Count(l.tally.counts, l.manifest, results)
	if l.report.State.Dir == "" || maps.Equal(before, l.tally.counts) {
		return nil
	}
	text, err := json.Marshal(l.tally.counts)
	if err == nil {
		err = publish.ReplaceFile(countsFile(l), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the counts of helpers: %w", err)
	}
	return nil
}

// finishTally returns the counters for a report, also for a run that was refused.
func (l *loaded) finishTally() *helperTally {
	if l.tally == nil {
		l.tally = l.readTally()
		var pause *journal.Pause
		if l.refused != nil && errors.As(l.refused, &pause) {
			for _, site := range l.tally.sites {
				l.tally.paused[site] = true
			}
		}
	}
	return l.tally
}

// helperFamilies returns the metrics that dashboards of Choria Provisioner use. It is
// empty when no manifest has a provision.
func helperFamilies(tallies []*helperTally) []render.Family {
	const name = "choria_provisioner_"
	families := []render.Family{
		{Name: name + "helper_time", Type: "summary", Help: "How long helpers ran, in seconds."},
		{Name: name + "helper_errors", Type: "counter", Help: "How many times a helper gave no answer that could be used."},
		{Name: name + "helper_shutdown_requests", Type: "counter", Help: "How many times a helper asked to shut a server down."},
		{Name: name + "provisioned", Type: "counter", Help: "How many times a server was provisioned."},
		{Name: name + "provision_errors", Type: "counter", Help: "How many times a server could not be provisioned, or was deferred."},
		{Name: name + "paused", Type: "gauge", Help: "Whether provisioning is paused."},
	}
	seen := map[string]bool{}
	for _, t := range tallies {
		if seen[t.manifest] {
			continue
		}
		seen[t.manifest] = true
		for _, site := range t.sites {
			c := t.counts[site]
			labels := []render.Label{{Name: "manifest", Value: t.manifest}, {Name: "site", Value: site}}
			families[0].Samples = append(families[0].Samples,
				render.Sample{Suffix: "_sum", Labels: labels, Value: c.Seconds}, render.Sample{Suffix: "_count", Labels: labels, Value: float64(c.Asked)})
			paused := 0
			if t.paused[site] {
				paused = 1
			}
			for n, value := range []int{c.Errors, c.Shutdowns, c.Provisioned, c.Failures, paused} {
				families[n+1].Samples = append(families[n+1].Samples, render.Sample{Labels: labels, Value: float64(value)})
			}
		}
	}
	if len(families[0].Samples) == 0 {
		return nil
	}
	return families
}
