package engine

import (
	"context"
	"fmt"

	"github.com/settle-cm/settle/model"
)

// ErrDiffers is why a walk that was held to a saved plan was stopped.
type ErrDiffers struct {
	ID   string
	Said model.Status // by the plan
	Now  string       // what is true now
}

// Error says which resource differs, what the plan said and what is true now.
func (e *ErrDiffers) Error() string {
	return fmt.Sprintf("%s: the plan said %s, now it %s", e.ID, words[e.Said], e.Now)
}

var words = map[model.Status]string{
	model.Stable: "it is stable", model.WouldRun: "it would run", model.WouldRefresh: "it would be refreshed",
	model.MayRun: "it may run", model.Failed: "it cannot be decided", model.Skipped: "it is skipped",
	model.NotReached: "nothing of it",
}

// Hold returns an Act that is Apply as long as each resource is decided as a
// saved plan said. What may run may also not; everything else must be so. Only
// what a plan is never about, a failure in this run, may come between: as one
// skips what depends on it, one that is ignored spares what it would have
// refreshed.
func Hold(said map[string]model.SavedDecision, sum model.KeyedSum) Act {
	return func(ctx context.Context, t Task) (model.Result, Rest) {
		o, rest := Apply(ctx, t)
		was := said[o.ID].Status
		spared := was == model.WouldRefresh && t.Ask.Refresh == model.No && t.Ignored != ""
		var same bool
		var now string
		switch {
		case o.Status == model.Interrupted:
			return o, nil
		case o.Status == model.Failed:
			same, now = was == model.Failed || spared, "cannot be decided: "+o.Reason
		case rest == nil:
			same, now = was == model.Stable || spared, "is stable: "+o.Reason
		case was != model.MayRun && !said[o.ID].ShowedDiff(o.DiffSum, sum):
			now = "would change something else: " + o.Reason
		default:
			same, now = was == model.WouldRun || was == model.WouldRefresh, "would run: "+o.Reason
		}
		if same || was == model.MayRun {
			return o, rest
		}
		o.Status, o.Settles = model.NotReached, false
		o.Stop = &ErrDiffers{o.ID, was, now}
		return o, nil
	}
}
