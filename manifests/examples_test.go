package manifests_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/manifests"
)

// One manifest of three resources serves Debian and RHEL: each resource has the name
// that the family has for it, and they depend on each other in order.
func TestChronyExampleServesTwoFamilies(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("examples/chrony/settle.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for family, want := range map[string]string{
		"debian": "package#chrony file#/etc/chrony/chrony.conf service#chrony",
		"rhel":   "package#chrony file#/etc/chrony.conf service#chronyd",
	} {
		src := source(string(text))
		src.Facts = []manifests.Given{{Key: "family", Text: family}}
		m, problems, warnings := manifests.Load(src, types())
		if m == nil || len(warnings) > 0 {
			t.Fatal(problems, warnings)
		}
		var ids []string
		for _, n := range m.Order {
			ids = append(ids, m.Resources[n].ID())
		}
		if diff := cmp.Diff(want, strings.Join(ids, " ")); diff != "" {
			t.Errorf("%s: %s", family, diff)
		}
		if edges := m.Resources[2].Upstream; len(edges) != 1 || !edges[0].Refresh {
			t.Errorf("%s: the service subscribes to %v", family, edges)
		}
	}
}
