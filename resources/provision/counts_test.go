package provision

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model"
)

func TestCountAddsTheResultsOfARunToEachSite(t *testing.T) {
	counts := map[string]Counts{"london": {Asked: 10, Seconds: 5, Errors: 1, Shutdowns: 2, Provisioned: 3, Failures: 4}}
	m := &model.Manifest{}
	var results []model.Result
	add := func(site string, status model.Status, measures model.Measures) {
		m.Resources = append(m.Resources, model.Resource{Spec: &server{site: site}})
		results = append(results, model.Result{Status: status, Measures: measures, Acted: true})
	}
	add("london", model.Changed, model.Measures{measureRuns: 1, measureSeconds: 1, measureWrites: 1})
	add("london", model.Changed, model.Measures{measureRuns: 1, measureSeconds: 1}) // upgraded
	add("london", model.Stable, model.Measures{measureRuns: 1, measureSeconds: 1})
	add("london", model.Failed, model.Measures{measureRuns: 1, measureSeconds: 10, measureErrors: 1}) // timed out
	add("london", model.Failed, model.Measures{measureErrors: 1})                                     // did not start
	add("london", model.Changed, model.Measures{measureRuns: 2, measureSeconds: 2, measureErrors: 1, measureWrites: 1})
	add("london", model.Deferred, model.Measures{measureRuns: 1, measureSeconds: 1})
	add("london", model.Shutdown, model.Measures{measureRuns: 1, measureSeconds: 1})
	add("paris", model.Failed, model.Measures{measurePaused: 1})
	add("rome", model.Stable, nil)
	results[len(results)-1].Acted = false // creates exists
	paused := Count(counts, m, results)
	want := map[string]Counts{
		"london": {Asked: 18, Seconds: 22, Errors: 4, Shutdowns: 3, Provisioned: 5, Failures: 7},
		"paris":  {Failures: 1},
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]bool{"london": false, "paris": true}, paused); diff != "" {
		t.Errorf("paused (-want +got):\n%s", diff)
	}
}
