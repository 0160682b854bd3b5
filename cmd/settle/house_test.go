package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

const (
	module = "github.com/settle-cm/settle/"
	top    = "../.." // of the repository, seen from here
)

// edges says which of our packages each of our packages may import. The
// resources' own folders follow one rule, below. Every arrow points to model.
var edges = map[string][]string{
	"model":               {"model/shelltext"},
	"model/shelltext":     {},
	"model/graph":         {},
	"model/secret":        {},
	"model/ccm":           {"model/spelling"},
	"model/condition":     {"model/spelling"},
	"model/spelling":      {},
	"model/value":         {"model/spelling"},
	"model/engine":        {"model", "model/graph"},
	"model/disk":          {},
	"model/download":      {"model"},
	"model/packages":      {},
	"manifests":           {"manifests/*", "model", "model/value"},
	"manifests/entry":     {"model"},
	"manifests/parse":     {"manifests/entry", "model", "model/value"},
	"manifests/schema":    {"manifests/entry", "model", "model/spelling", "model/value"},
	"manifests/shape":     {"manifests/entry", "manifests/parse", "manifests/schema", "model"},
	"manifests/eval":      {"manifests/entry", "manifests/parse", "manifests/schema", "manifests/shape", "model", "model/ccm", "model/condition", "model/spelling", "model/value"},
	"manifests/outline":   {"manifests/entry", "manifests/parse", "manifests/schema", "manifests/shape"},
	"manifests/decode":    {"manifests/entry", "manifests/eval", "manifests/outline", "manifests/parse", "manifests/schema", "model", "model/value"},
	"manifests/resolve":   {"manifests/entry", "model", "model/graph", "model/spelling"},
	"manifests/excerpt":   {"manifests/entry", "manifests/parse", "manifests/schema", "model", "model/secret"},
	"manifests/render":    {"manifests/entry", "manifests/parse", "manifests/schema", "model", "model/secret", "model/value"},
	"providers/proc":      {"model"},
	"providers/journal":   {"model"},
	"providers/files":     {"model", "model/disk"},
	"providers/helper":    {"model"},
	"providers/tokens":    {"resources/provision/contract"}, // the tokens that the contract speaks of
	"providers/facts":     {},
	"providers/openrc":    {"model"},
	"providers/apt":       {"model", "model/packages"},
	"providers/posix":     {"model", "model/shelltext"},
	"providers/fetch":     {"model", "model/download"},
	"providers/unpack":    {"model"},
	"providers/system":    {"model"},
	"providers/systemd":   {"model"},
	"providers/shell":     {"model", "model/shelltext"},
	"resources":           {"model", "resources/*", "providers/*"},
	"resources/*":         {"model", "model/disk", "model/download", "model/packages", "model/spelling"},
	"resources/provision": {"model", "model/disk", "model/secret", "model/spelling", "resources/provision/contract"},

	"resources/provision/contract": {"model", "model/spelling"},

	"cmd/internal/exit":       {"model", "providers/proc"},
	"cmd/internal/layout":     {},
	"cmd/internal/render":     {"cmd/internal/layout", "model"},
	"cmd/internal/cmdline":    {"model"},
	"cmd/internal/manpage":    {"cmd/internal/cmdline"},
	"cmd/internal/complete":   {"cmd/internal/cmdline", "cmd/internal/render"},
	"cmd/internal/settletest": {}, // for tests alone

	"cmd/internal/publish":  {"cmd/internal/render", "cmd/internal/terminal", "model", "model/engine"},
	"cmd/internal/source":   {"manifests", "model/spelling"},
	"cmd/internal/terminal": {"cmd/internal/render"},

	"cmd/settle": {"*"},

	// the second program knows settle from outside only
	"cmd/settle-fleet":            {"cmd/settle-fleet/internal", "model", "providers/facts"},
	"cmd/settle-fleet/internal/*": {"cmd/settle-fleet/internal", "model", "model/spelling"},
}

// libraries says who may import what is not ours and not of the standard library.
var libraries = map[string][]string{
	"manifests":        {"gopkg.in/yaml.v3"},
	"model/ccm":        {"github.com/expr-lang/expr"},
	"model/condition":  {"github.com/expr-lang/expr"},
	"providers/apt":    {"golang.org/x/sys"},
	"providers/posix":  {"github.com/kballard/go-shellquote"},
	"providers/shell":  {"mvdan.cc/sh/v3/syntax"},
	"providers/proc":   {"golang.org/x/sys"},
	"providers/files":  {"golang.org/x/sys"},
	"providers/unpack": {"github.com/klauspost/compress"},
	"providers/tokens": {"github.com/choria-io/tokens"},
	"resources/file":   {"github.com/rogpeppe/go-internal/diff"},
	"providers/facts":  {"github.com/shirou/gopsutil"},

	"cmd/internal/terminal": {"github.com/charmbracelet/log", "github.com/muesli/termenv", "golang.org/x/term"},

	"cmd/settle":            {"github.com/alecthomas/kong"},
	"cmd/internal/cmdline":  {"github.com/alecthomas/kong"},
	"cmd/internal/manpage":  {"github.com/alecthomas/kong"},
	"cmd/internal/complete": {"github.com/alecthomas/kong"},

	"cmd/settle-fleet":                 {"github.com/alecthomas/kong", "github.com/charmbracelet/log"},
	"cmd/settle-fleet/internal/config": {"gopkg.in/yaml.v3"},
	"cmd/settle-fleet/internal/bus":    {"github.com/nats-io/nats.go", "github.com/nats-io/nkeys"},

	"manifests/parse":   {"gopkg.in/yaml.v3"},
	"manifests/schema":  {"gopkg.in/yaml.v3"}, // examples in the JSON Schema
	"manifests/shape":   {"gopkg.in/yaml.v3"},
	"manifests/eval":    {"gopkg.in/yaml.v3"},
	"manifests/outline": {"gopkg.in/yaml.v3"},
	"manifests/decode":  {"gopkg.in/yaml.v3"},
	"manifests/excerpt": {"gopkg.in/yaml.v3"},
	"manifests/render":  {"gopkg.in/yaml.v3"},
}

