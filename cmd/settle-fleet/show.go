package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/agent"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/config"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/status"
)

// writeStatus prints the status of this machine for a person.
func writeStatus(w io.Writer, s *status.Status, c *config.Config) error {
	fmt.Fprintf(w, "%s of fleet %s, instance %s, last round %s\n", s.Machine, s.Fleet, s.Instance, s.Seen.Format(time.RFC3339))
	if s.Other != "" {
		fmt.Fprintf(w, "another machine tells as %s: instance %s; run settle-fleet adopt on the right one\n", s.Machine, s.Other)
	}
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, r := range c.Releases {
		one := s.Releases[r.Name]
		fmt.Fprintf(table, "%s\t%s\t%s\n", one.Name(r.Name), one.State, strings.Join(explain(&one), "; "))
	}
	if err := table.Flush(); err != nil {
		return exitWith(exitUnwritten, err)
	}
	for _, r := range c.Releases {
		if s.Releases[r.Name].Version > 0 {
			fmt.Fprintf(w, "preview: %s\n", planLine(r.Name, s, c))
		}
	}
	return nil
}

// explain returns the lines that explain the state of a release.
func explain(r *status.Release) []string {
	var all []string
	add := func(holds bool, format string, args ...any) {
		if holds {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	add(r.Why != "", "%s", r.Why)
	for _, failure := range r.Failure {
		add(true, "%s", failure)
	}
	add(r.Signer != "", "signed by %s", r.Signer)
	add(r.Stale, "stale: it has expired")
	if r.Drift != nil {
		add(true, "drift: %s", strings.Join(r.Drift.Resources, ", "))
	}
	if r.Refused != nil {
		add(true, "refused: %s", r.Refused.Why)
	}
	add(r.News != "", "no news: %s", r.News)
	return all
}

// planLine returns the command that previews what the next round would do.
func planLine(name string, s *status.Status, c *config.Config) string {
	line := "settle plan"
	if c.SettleState != "" {
		line += " --state-dir " + quote(c.SettleState)
	}
	manifest, err := agent.ManifestOf(filepath.Join(c.State, "releases", name, "current"), s.Machine, s.Labels)
	if err != nil {
		return err.Error()
	}
	line += " " + quote(manifest.Path)
	for _, file := range manifest.Values {
		line += " --var-file " + quote(file)
	}
	return line
}

// quote returns a word that a shell takes as it is.
func quote(word string) string {
	if !slices.ContainsFunc([]byte(word), func(c byte) bool { return strings.IndexByte(" \t\n'\"\\$`*?[]{}()<>|&;#~!", c) >= 0 }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
