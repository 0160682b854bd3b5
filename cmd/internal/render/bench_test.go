package render

import (
	"fmt"
	"testing"

	"github.com/settle-cm/settle/model"
)

// many returns a report of n resources with the same result.
func many(n int, status model.Status) []model.Report {
	outcomes := make([]model.ResourceReport, n)
	for i := range outcomes {
		outcomes[i] = outcome(fmt.Sprintf("exec#r%d", i), i, status, "creates /etc/hostname exists")
	}
	return []model.Report{report("apply", 0, outcomes)}
}

func BenchmarkFormats(b *testing.B) {
	for _, name := range []string{"text", "json", "junit", "markdown", "metrics", "html"} {
		for _, status := range []model.Status{model.Stable, model.Changed} {
			for _, n := range []int{1_000, 10_000} {
				b.Run(fmt.Sprintf("%s/%s/%d", name, status, n), func(b *testing.B) {
					reports := many(n, status)
					b.ReportAllocs()
					for b.Loop() {
						if len(formatNamed(b, name).Render(reports, Options{})) == 0 {
							b.Fatal("nothing")
						}
					}
				})
			}
		}
	}
}

func BenchmarkOutputLine(b *testing.B) {
	line := []byte("2026-01-02T03:04:05Z INFO a line of a hundred bytes or so, as programs write them when they are asked to")
	to := make([]byte, 0, 4096)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		to = AppendLine(to[:0], line)
	}
}
