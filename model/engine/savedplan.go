package engine

import (
	"context"
	"fmt"

	"github.com/settle-cm/settle/model"
)

// ErrDiffers is the error of a walk that was stopped because a resource no longer
// matches the saved plan.
type ErrDiffers struct {
	ID      string
	Planned model.Status
	Now     string // the decision of this run
}

// Error names the resource, the decision of the plan and that of this run.
func (e *ErrDiffers) Error() string {
	return fmt.Sprintf("%s: the plan said %s, now it %s", e.ID, words[e.Planned], e.Now)
}

var words = map[model.Status]string{
	model.Stable: "it is stable", model.WouldRun: "it would run", model.WouldRefresh: "it would be refreshed",
	model.MayRun: "it may run", model.Failed: "it cannot be decided", model.Skipped: "it is skipped",
	model.NotReached: "nothing of it",
}

// Hold returns an Act that applies each resource as long as its decision matches the
// saved plan. A resource that may run may also be stable. Failures of this run are
// the only accepted difference, because a plan cannot foresee them: a failure skips
// its dependents, and an ignored one does not refresh its subscribers.
func Hold(planned map[string]model.SavedDecision, sum model.KeyedSum) Act {
	return func(ctx context.Context, t Task) (model.Result, Rest) {
		o, rest := Apply(ctx, t)
		was := planned[o.ID].Status
		notRefreshed := was == model.WouldRefresh && t.Ask.Refresh == model.No && t.Ignored != ""
		var same bool
		var now string
		switch {
		case o.Status == model.Interrupted:
			return o, nil
		case o.Status == model.Failed:
			same, now = was == model.Failed || notRefreshed, "cannot be decided: "+o.Reason
		case rest == nil:
			same, now = was == model.Stable || notRefreshed, "is stable: "+o.Reason
		case was != model.MayRun && !planned[o.ID].ShowedDiff(o.DiffSum, sum):
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
