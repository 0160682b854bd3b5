package provision_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
	"github.com/settle-cm/settle/resources"
)

// Many servers in one manifest are provisioned side by side, each as if it were alone.
func TestManyServers(t *testing.T) {
	s := newSite(t)
	s.script(`input=$(cat); name=${input#*:\"}; name=${name%%\"*}; echo "{\"configuration\": {\"identity\": \"$name\", \"plugin.choria.server.provision\": \"false\"}}"`)
	const servers = 200
	var text strings.Builder
	text.WriteString("parallel: 8\ndefaults:\n  provision: {helper: ./helper, timeout: 1m, inventory: {facts: {}}}\nresources:\n  - provision:\n")
	for i := range servers {
		fmt.Fprintf(&text, "      - node%d.example.net: {directory: etc/%d}\n", i, i)
	}
	m, problems := load(s.dir, text.String(), resources.World{Run: "r"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, want := range []model.Status{model.Changed, model.Stable} {
		outcomes, err := engine.Run(context.Background(), &model.Plan{Manifest: m, Memory: model.Replay(nil)}, engine.Options{
			Act: engine.Apply, Jobs: m.Parallel, Journal: engine.NoJournal{}, Now: time.Now,
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range outcomes {
			if outcomes[i].Status != want {
				t.Fatalf("%s: %s: %s, want %s", outcomes[i].ID, outcomes[i].Status, outcomes[i].Reason, want)
			}
		}
	}
	for i := range servers {
		if conf := s.read(fmt.Sprintf("etc/%d/server.conf", i)); !strings.Contains(conf, fmt.Sprintf("\nidentity = node%d.example.net\n", i)) {
			t.Fatalf("server %d has\n%s", i, conf)
		}
	}
}
