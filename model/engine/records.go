package engine

import "github.com/settle-cm/settle/model"

// endRecords returns the records of how a resource ended.
func endRecords(run string, r *model.Resource, o *model.Result) []model.Record {
	record := model.Record{Kind: model.RecordEnded, Run: run, ID: r.ID(), Alias: r.AliasID()}
	switch {
	case o.Settles:
		record.Kind = model.RecordSettled
		return []model.Record{record}
	case !o.Acted:
		return nil
	case o.Status == model.Changed:
		record.End = model.EndChanged
	case o.Status == model.Stable:
		record.End = model.EndStable
	case o.Status == model.Deferred:
		record.End = model.EndDeferred
	case o.Status == model.Shutdown:
		record.End = model.EndShutdown
	case !o.Began:
		record.End = model.EndNothing
	case o.Status == model.Interrupted:
		record.End = model.EndInterrupted
	case o.Ignored:
		record.End = model.EndIgnored
	case o.Status == model.Failed:
		record.End = model.EndFailed
	}
	records := []model.Record{record}
	if o.Owes {
		for _, subscriber := range r.Subscribers {
			records = append(records, model.Record{Kind: model.RecordOwed, Run: run, ID: subscriber, By: r.ID()})
		}
	}
	return records
}

// lastStateRecord returns the record of a last state; "" drops it.
func lastStateRecord(r *model.Resource, state string) model.Record {
	return model.Record{Kind: model.RecordLastState, ID: r.ID(), Alias: r.AliasID(), LastState: state}
}
