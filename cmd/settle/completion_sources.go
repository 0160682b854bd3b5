package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/settle-cm/settle/cmd/internal/complete"
	"github.com/settle-cm/settle/cmd/internal/publish"
	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/resources"
)

// completionSources returns where completion finds the values of flags and
// arguments, by the placeholder that help shows for them.
func completionSources(a *app) map[string]complete.Source {
	return map[string]complete.Source{
		"MANIFEST":      offerKind(complete.KindManifests),
		"FILE":          offerKind(complete.KindFiles),
		"DIR":           offerKind(complete.KindDirectories),
		"CMD":           offerKind(complete.KindFiles),
		"REF":           a.offerResources,
		"TAG":           a.offerTags,
		"RUN":           a.offerRuns,
		"FORMAT":        offerFormats,
		"FORMAT=FILE":   offerReportFiles,
		"TYPE.PROPERTY": offerProperties,
		"N":             offerKind(complete.KindWords), // only the user knows these
		"TIME":          offerKind(complete.KindWords),
		"TEXT":          offerKind(complete.KindWords),
		"KEY=VALUE":     offerKind(complete.KindWords),
		"NAME=VALUE":    offerKind(complete.KindWords),
	}
}

// offerKind returns a source that leaves the choice to the shell.
func offerKind(kind complete.Kind) complete.Source {
	return func(*complete.CommandLine, string) complete.Answer { return complete.Answer{Kind: kind} }
}

// loadTyped loads the manifests of an unfinished command line. It skips those that
// cannot be read at once or have a problem. With nameOnly it loads only their names.
func (a *app) loadTyped(cl *complete.CommandLine, nameOnly bool) []*loaded {
	in, ok := a.readTypedValues(cl)
	if !ok {
		return nil
	}
	var list []*loaded
	for _, path := range defaultToSettleYAML(cl.Manifests()) {
		if path = complete.ExpandHome(path); !isRegularFile(path) {
			continue
		}
		if l := a.load(context.Background(), path, order{mode: "list", named: nameOnly, inputs: in}); l.refused == nil {
			list = append(list, l)
		}
	}
	return list
}

// readTypedValues reads the values that the command line gives to its manifests.
// ok is false when one of them cannot be read at once.
func (a *app) readTypedValues(cl *complete.CommandLine) (in inputs, ok bool) {
	var f valueFlags
	for name, to := range map[string]*[]given{"var": &f.Var, "fact": &f.Fact} {
		for _, text := range cl.Flags[name] {
			var g given
			if g.UnmarshalText([]byte(text)) != nil {
				return inputs{}, false
			}
			*to = append(*to, g)
		}
	}
	for name, to := range map[string]*[]string{"var-file": &f.VarFile, "facts-file": &f.FactsFile} {
		for _, path := range cl.Flags[name] {
			if path = complete.ExpandHome(path); !isRegularFile(path) {
				return inputs{}, false
			}
			*to = append(*to, path)
		}
	}
	in = a.inputs(context.Background(), f)
	return in, in.refused == nil
}

// isRegularFile reports whether a file can be read without waiting. Completion must
// not read a pipe: its data is for the command that runs when the line is finished.
func isRegularFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (a *app) offerResources(cl *complete.CommandLine, _ string) complete.Answer {
	ans := complete.Answer{Kind: complete.KindWords}
	for _, l := range a.loadTyped(cl, false) {
		for i := range l.manifest.Resources {
			r := &l.manifest.Resources[i]
			ans.Offers = append(ans.Offers, complete.Offer{Value: r.ID(), About: l.mask.Redact(r.Description)})
		}
	}
	return ans
}

func (a *app) offerTags(cl *complete.CommandLine, _ string) complete.Answer {
	count := map[string]int{}
	for _, l := range a.loadTyped(cl, false) {
		for i := range l.manifest.Resources {
			for _, tag := range l.manifest.Resources[i].Tags {
				count[tag]++
			}
		}
	}
	ans := complete.Answer{Kind: complete.KindWords}
	for _, tag := range slices.Sorted(maps.Keys(count)) {
		ans.Offers = append(ans.Offers, complete.Offer{Value: tag, About: countNoun(count[tag], "resource")})
	}
	return ans
}

func (a *app) offerRuns(cl *complete.CommandLine, _ string) complete.Answer {
	ans := complete.Answer{Kind: complete.KindWords, Offers: []complete.Offer{{Value: "last", About: "the last run"}}}
	var dir string
	if given := cl.Flags["state-dir"]; len(given) > 0 {
		dir = complete.ExpandHome(given[len(given)-1])
	}
	for _, l := range a.loadTyped(cl, true) {
		if l.manifest.Identity == "" {
			continue
		}
		store, err := a.store(dir, l.manifest.Identity)
		if err != nil {
			continue
		}
		snap, err := store.Read()
		if err != nil {
			continue
		}
		runs := snap.Runs()
		slices.Reverse(runs)
		for i := range runs {
			ans.Offers = append(ans.Offers, complete.Offer{Value: runs[i].Run, About: describeRun(&runs[i])})
		}
	}
	return ans
}

// describeRun returns a run in a few words.
func describeRun(p *model.RunRecord) string {
	how := "killed"
	switch {
	case p.Running:
		how = "still running"
	case p.ExitCode != nil:
		how = fmt.Sprintf("exit %d", *p.ExitCode)
	}
	return fmt.Sprintf("%s by %s at %s, %s", p.Mode, p.User, p.Started.UTC().Format(time.DateTime), how)
}

func offerFormats(*complete.CommandLine, string) complete.Answer {
	return complete.OfferWords(render.FormatNames(nil)...)
}

// offerReportFiles offers formats, and files behind the =.
func offerReportFiles(_ *complete.CommandLine, text string) complete.Answer {
	if format, _, ok := strings.Cut(text, "="); ok {
		return complete.Answer{Kind: complete.KindFiles, Prefix: format + "="}
	}
	var names []string
	for _, name := range publish.FileFormats() {
		names = append(names, name+"=")
	}
	return complete.OfferWords(names...)
}

// offerProperties offers types and top-level keys, and the properties of a type
// once its name is typed.
func offerProperties(_ *complete.CommandLine, text string) complete.Answer {
	typ, _, _ := strings.Cut(text, ".")
	ans := complete.Answer{Kind: complete.KindWords}
	for _, p := range manifests.Explained(resources.Types(resources.World{})) {
		of, _, dotted := strings.Cut(p.Name, ".")
		if !dotted || of == typ {
			ans.Offers = append(ans.Offers, complete.Offer{Value: p.Name, About: p.Meaning})
		}
	}
	return ans
}
