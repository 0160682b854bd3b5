package engine

import "github.com/settle-cm/settle/model"

// facts returns what the journal has to know of a result.
func facts(run string, r *model.Resource, o *model.Result) []model.Record {
	fact := model.Record{Kind: model.RecordEnded, Run: run, ID: r.ID(), Alias: r.AliasID()}
	switch {
	case o.Settles:
		fact.Kind = model.RecordSettled
		return []model.Record{fact}
	case !o.Acted:
		return nil
	case o.Status == model.Changed:
		fact.End = model.EndChanged
	case o.Status == model.Stable:
		fact.End = model.EndStable
	case o.Status == model.Deferred:
		fact.End = model.EndDeferred
	case o.Status == model.Shutdown:
		fact.End = model.EndShutdown
	case !o.Began:
		fact.End = model.EndNothing
	case o.Status == model.Interrupted:
		fact.End = model.EndInterrupted
	case o.Ignored:
		fact.End = model.EndIgnored
	case o.Status == model.Failed:
		fact.End = model.EndFailed
	}
	return []model.Record{fact}
}

// last is the fact of how a resource left things.
func last(r *model.Resource, last string) model.Record {
	return model.Record{Kind: model.RecordLastState, ID: r.ID(), Alias: r.AliasID(), LastState: last}
}