// imports returns what each package of ours imports outside of its tests.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || name != top && strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel(top, filepath.Dir(name))
		if err != nil {
			return err
		}
		pkg = filepath.ToSlash(pkg)
		found[pkg] = append(found[pkg], importsOf(file)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 10 {
		t.Fatalf("only %d packages were found", len(found))
	}
	return found
}

func importsOf(file *ast.File) []string {
	var paths []string
	for _, spec := range file.Imports {
		p, _ := strconv.Unquote(spec.Path.Value) // the parser has accepted it
		paths = append(paths, p)
	}
	return paths
}

// rule returns the row of a table that holds for a package.
func rule(table map[string][]string, pkg string) ([]string, bool) {
	if allowed, ok := table[pkg]; ok {
		return allowed, true
	}
	allowed, ok := table[path.Dir(pkg)+"/*"]
	return allowed, ok
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, name) // our own patterns
		return ok || pattern == "*" || name == pattern || strings.HasPrefix(name, pattern+"/")
	})
}

func TestImports(t *testing.T) {
	for pkg, paths := range imports(t) {
		allowed, known := rule(edges, pkg)
		if !known {
			t.Errorf("%s is not in the table of packages", pkg)
		}
		others, _ := rule(libraries, pkg)
		for _, p := range paths {
			ours, isOurs := strings.CutPrefix(p, module)
			first, _, _ := strings.Cut(p, "/")
			switch {
			case isOurs && !matches(allowed, ours):
				t.Errorf("%s must not import %s", pkg, ours)
			case !isOurs && strings.Contains(first, ".") && !matches(others, p):
				t.Errorf("%s must not import %s", pkg, p)
			}
		}
	}
}

// The core touches nothing: it does not even know what time it is.
func TestModelDoesNoIO(t *testing.T) {
	for pkg, paths := range imports(t) {
		if pkg != "model" && !strings.HasPrefix(pkg, "model/") {
			continue
		}
		for _, p := range paths {
			if p != "net/netip" && matches([]string{"os", "net", "syscall", "log", "io/ioutil", "path/filepath", "unsafe"}, p) {
				t.Errorf("%s imports %s", pkg, p)
			}
		}
	}
	clock := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick"}
	walkCode(t, filepath.Join(top, "model"), func(name string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clock, sel.Sel.Name) {
				t.Errorf("%s uses time.%s", name, sel.Sel.Name)
			}
			return true
		})
	})
}

// Nothing below cmd may know that a dry run exists, or what a format is called.
func TestOnlyTheCommandLineKnowsDryRunsAndFormats(t *testing.T) {
	forbidden := []string{"dryrun", "dry_run", "noop", "jsonl", "junit"}
	for _, dir := range []string{"model", "manifests", "resources", "providers"} {
		walkCode(t, filepath.Join(top, dir), func(name string, file *ast.File) {
			ast.Inspect(file, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && slices.Contains(forbidden, strings.ToLower(id.Name)) {
					t.Errorf("%s: %s", name, id.Name)
				}
				return true
			})
		})
	}
}

func walkCode(t *testing.T, dir string, visit func(name string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err == nil {
			visit(name, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A resource type is a folder and a line in the table.
func TestEveryResourceTypeIsInTheTable(t *testing.T) {
	table := imports(t)["resources"]
	folders, err := os.ReadDir(filepath.Join(top, "resources"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if folder.IsDir() && !slices.Contains(table, module+"resources/"+folder.Name()) {
			t.Errorf("resources/%s is not in resources.go", folder.Name())
		}
	}
}

// The reference page lists every command and flag of the grammar.
func TestReferenceHasEveryCommandAndFlag(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(top, "cmd", "settle", "docs", "reference.md"))
	if err != nil {
		t.Fatal(err)
	}
	k := commandModel()
	var check func(node *kong.Node)
	check = func(node *kong.Node) {
		for _, flag := range node.Flags {
			want := "`--" + flag.Name
			if flag.Short != 0 {
				want = "`-" + string(flag.Short) + "`, `--" + flag.Name
			}
			if !strings.Contains(string(text), want) {
				t.Errorf("reference.md lacks the flag of %s: %s", node.Path(), want)
			}
		}
		for _, child := range node.Children {
			if !strings.Contains(string(text), "`settle "+child.Path()) {
				t.Errorf("reference.md lacks the command %s", child.Path())
			}
			check(child)
		}
	}
	check(k)
}
