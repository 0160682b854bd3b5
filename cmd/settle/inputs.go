package main

import (
	"context"
	"os"
	"slices"
	"sync"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/source"
	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/providers/facts"
)

// elsewhere returns a function that reports whether any of several manifests declares
// a variable: a value is given to all of them, and need not fit each. The files are
// read again only when a manifest does not know a variable.
func (a *app) elsewhere(ctx context.Context, paths []string) func(variable string) bool {
	if len(paths) < 2 {
		return nil
	}
	declared := sync.OnceValue(func() map[string]bool {
		names := map[string]bool{}
		for _, path := range paths {
			if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
				continue // a pipe was read to its end
			}
			if src, _, err := source.ReadManifest(ctx, path, a.in); err == nil {
				for _, name := range manifests.Variables(src) {
					names[name] = true
				}
			}
		}
		return names
	})
	return func(variable string) bool { return declared()[variable] }
}

// inputs are the values that the command line gives to its manifests.
type inputs struct {
	manifests.Inputs
	exposed []string      // files of them that others may write
	refused *exit.Refusal // set when they cannot be read
}

// inputs reads the values that the flags name, for these manifests.
func (a *app) inputs(ctx context.Context, f valueFlags, paths ...string) inputs {
	in := inputs{Inputs: manifests.Inputs{Vars: convertGiven(f.Var), Facts: convertGiven(f.Fact), Host: a.host, Elsewhere: a.elsewhere(ctx, paths)}}
	dashes := 0
	for _, path := range slices.Concat(paths, f.files()) {
		if path == "-" {
			dashes++
		}
	}
	if dashes > 1 {
		in.refused = exit.Refuse(exit.Usage, "- is named twice: standard input can be read once")
		return in
	}
	for _, path := range f.VarFile {
		in.VarFiles = append(in.VarFiles, a.valueFile(ctx, &in, "--var-file", path))
	}
	for _, path := range f.FactsFile {
		in.FactFiles = append(in.FactFiles, a.valueFile(ctx, &in, "--facts-file", path))
	}
	return in
}

func (a *app) valueFile(ctx context.Context, in *inputs, flag, path string) manifests.ValueFile {
	text, exposed, err := source.ReadFile(ctx, path, a.in)
	switch {
	case err != nil && in.refused == nil:
		in.refused = exit.Refuse(exit.Unreadable, "%s %s: %w", flag, path, source.ExplainError(err, ": name a file that is there"))
	case exposed:
		in.exposed = append(in.exposed, path)
	}
	return manifests.ValueFile{Path: path, Bytes: text}
}

// hostFacts are those of this machine, for ${host.…}.
func hostFacts() (map[string]any, error) { return facts.Host(context.Background()) }
