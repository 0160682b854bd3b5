package main

import (
	"context"
	"io"
	"os"
	"slices"
	"sync"

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
			if src, _, err := a.read(ctx, path); err == nil {
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
	exposed []string // files of them that others may write
	refused *refusal // set when they cannot be read
}

// inputs reads the values that the flags name, for these manifests.
func (a *app) inputs(ctx context.Context, f valueFlags, paths ...string) inputs {
	in := inputs{Inputs: manifests.Inputs{Vars: convertGiven(f.Var), Facts: convertGiven(f.Fact), Host: a.host, Elsewhere: a.elsewhere(ctx, paths)}}
	dashes := 0
	for _, path := range slices.Concat(paths, f.files()) {
		dashes += when(path == "-", 1)
	}
	if dashes > 1 {
		in.refused = refuse(exitUsage, "- is named twice: standard input can be read once")
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
	text, exposed, err := a.readFile(ctx, path)
	switch {
	case err != nil && in.refused == nil:
		in.refused = refuse(exitUnreadable, "%s %s: %w", flag, path, explainReadError(err, ": name a file that is there"))
	case exposed:
		in.exposed = append(in.exposed, path)
	}
	return manifests.ValueFile{Path: path, Bytes: text}
}

// readFile reads a file that is named on the command line, as long as the
// context lasts. exposed says that others may write it.
func (a *app) readFile(ctx context.Context, path string) (text []byte, exposed bool, err error) {
	err = runUntilDone(ctx, func() (func(), error) {
		bytes, others, err := readLimitedFile(path, a.in)
		return func() { text, exposed = bytes, others }, err
	})
	return text, exposed, err
}

func readLimitedFile(path string, stdin io.Reader) (text []byte, exposed bool, err error) {
	if path == "-" {
		text, err = readLimited(stdin, manifestLimit)
		return text, false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, withoutPath(err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, false, withoutPath(err)
	}
	text, err = readLimited(f, manifestLimit)
	return text, info.Mode().IsRegular() && info.Mode().Perm()&0o022 != 0, err
}

// hostFacts are those of this machine, for ${host.…}.
func hostFacts() (map[string]any, error) { return facts.Host(context.Background()) }
