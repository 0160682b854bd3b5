package render

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
)

// siteReport returns an apply of a site with this many resources: chains, fans, and
// many without dependencies, as in real manifests.
func siteReport(n int) (model.Report, Trace) {
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	verbs := []string{"unpack", "install", "configure", "migrate", "reload", "restart", "check", "fetch", "build", "link"}
	things := []string{"nginx", "postgres", "redis", "app", "worker", "certs", "users", "cron", "backup", "logrotate", "sshd", "firewall"}
	var all []model.ResourceReport
	var t Trace
	at := make([]time.Duration, 4)
	for i := range n {
		name := fmt.Sprintf("%s %s", verbs[i%len(verbs)], things[(i/len(verbs)+i)%len(things)])
		if i >= 60 {
			name += fmt.Sprint(" ", i/60)
		}
		o := outcome("exec#"+name, 5+4*i, model.Stable, "creates /opt/"+strings.ReplaceAll(name, " ", "/")+" exists")
		o.Command = "/usr/local/bin/" + strings.ReplaceAll(name, " ", "-") + " --all --quiet"
		took := time.Duration(5+rnd.IntN(20)) * time.Millisecond
		blocked := ""
		if i > 0 {
			for range rnd.IntN(3) {
				up := max(0, i-1-rnd.IntN(min(i, 12)))
				if rnd.IntN(10) == 0 {
					up = 0
				}
				kind := "require"
				if rnd.IntN(2) == 0 {
					kind = "subscribe"
				}
				t.Graph.Edges = append(t.Graph.Edges, Edge{From: all[up].ID, To: o.ID, Kind: kind})
				switch s := all[up].Status; {
				case s == model.Failed:
					blocked = all[up].ID
				case s == model.Skipped:
					blocked = all[up].RootCause
				case s == model.Changed && kind == "subscribe":
					o.RefreshedBy = append(o.RefreshedBy, all[up].ID)
				}
			}
		}
		switch {
		case blocked != "":
			o.Status, o.Reason, o.RootCause, o.RefreshedBy = model.Skipped, blocked+" failed", blocked, nil
			took = 0
		case len(o.RefreshedBy) > 0 && i < n*3/4:
			o.Status, o.Reason, o.Attempts, o.Exit = model.Changed, "refreshed by "+o.RefreshedBy[0], 1, number(0)
			took = time.Duration(100+rnd.IntN(2500)) * time.Millisecond
		case i == 4 || i == 23:
			o.RefreshedBy = nil
			o.Status, o.Reason, o.Attempts, o.Exit, o.Expects = model.Failed, "exit 3", 1, number(3), "returns 0"
			o.Output = "connecting to db1\nerror: relation \"users\" is locked\nretry later\n"
			o.Guards = []model.GuardResult{{Property: "unless", Command: o.Command + " --check", Exit: number(1)}}
			took = 1204 * time.Millisecond
		case i%6 == 1:
			o.RefreshedBy = nil
			o.Status, o.Reason, o.Attempts, o.Exit = model.Changed, "creates /opt/x is missing", 1, number(0)
			o.Diff = "--- /etc/nginx.conf\n+++ /etc/nginx.conf\n@@ -1,3 +1,3 @@\n worker_processes 4;\n-keepalive 10;\n+keepalive 65;\n"
			took = time.Duration(200+rnd.IntN(1500)) * time.Millisecond
		default:
			o.RefreshedBy = nil
		}
		if i == 7 {
			o.Status, o.Reason, o.Ignored, o.Attempts = model.Failed, "timed out after 2s", true, 3
			took = 2 * time.Second
		}
		o.DurationMS = took.Milliseconds()
		span := Span{}
		if took > 0 {
			lane := 0
			for l := range at {
				if at[l] < at[lane] {
					lane = l
				}
			}
			span = Span{at[lane], at[lane] + took}
			at[lane] += took + time.Millisecond
		}
		t.Spans = append(t.Spans, span)
		t.Graph.Nodes = append(t.Graph.Nodes, Node{ID: o.ID})
		all = append(all, o)
	}
	r := report("apply", 1, all)
	r.DurationMS = at[0].Milliseconds()
	return r, t
}
