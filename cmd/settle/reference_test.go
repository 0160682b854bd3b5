package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/resources"
)

const (
	referenceBegins = "<!-- generated from the properties' own tables: go test ./cmd/settle -update -->\n"
	referenceEnds   = "<!-- end of generated -->\n"
)

// The reference's tables of properties are those of the program.
func TestReferenceHasTheTablesOfProperties(t *testing.T) {
	name := filepath.Join(top, "cmd", "settle", "docs", "reference.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), referenceBegins)
	got, after, closed := strings.Cut(rest, referenceEnds)
	if !ok || !closed {
		t.Fatal("reference.md has no place for the reference")
	}
	want := "\n" + strings.TrimSpace(manifests.Reference(resources.Types(resources.World{}))) + "\n\n"
	if *update && got != want {
		if err := os.WriteFile(name, []byte(before+referenceBegins+want+referenceEnds+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("reference.md differs from the properties (go test ./cmd/settle -update): -page +program\n%s", diff)
	}
}

// Every type, property and key that the program explains stands in the
// reference, under the type it belongs to.
func TestReferenceHasEveryProperty(t *testing.T) {
	text := referencePage(t)
	for _, p := range manifests.Explained(resources.Types(resources.World{})) {
		typ, name, dotted := strings.Cut(p.Name, ".")
		switch {
		case dotted:
			if row := "\n| `" + name + "` |"; !strings.Contains(section(text, "### "+typ), row) && !strings.Contains(section(text, "### Every type"), row) {
				t.Errorf("reference.md lacks %s", p.Name)
			}
		case !strings.Contains(text, "\n### "+typ+"\n") && !strings.Contains(text, "\n| `"+typ+"` |"):
			t.Errorf("reference.md lacks %s", p.Name)
		}
	}
}

func referencePage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, "cmd", "settle", "docs", "reference.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section is what stands under a heading.
func section(text, heading string) string {
	_, text, _ = strings.Cut(text, "\n"+heading+"\n")
	text, _, _ = strings.Cut(text, "\n#")
	return text
}

// Every exit code that exit.go has is one of the entries, and each of them is in
// the reference.
func TestEveryExitCodeIsInTheReference(t *testing.T) {
	known := map[string]bool{}
	for _, e := range exitEntries {
		for _, code := range strings.Split(e.Name, ", ") {
			known[code] = true
		}
		if !strings.Contains(section(referencePage(t), "## Exit codes"), "\n| "+e.Name+" | ") {
			t.Errorf("reference.md lacks exit %s", e.Name)
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "../internal/exit/exit.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) == 0 {
			return true
		}
		codes++
		if code := spec.Values[0].(*ast.BasicLit).Value; !known[code] {
			t.Errorf("%s (%s) is no entry", spec.Names[0].Name, code)
		}
		return false
	})
	if codes < 10 {
		t.Errorf("only %d codes are in exit.go", codes)
	}
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		if !known[fmt.Sprint(128+int(s))] {
			t.Errorf("%v is no entry", s)
		}
	}
}

// What the program reads from its environment is one of the entries, and each of
// them is in the reference.
func TestEveryEnvironmentVariableIsInTheReference(t *testing.T) {
	known := map[string]bool{}
	var all strings.Builder
	for _, e := range environmentEntries {
		all.WriteString(e.Name + " " + e.Meaning + "\n")
		if !strings.Contains(section(referencePage(t), "## Environment variables"), "`"+e.Name+"`") {
			t.Errorf("reference.md lacks the variable %s", e.Name)
		}
	}
	for _, word := range regexp.MustCompile(`[A-Z_]+`).FindAllString(all.String(), -1) {
		known[word], known[strings.TrimSuffix(word, "NAME")] = true, true // of those that end with any name the program knows the beginning
	}
	read := 0
	for _, dir := range []string{"cmd/settle", "cmd/internal", "model", "manifests", "resources", "providers"} {
		walkCode(t, filepath.Join(top, dir), func(name string, file *ast.File) {
			ast.Inspect(file, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				text, _ := strconv.Unquote(lit.Value) // the parser has accepted it
				if !regexp.MustCompile(`^(SETTLE|GITHUB|GITLAB|XDG|CLICOLOR|NO)_[A-Z_]+$|^(CI|TERM|GOGC)$`).MatchString(text) {
					return true
				}
				read++
				if !known[text] {
					t.Errorf("%s: %s is no entry", name, text)
				}
				return true
			})
		})
	}
	if read < 10 {
		t.Errorf("only %d variables were found", read)
	}
}
