//go:build unix

package file_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
)

// BenchmarkStable loads and applies a manifest of files that are as declared,
// beside the least that this takes in Go: to decode it, and to read every file.
func BenchmarkStable(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		dir := b.TempDir()
		var manifest strings.Builder
		manifest.WriteString("- file:\n")
		for i := range n {
			path, content := filepath.Join(dir, fmt.Sprint("file", i)), fmt.Sprintf("this is file %d\n", i)
			fmt.Fprintf(&manifest, "    - %s: {content: %q, mode: \"0644\", owner: %q}\n", path, content, fmt.Sprint(os.Geteuid()))
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				b.Fatal(err)
			}
			if err := os.Chmod(path, 0o644); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("settle-%d", n), func(b *testing.B) {
			for b.Loop() {
				applyStable(b, dir, manifest.String())
			}
		})
		b.Run(fmt.Sprintf("loop-%d", n), func(b *testing.B) {
			for b.Loop() {
				loop(b, dir, n, manifest.String())
			}
		})
	}
}

func applyStable(b *testing.B, dir, manifest string) {
	b.Helper()
	m, problems := load(dir, manifest)
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	outcomes, err := engine.Run(b.Context(), &model.Plan{Manifest: m}, engine.Options{Act: engine.Apply, Journal: engine.NoJournal{}, Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	for i := range outcomes {
		if outcomes[i].Status != model.Stable {
			b.Fatal(outcomes[i].Reason)
		}
	}
}

func loop(b *testing.B, dir string, n int, manifest string) {
	b.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(manifest), &root); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		path := filepath.Join(dir, fmt.Sprint("file", i))
		if _, err := os.Lstat(path); err != nil {
			b.Fatal(err)
		}
		if _, err := os.ReadFile(path); err != nil {
			b.Fatal(err)
		}
	}
}
