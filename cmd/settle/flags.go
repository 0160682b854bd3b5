package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/settle-cm/settle/cmd/internal/publish"
	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
)

// manifestArgs is the argument of the commands that take several manifests.
type manifestArgs struct {
	Manifests []string `arg:"" optional:"" name:"manifest" sep:"none" help:"Manifests, run one after the other; - is standard input. Default: settle.yaml."`
}

// manifestArg is the argument of the commands that take one.
type manifestArg struct {
	Manifest string `arg:"" optional:"" help:"The manifest; - is standard input. Default: settle.yaml."`
}

// reportFlags belong to the commands that make a report.
type reportFlags struct {
	Output string `short:"o" enum:"text,json,jsonl" default:"text" placeholder:"FORMAT" help:"Format of standard output: text, json (one document) or jsonl (one event per line)."`
	Strict bool   `help:"Treat warnings of the manifest as problems (exit 65). A warning during the run fails its resource."`
	CI     string `enum:"auto,github,gitlab,none" default:"auto" placeholder:"SYSTEM" help:"Output for a CI system: auto (from environment variables), github, gitlab or none."`

	Report []publish.File `sep:"none" placeholder:"FORMAT=FILE" help:"Write the report to a file, also after a failure: html, json, jsonl, junit, markdown or metrics. Repeatable."`
}

// runFlags are the flags of apply and plan. plan has all of them, so that the word
// apply can be replaced by plan in every command line.
type runFlags struct {
	Parallel       *int   `placeholder:"N" help:"Run at most N resources at once. Default: parallel in the manifest, else 1."`
	FailFast       bool   `help:"Start no further resource after the first failure that is not ignored."`
	CleanEnv       bool   `help:"Start every command from a clean environment."`
	Grace          span   `default:"10s" placeholder:"TIME" help:"Time that a command gets to end after a signal, before it is killed. Default: 10s."`
	RunTimeout     span   `placeholder:"TIME" help:"Stop the whole run after this time, as an interrupt does (exit 1)."`
	StateDir       string `placeholder:"DIR" help:"The state directory. Default: SETTLE_STATE_DIR, else /var/lib/settle for root, else $$XDG_STATE_HOME/settle."`
	NoState        bool   `help:"Keep no state and take no lock."`
	LockTimeout    span   `placeholder:"TIME" help:"How long to wait for another apply of the same manifest. Default: no wait. plan never waits."`
	OnMissingState string `enum:",ignore,refresh,fail" default:"" placeholder:"ACTION" help:"When there is no state of earlier runs: ignore, refresh (every subscriber once) or fail. Default: on_missing_state in the manifest, else ignore."`

	DetailedExitcode bool `help:"Exit 2 when apply changed something or plan found something to do."`
}

// span is a length of time, written as in a manifest: 90s, 5m, 1d.
type span time.Duration

// UnmarshalText parses the value of a flag.
func (s *span) UnmarshalText(text []byte) error {
	d, err := model.ParseDuration(string(text))
	*s = span(d)
	return err
}

// Validate refuses values and combinations that make no sense. kong calls it.
func (f *runFlags) Validate() error {
	switch {
	case f.Parallel != nil && *f.Parallel < 1:
		return errors.New("--parallel must be at least 1")
	case f.NoState && f.StateDir != "":
		return errors.New("--no-state and --state-dir exclude each other: give one of them")
	case f.NoState && f.OnMissingState != "":
		return errors.New("--no-state and --on-missing-state exclude each other: without state there is no state that can be missing")
	}
	return nil
}

// selectFlags belong to the commands that can be about a part of a manifest.
type selectFlags struct {
	Only     []string `sep:"none" placeholder:"REF" help:"Select this resource (type#name, or a name that one resource has) and everything it depends on. Repeatable."`
	Tags     []string `placeholder:"TAG" help:"Select resources with one of these tags and everything they depend on."`
	SkipTags []string `placeholder:"TAG" help:"Leave out resources with one of these tags. Their dependents do not wait for them."`
}

// Validate refuses a malformed reference and an empty tag. kong calls it.
func (f *selectFlags) Validate() error {
	for _, ref := range f.Only {
		if _, ok := model.ParseRef(ref); !ok && (ref == "" || strings.Contains(ref, "#")) {
			return fmt.Errorf("--only takes a reference such as exec#reload, or a name such as reload, not %q", ref)
		}
	}
	switch {
	case isEmptyList(f.Tags):
		return errors.New("--tags names no tag: leave it out for all resources")
	case isEmptyList(f.SkipTags):
		return errors.New("--skip-tags names no tag: leave it out to skip none")
	}
	return nil
}

// isEmptyList reports whether a flag was given without a value. "$TAGS" in a pipeline
// that does not set it must not select every resource.
func isEmptyList(tags []string) bool {
	return tags != nil && (len(tags) == 0 || slices.Contains(tags, ""))
}

// valueFlags are the flags of every command that loads a manifest: the values of its
// expressions.
type valueFlags struct {
	Var       []given  `sep:"none" placeholder:"NAME=VALUE" help:"A value for $${var.NAME}. Repeatable."`
	VarFile   []string `sep:"none" placeholder:"FILE" help:"A YAML or JSON file of such values; - is standard input. Repeatable; later files win."`
	Fact      []given  `sep:"none" placeholder:"NAME=VALUE" help:"Replace the fact $${host.NAME}. Repeatable."`
	FactsFile []string `sep:"none" placeholder:"FILE" help:"A YAML or JSON file of such facts; - is standard input. --fact wins over it. Repeatable."`
}

// given is one --var or --fact.
type given manifests.Given

// UnmarshalText reads NAME=VALUE.
func (g *given) UnmarshalText(text []byte) error {
	name, value, ok := strings.Cut(string(text), "=")
	switch {
	case !ok:
		return fmt.Errorf("want NAME=VALUE, not %q", text)
	case strings.TrimSpace(name) == "":
		return errors.New("want NAME=VALUE: there is no name")
	}
	g.Key, g.Text = name, value
	return nil
}

func convertGiven(list []given) []manifests.Given {
	var all []manifests.Given
	for _, g := range list {
		all = append(all, manifests.Given(g))
	}
	return all
}

// files returns the files of values. settle reads them, so no report may replace them.
func (f *valueFlags) files() []string { return slices.Concat(f.VarFile, f.FactsFile) }

// stateFlags are the flags of the commands that read the state.
type stateFlags struct {
	StateDir string `placeholder:"DIR" help:"The state directory. Default: SETTLE_STATE_DIR, else /var/lib/settle for root, else $$XDG_STATE_HOME/settle."`
}

// lockFlags are the flags of the commands that change the state.
type lockFlags struct {
	stateFlags
	LockTimeout span `placeholder:"TIME" help:"How long to wait for an apply of the same manifest. Default: no wait."`
}

// Validate refuses an empty name and a second `-`. kong calls it.
func (m *manifestArgs) Validate() error {
	dashes := 0
	for _, path := range m.Manifests {
		switch path {
		case "":
			return errors.New("the name of a manifest is empty: leave it out for settle.yaml")
		case "-":
			dashes++
		}
	}
	if dashes > 1 {
		return errors.New("- is named twice: standard input can be read once")
	}
	return nil
}

// selection returns what the flags select.
func (f *selectFlags) selection() model.Selection {
	return model.Selection{Only: f.Only, Tags: f.Tags, SkipTags: f.SkipTags}
}
