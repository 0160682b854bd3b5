package model

import "time"

// Helped is what one attempt of a resource had to do with its helper, for those
// who count.
type Helped struct {
	Site   string
	Took   time.Duration // how long the helper ran; 0: it was not started
	Failed bool          // no answer came that could be used
	Paused bool          // it was not asked: provisioning is paused
	Wrote  bool          // something of the server was written
}

// HelperCount is what helpers of one site came to, over all runs.
type HelperCount struct {
	Asked       int     `json:"asked"`
	Seconds     float64 `json:"seconds"`     // that they ran
	Errors      int     `json:"errors"`      // exchanges without a usable answer
	Shutdowns   int     `json:"shutdowns"`   // answers that asked for one
	Provisioned int     `json:"provisioned"` // servers that were written
	Failures    int     `json:"failures"`    // of resources, deferrals among them
}

// CountHelpers adds what became of resources with helpers to the counts of their
// sites, and returns the sites where provisioning is paused.
func CountHelpers(counts map[string]HelperCount, results []Result) (paused map[string]bool) {
	paused = map[string]bool{}
	for i := range results {
		o := &results[i]
		if len(o.Helped) == 0 {
			continue
		}
		site := o.Helped[0].Site
		c := counts[site]
		wrote := false
		for _, h := range o.Helped {
			if h.Took > 0 {
				c.Asked++
				c.Seconds += h.Took.Seconds()
			}
			if h.Failed {
				c.Errors++
			}
			paused[site] = paused[site] || h.Paused
			wrote = wrote || h.Wrote
		}
		switch o.Status {
		case Shutdown:
			c.Shutdowns++
		case Failed, Deferred:
			c.Failures++
		case Changed:
			if wrote {
				c.Provisioned++
			}
		}
		counts[site] = c
	}
	return paused
}
