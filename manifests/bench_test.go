package manifests_test

import (
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// large is a manifest of n resources, as in the workloads of the performance page.
func large(n int) string {
	var b strings.Builder
	b.WriteString("resources:\n  - exec:\n")
	for i := range n {
		fmt.Fprintf(&b, "      - r%d:\n          command: /bin/true\n          creates: /tmp/files/f%d\n", i, i)
		if i > 0 {
			fmt.Fprintf(&b, "          subscribe:\n            - exec#r%d\n          on_refresh: check\n", i-1)
		}
	}
	return b.String()
}

// The bar is the time that yaml.v3 needs for the tree, and half of it again.
func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		text := large(n)
		b.Run(fmt.Sprintf("settle-%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if m, problems := load("m.yaml", text); m == nil {
					b.Fatal(problems)
				}
			}
		})
		b.Run(fmt.Sprintf("tree-%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var tree yaml.Node
				if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Ten thousand resources with a variable each: with its default, and with a level
// that overrides it.
func BenchmarkLoadWithOverrides(b *testing.B) {
	const n = 10_000
	var vars, overrides, resources strings.Builder
	for i := range n {
		fmt.Fprintf(&vars, "  v%d: a%d\n", i, i)
		fmt.Fprintf(&overrides, "    v%d: b%d\n", i, i)
		fmt.Fprintf(&resources, "      - r%d:\n          command: /bin/true\n          stdin: ${var.v%d}\n", i, i)
	}
	rest := "resources:\n  - exec:\n" + resources.String()
	for name, text := range map[string]string{
		"defaults":  "vars:\n" + vars.String() + rest,
		"overrides": "vars:\n" + vars.String() + "hierarchy: [here]\noverrides:\n  here:\n" + overrides.String() + rest,
		"literal":   strings.ReplaceAll(rest, "${var.", "${{var."),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if m, problems := load("m.yaml", text); m == nil {
					b.Fatal(problems)
				}
			}
		})
	}
}
