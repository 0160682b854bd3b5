//go:build unix

package main

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/resources"
)

// docPages returns the pages that people read, by their path from the top.
func docPages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(top, "cmd", "settle", "docs", "*.md"))
	if err != nil || len(names) < 6 {
		t.Fatalf("%d pages, %v", len(names), err)
	}
	pages := map[string]string{}
	for _, name := range append(names, filepath.Join(top, "README.md"), filepath.Join(top, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(top, name)
		if err != nil {
			t.Fatal(err)
		}
		pages[filepath.ToSlash(rel)] = string(text)
	}
	return pages
}

var (
	docLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	docHeading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	docFence   = regexp.MustCompile("(?ms)^```.*?^```$")
	docCode    = regexp.MustCompile("`([^`]+)`")
	notInSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// Links lead somewhere, and to every page leads one from the README.
func TestDocsAreLinked(t *testing.T) {
	pages := docPages(t)
	anchors := map[string][]string{}
	for name, text := range pages {
		for _, h := range docHeading.FindAllStringSubmatch(docFence.ReplaceAllString(text, ""), -1) {
			slug := notInSlug.ReplaceAllString(strings.ToLower(h[1]), "")
			anchors[name] = append(anchors[name], strings.ReplaceAll(slug, " ", "-"))
		}
	}
	linked := map[string]bool{}
	for name, text := range pages {
		for _, link := range docLink.FindAllStringSubmatch(docFence.ReplaceAllString(text, ""), -1) {
			target, anchor, _ := strings.Cut(link[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			to := name
			if target != "" {
				to = filepath.ToSlash(filepath.Join(filepath.Dir(name), target))
			}
			if _, err := os.Stat(filepath.Join(top, to)); err != nil {
				t.Errorf("%s: a link leads nowhere: %v", name, err)
			}
			if anchor != "" && !slices.Contains(anchors[to], anchor) {
				t.Errorf("%s: %s has no heading #%s", name, to, anchor)
			}
			if name == "README.md" {
				linked[to] = true
			}
		}
	}
	for name := range pages {
		if name != "README.md" && !linked[name] {
			t.Errorf("the README has no link to %s", name)
		}
	}
}

// Commands and flags that the pages name are there.
func TestDocsNameWhatIsThere(t *testing.T) {
	flags, commands := map[string]bool{}, map[string]bool{}
	var learn func(n *kong.Node)
	learn = func(n *kong.Node) {
		for _, f := range n.Flags {
			flags[f.Name] = true
		}
		for _, child := range n.Children {
			commands[child.Name] = true
			learn(child)
		}
	}
	learn(kong.Must(&grammar{}, kong.Name("settle")).Model.Node)
	named := regexp.MustCompile(`(?:^|\s)--([a-z][a-z-]+)`)
	command := regexp.MustCompile(`^settle ([a-z]+)`)
	n := 0
	for name, text := range docPages(t) {
		if name == "CONTRIBUTING.md" {
			continue
		}
		for _, code := range docCode.FindAllStringSubmatch(docFence.ReplaceAllString(text, ""), -1) {
			if c := command.FindStringSubmatch(code[1]); c != nil {
				if n++; !commands[c[1]] && c[1] != "help" {
					t.Errorf("%s: there is no command in %q", name, code[1])
				}
			} else if !strings.HasPrefix(code[1], "--") || name == comingFrom {
				continue // another program's
			}
			for _, f := range named.FindAllStringSubmatch(code[1], -1) {
				if n++; !flags[f[1]] {
					t.Errorf("%s: there is no flag --%s", name, f[1])
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d names were looked at", n)
	}
}

// Every exit code stands in the tables of them, and no other does.
func TestDocsKnowEveryExitCode(t *testing.T) {
	codes := map[string]bool{"129": true, "130": true, "131": true, "143": true}
	walkCode(t, "../internal/exit", func(_ string, file *ast.File) {
		for _, d := range file.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.CONST {
				for _, spec := range d.Specs {
					codes[spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value] = true
				}
			}
		}
	})
	if len(codes) < 12 {
		t.Fatalf("only %d exit codes were found", len(codes))
	}
	number := regexp.MustCompile(`\d+`)
	for _, name := range []string{"cmd/settle/docs/reference.md", "cmd/settle/docs/pipelines.md"} {
		_, rest, ok := strings.Cut(docPages(t)[name], "\n| exit |")
		if !ok {
			t.Fatalf("%s has no table of exit codes", name)
		}
		table, _, _ := strings.Cut(rest, "\n\n")
		listed := map[string]bool{}
		for _, row := range strings.Split(table, "\n")[2:] {
			for _, code := range number.FindAllString(strings.Split(row, "|")[1], -1) {
				listed[code] = true
			}
		}
		if diff := cmp.Diff(listed, codes); diff != "" {
			t.Errorf("%s: -table +program\n%s", name, diff)
		}
	}
}

// The architecture on one screen has every package in it.
func TestDocsKnowEveryPackage(t *testing.T) {
	text := docPages(t)["CONTRIBUTING.md"]
	for pkg := range edges {
		if !strings.Contains(text, "`"+pkg+"`") && !strings.Contains(pkg, "*") {
			t.Errorf("CONTRIBUTING.md does not say what %s is", pkg)
		}
	}
}

// comingFrom is the page that names what other programs have.
const comingFrom = "cmd/settle/docs/migrating.md"

// In its tables of what becomes what the column of settle holds what a manifest may.
func TestDocsNameProperties(t *testing.T) {
	reference := manifests.Reference(resources.Types(resources.World{}))
	word := regexp.MustCompile(`^([a-z_]+)(?::|$)`)
	n, ours := 0, -1
	for row := range strings.Lines(docPages(t)[comingFrom]) {
		cells := strings.Split(strings.ReplaceAll(row, `\|`, "¦"), "|")
		switch at := slices.IndexFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) == "settle" }); {
		case len(cells) < 4:
			ours = -1 // no table
		case at > 0:
			ours = at
		case ours < 0 || ours >= len(cells):
			t.Errorf("no column of settle: %s", row)
		default:
			for _, code := range docCode.FindAllStringSubmatch(cells[ours], -1) {
				w := word.FindStringSubmatch(code[1])
				if w == nil {
					continue
				}
				if n++; !strings.Contains(reference, "| `"+w[1]+"` |") && !strings.Contains(reference, "### "+w[1]+"\n") {
					t.Errorf("there is no property %q: %s", w[1], row)
				}
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d names were looked at", n)
	}
}
