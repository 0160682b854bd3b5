package condition_test

import (
	"testing"

	"github.com/settle-cm/settle/model/condition"
)

// A manifest may have a condition at every resource: what one costs.
func BenchmarkCompile(b *testing.B) {
	n := names()
	for b.Loop() {
		if _, err := condition.Compile(`host.os == "linux" and var.size > 2 and var.name in var.sites`, n); err != nil {
			b.Fatal(err)
		}
	}
}
