package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/manifests"
	"github.com/settle-cm/settle/resources"
)

const (
	referenceBegins = "<!-- generated from the properties' own tables: go test ./cmd/settle -update -->\n"
	referenceEnds   = "<!-- end of generated -->\n"
)

// The README's tables of properties are those of the program.
func TestReferenceIsInTheREADME(t *testing.T) {
	name := filepath.Join(top, "README.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), referenceBegins)
	got, after, closed := strings.Cut(rest, referenceEnds)
	if !ok || !closed {
		t.Fatal("README.md has no place for the reference")
	}
	want := "\n" + strings.TrimSpace(manifests.Reference(resources.Types(resources.World{}))) + "\n\n"
	if *update && got != want {
		if err := os.WriteFile(name, []byte(before+referenceBegins+want+referenceEnds+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("README.md differs from the properties (go test ./cmd/settle -update): -README +program\n%s", diff)
	}
}
