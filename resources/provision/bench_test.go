package provision_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
	"github.com/settle-cm/settle/resources"
)

// BenchmarkServers asks a helper that answers at once for many servers that are
// as they should be, beside what it costs to start that helper at all.
func BenchmarkServers(b *testing.B) {
	dir := b.TempDir()
	reply := `{"configuration": {"identity": "x", "plugin.choria.server.provision": "false"}}`
	helper := filepath.Join(dir, "reply.json")
	if err := os.WriteFile(helper, []byte(reply), 0o644); err != nil {
		b.Fatal(err)
	}
	const servers = 200
	var text strings.Builder
	text.WriteString("defaults:\n  provision: {helper: /bin/cat reply.json, inventory: {facts: {rack: 12, role: web}}}\nresources:\n  - provision:\n")
	for i := range servers {
		fmt.Fprintf(&text, "      - node%d.example.net: {directory: servers/%d}\n", i, i)
	}
	m, problems := load(dir, text.String(), resources.World{Run: "r"})
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	apply := func(jobs int) {
		outcomes, err := engine.Run(context.Background(), &model.Plan{Manifest: m, Memory: model.Replay(nil)}, engine.Options{
			Act: engine.Apply, Jobs: jobs, Journal: engine.NoJournal{}, Now: time.Now,
		})
		if err != nil || outcomes[0].Status == model.Failed {
			b.Fatal(err, outcomes[0].Reason)
		}
	}
	apply(8)
	for _, jobs := range []int{1, 8} {
		b.Run(fmt.Sprintf("settle/parallel=%d", jobs), func(b *testing.B) {
			for b.Loop() {
				apply(jobs)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*servers), "µs/server")
		})
	}
	b.Run("os/exec", func(b *testing.B) {
		for b.Loop() {
			for range servers {
				cmd := exec.Command("/bin/cat", helper)
				cmd.Stdin = strings.NewReader(reply)
				if out, err := cmd.Output(); err != nil || len(out) == 0 {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*servers), "µs/server")
	})
}
