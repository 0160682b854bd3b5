package provision

import "github.com/settle-cm/settle/model"

// The measures of one attempt.
const (
	measureRuns    = "helper_runs"    // 1 when a process of the helper was started
	measureSeconds = "helper_seconds" // how long it ran
	measureErrors  = "helper_errors"  // 1 when it gave no usable answer
	measurePaused  = "paused"         // 1 when it was not asked because provisioning is paused
	measureWrites  = "files_written"  // 1 when the attempt wrote a file of the server
)

// Counts sums up the provisions of one site over all runs.
type Counts struct {
	Asked       int     `json:"asked"`
	Seconds     float64 `json:"seconds"`     // that helpers ran
	Errors      int     `json:"errors"`      // exchanges without a usable answer
	Shutdowns   int     `json:"shutdowns"`   // answers that asked for one
	Provisioned int     `json:"provisioned"` // servers whose files were written
	Failures    int     `json:"failures"`    // of resources, deferrals among them
}

// Count adds the results of a run to the counts by site. paused tells for each site
// with a provision in the run whether provisioning is paused there.
func Count(counts map[string]Counts, m *model.Manifest, results []model.Result) (paused map[string]bool) {
	paused = map[string]bool{}
	for i := range results {
		result := &results[i]
		site, ok := Site(m.Resources[i].Spec)
		if !ok || !result.Acted {
			continue
		}
		c := counts[site]
		c.Asked += int(result.Measures[measureRuns])
		c.Seconds += result.Measures[measureSeconds]
		c.Errors += int(result.Measures[measureErrors])
		paused[site] = paused[site] || result.Measures[measurePaused] > 0
		switch result.Status {
		case model.Shutdown:
			c.Shutdowns++
		case model.Failed, model.Deferred:
			c.Failures++
		case model.Changed:
			if result.Measures[measureWrites] > 0 {
				c.Provisioned++
			}
		}
		counts[site] = c
	}
	return paused
}

// Site returns the site of a provision, for metrics; false for a resource of another type.
func Site(spec model.Spec) (site string, ok bool) {
	s, ok := spec.(*server)
	if !ok {
		return "", false
	}
	return s.site, true
}
