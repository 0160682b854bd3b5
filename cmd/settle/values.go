package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/providers/facts"
)

// valueFlags belong to every command that loads a manifest: what its expressions
// are filled in with.
type valueFlags struct {
	Var       []given  `sep:"none" placeholder:"NAME=VALUE" help:"A value for $${var.NAME}. Repeatable."`
	VarFile   []string `sep:"none" placeholder:"FILE" help:"A file of such values, YAML or JSON, over --var; - is standard input. Repeatable."`
	Fact      []given  `sep:"none" placeholder:"NAME=VALUE" help:"What $${host.NAME} is, whatever this machine says. Repeatable."`
	FactsFile []string `sep:"none" placeholder:"FILE" help:"A file of such facts, YAML or JSON, under --fact; - is standard input. Repeatable."`
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

func givens(list []given) []manifests.Given {
	var all []manifests.Given
	for _, g := range list {
		all = append(all, manifests.Given(g))
	}
	return all
}

// elsewhere says of a variable whether any of several manifests declares it: what
// is given to all of them need not mean something to each. They are looked at
// again only where one of them does not know a variable.
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

// files are those that the flags name: they are read, and so not written over.
func (f *valueFlags) files() []string { return slices.Concat(f.VarFile, f.FactsFile) }

// inputs are the values that the command line gives to its manifests.
type inputs struct {
	manifests.Inputs
	exposed []string // files of them that others may write
	refused *refusal // why there are none
}

// inputs reads the values that the flags name, for these manifests.
func (a *app) inputs(ctx context.Context, f valueFlags, paths ...string) inputs {
	in := inputs{Inputs: manifests.Inputs{Vars: givens(f.Var), Facts: givens(f.Fact), Host: a.host, Elsewhere: a.elsewhere(ctx, paths)}}
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
		in.refused = refuse(exitUnreadable, "%s %s: %w", flag, path, unreadable(err, ": name a file that is there"))
	case exposed:
		in.exposed = append(in.exposed, path)
	}
	return manifests.ValueFile{Path: path, Bytes: text}
}

// readFile reads a file that is named on the command line, as long as the
// context lasts. exposed says that others may write it.
func (a *app) readFile(ctx context.Context, path string) (text []byte, exposed bool, err error) {
	err = patiently(ctx, func() (func(), error) {
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
		return nil, false, unwrapped(err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, false, unwrapped(err)
	}
	text, err = readLimited(f, manifestLimit)
	return text, info.Mode().IsRegular() && info.Mode().Perm()&0o022 != 0, err
}

// hostFacts are those of this machine, for ${host.…}.
func hostFacts() (map[string]any, error) { return facts.Host(context.Background()) }
