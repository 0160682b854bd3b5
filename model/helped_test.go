package model_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model"
)

func TestCountHelpers(t *testing.T) {
	const second = time.Second
	london := model.HelperCount{Asked: 10, Seconds: 5, Errors: 1, Shutdowns: 2, Provisioned: 3, Failures: 4}
	counts := map[string]model.HelperCount{"london": london}
	asked := func(site string, status model.Status, attempts ...model.Helped) model.Result {
		for i := range attempts {
			attempts[i].Site = site
		}
		return model.Result{Status: status, Helped: attempts}
	}
	paused := model.CountHelpers(counts, []model.Result{
		{Status: model.Failed}, // has no helper
		asked("london", model.Changed, model.Helped{Took: second, Wrote: true}),
		asked("london", model.Changed, model.Helped{Took: second}), // upgraded
		asked("london", model.Stable, model.Helped{Took: second}),
		asked("london", model.Failed, model.Helped{Took: 10 * second, Failed: true}), // timed out: counted
		asked("london", model.Failed, model.Helped{Failed: true}),                    // never started
		asked("london", model.Changed, model.Helped{Took: second, Failed: true}, model.Helped{Took: second, Wrote: true}),
		asked("london", model.Deferred, model.Helped{Took: second}),
		asked("london", model.Shutdown, model.Helped{Took: second}),
		asked("paris", model.Failed, model.Helped{Paused: true}),
	})
	want := map[string]model.HelperCount{
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
