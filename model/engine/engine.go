// Package engine walks a plan: one deciding goroutine, a bounded number of
// workers. It is the only concurrency in the program above the processes
// themselves. It does no IO of its own: a Spec reads and changes the machine, a
// Journal keeps records, and a Watch receives progress.
package engine

import (
	"cmp"
	"container/heap"
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/graph"
)

// Journal keeps records. When durable is set they, and all before them, must
// survive a power loss once Append returns.
type Journal interface {
	Append(records []model.Record, durable bool) error
}

// NoJournal keeps nothing: for a preview, and for a run without state.
type NoJournal struct{}

// Append does nothing.
func (NoJournal) Append([]model.Record, bool) error { return nil }

// Watch is told of the progress of a walk, in the order of the events;
// n is the index of the resource in the manifest. Started and Finished are called
// from one goroutine; Output from any.
type Watch struct {
	Started  func(n int)
	Output   func(n int, line []byte)
	Finished func(n int, o *model.Result)
}

// Options are everything a walk needs beside the plan.
type Options struct {
	Act            Act  // Apply or Preview
	Jobs           int  // how many resources at once; below 1 is 1
	FailFast       bool // start nothing more after the first failure that is not ignored
	SkipGuards     bool // start no process for a guard
	Probe          bool // let checks start programs that can tell what acting would change
	Journal        Journal
	RemembersState bool // later runs read the journal
	Watch          Watch
	FindStray      func(model.StrayProcess) (model.Process, bool) // the process of an earlier run, if it still runs
	Now            func() time.Time                               // for durations only
}

// Run walks the plan and returns one result for each resource, in the order of
// the manifest. Results do not depend on Jobs or on timing, except for what had
// started before the walk was stopped by FailFast or by ctx.
//
// When ctx ends, nothing more starts and Run waits for what runs: a Spec's Run
// has to end on ctx. The error is the journal's: the walk was stopped because
// nothing can be remembered any more; or an *ErrDiffers, when the walk had to keep to a
// saved plan.
func Run(ctx context.Context, plan *model.Plan, opts Options) ([]model.Result, error) {
	w := newWalk(plan, opts)
	for {
		w.start(ctx)
		if w.running == 0 {
			break
		}
		w.receive(ctx)
	}
	w.append(w.unsynced)
	w.explainNotReached(ctx)
	return w.results, cmp.Or(w.err, w.stop)
}

// walk is the state of one Run. Only the deciding goroutine changes it, except for
// touched, which workers set.
type walk struct {
	plan     *model.Plan
	m        *model.Manifest
	opts     Options
	nodes    []node
	results  []model.Result
	ready    graph.MinHeap // the resources that could start now, first in the manifest on top
	running  int
	stopped  atomic.Bool // nothing more starts
	touched  atomic.Bool // a resource has acted, or is about to
	unsynced bool        // something was journaled since the last sync
	records  []model.Record
	inbox    chan message
	err      error // of the journal: it takes nothing more
	stop     error // Result.Stop of the first resource that has one
}

// node is the state of one resource in a walk. Indexes of resources are -1 for no
// resource.
type node struct {
	waits       int   // how many upstream resources have not ended
	downstream  []int // neighbours, once each
	root        int   // of a skipped resource: the failure that the skip goes back to
	pending     int   // first resource upstream that a preview expects to run before
	pendingAny  int   // the same, without the independent resources
	ignored     int   // first resource upstream whose failure was ignored
	independent bool  // as in model.About
	journaled   bool  // the journal records it: also when only earlier runs owe it something
	hasState    bool  // the journal has a last state to drop before it acts
}

// message is sent by a worker: a result, a process that started, or a panic.
type message struct {
	n       int
	result  model.Result
	rest    Rest           // the work that is left; nil when the result is final
	process *model.Process // a process of the resource that has started
	reply   chan<- error
	bug     any // a worker's panic
}

func newWalk(plan *model.Plan, opts Options) *walk {
	m := plan.Manifest
	n := len(m.Resources)
	w := &walk{plan: plan, m: m, opts: opts, nodes: make([]node, n), results: make([]model.Result, n), inbox: make(chan message, 1)}
	w.opts.Jobs = max(1, w.opts.Jobs)
	for i := range m.Resources {
		r, about := &m.Resources[i], m.Resources[i].Spec.About()
		w.results[i].ID = r.ID()
		w.nodes[i] = node{
			downstream: w.nodes[i].downstream, root: -1, pending: -1, pendingAny: -1, ignored: -1, independent: about.Independent,
			journaled: r.Journaled() || len(plan.Memory.OwedTo(r)) > 0 || plan.Memory.UnfinishedIn(r) != "",
			hasState:  !about.KeepsState && plan.Memory.LastStateOf(r) != "",
		}
		for _, e := range r.Upstream {
			on := &w.nodes[e.On]
			if n := len(on.downstream); n == 0 || on.downstream[n-1] != i { // two edges to one publisher are one wait
				w.nodes[i].waits++
				on.downstream = append(on.downstream, i)
			}
		}
		if w.nodes[i].waits == 0 {
			w.ready = append(w.ready, i)
		}
	}
	heap.Init(&w.ready)
	return w
}

// start starts ready resources while fewer than Jobs run. It ends the skipped ones
// and those that are off at once.
func (w *walk) start(ctx context.Context) {
	for len(w.ready) > 0 && w.running < w.opts.Jobs && !w.stopped.Load() {
		if ctx.Err() != nil {
			w.stopped.Store(true)
			return
		}
		n := heap.Pop(&w.ready).(int)
		if culprit, ok := w.blocked(n); ok {
			w.skip(n, culprit)
			continue
		}
		if w.m.Resources[n].Off != "" {
			w.endOff(n)
			continue
		}
		task := w.task(n)
		w.running++
		if w.opts.Watch.Started != nil {
			w.opts.Watch.Started(n)
		}
		w.work(func() message {
			result, rest := w.opts.Act(ctx, task)
			msg := message{n: n, result: result, rest: rest}
			if rest == nil || w.nodes[n].journaled || w.nodes[n].hasState || w.stopped.Load() || ctx.Err() != nil {
				return msg
			}
			return w.finish(ctx, msg) // no record has to come first, and a second message would cost as much as this one
		})
	}
}

// work has a worker do a piece of work. With one job there is nothing to do
// meanwhile, so this goroutine does it itself, and leaves the message in the
// inbox: to hand over costs more than to look at most resources does.
func (w *walk) work(piece func() message) {
	if w.opts.Jobs == 1 {
		w.inbox <- piece() // which has room for it
		return
	}
	go func() {
		defer func() {
			if bug := recover(); bug != nil { // the deciding goroutine panics with it, so that the caller of Run gets it
				w.inbox <- message{bug: bug}
			}
		}()
		w.inbox <- piece()
	}()
}

// receive handles one message and all that wait behind it, so that one sync of
// the journal covers them. Then it starts the resources whose begin is recorded.
func (w *walk) receive(ctx context.Context) {
	due := w.handle(ctx, <-w.inbox, nil)
	for more := true; more; {
		select {
		case msg := <-w.inbox:
			due = w.handle(ctx, msg, due)
		default:
			more = false
		}
	}
	durable := false
	for _, msg := range due {
		durable = durable || w.needsSync(msg)
	}
	w.append(durable)
	for _, msg := range due {
		if w.err != nil { // its begin is not safe: it must not start
			w.running--
			w.end(msg.n, msg.result)
			continue
		}
		w.work(func() message { return w.finish(ctx, msg) })
	}
}

// needsSync reports whether a power loss could lose something if the begin of the
// resource were not on the disk before it acts: the refreshes that its subscribers
// would be owed, that its creates is unfinished, or that its last state is no
// longer known. A refresh that is owed to the resource itself is on the disk
// already, and stays owed until its success is there too.
func (w *walk) needsSync(msg message) bool {
	return w.nodes[msg.n].journaled && (w.m.Resources[msg.n].Publishes() || msg.result.Missing) || w.nodes[msg.n].hasState
}

// handle handles one message. It adds the message to due when its resource has to
// act once its begin is in the journal.
func (w *walk) handle(ctx context.Context, msg message, due []message) []message {
	switch {
	case msg.bug != nil:
		panic(msg.bug)
	case msg.process != nil:
		msg.reply <- w.recordProcess(msg.n, msg.process)
		return due
	case msg.rest == nil, w.stopped.Load(), ctx.Err() != nil: // ended, or came too late to start
		w.running--
		w.end(msg.n, msg.result)
		return due
	}
	r := &w.m.Resources[msg.n]
	if w.nodes[msg.n].hasState { // its last state is unknown until it has ended
		w.records = append(w.records, lastStateRecord(r, ""))
	}
	if w.nodes[msg.n].journaled {
		w.records = append(w.records, model.Record{
			Kind: model.RecordBegan, Run: w.plan.Run, ID: r.ID(), Alias: r.AliasID(),
			Subscribers: r.Subscribers, Missing: msg.result.Missing, Tag: w.tag(msg.n),
		})
	}
	return append(due, msg)
}

// tag returns the ProcessTag of a resource's first attempt. The journal has it
// before the process starts, so the next run finds the process even when this
// one is killed before it can record the pid. "" without a journal.
func (w *walk) tag(n int) string {
	if !w.opts.RemembersState || !w.nodes[n].journaled {
		return ""
	}
	return w.plan.Run + "/" + strconv.Itoa(n+1)
}

// recordProcess records the process of a resource.
func (w *walk) recordProcess(n int, p *model.Process) error {
	w.records = append(w.records, model.Record{Kind: model.RecordProcess, Run: w.plan.Run, ID: w.m.Resources[n].ID(), Process: p})
	w.append(false)
	return w.err
}

// finish runs the rest of the work on a resource.
func (w *walk) finish(ctx context.Context, msg message) message {
	n, r := msg.n, &w.m.Resources[msg.n]
	w.touched.Store(true)
	stage := model.Stage{LastState: w.plan.Memory.LastStateOf(r), RemembersState: w.opts.RemembersState, ProcessTag: w.tag(n)}
	if w.opts.Watch.Output != nil && !r.Sensitive {
		stage.Output = func(line []byte) { w.opts.Watch.Output(n, line) }
	}
	if w.opts.RemembersState && w.nodes[n].journaled {
		stage.Started = func(p model.Process) error {
			if w.opts.Jobs == 1 {
				return w.recordProcess(n, &p)
			}
			reply := make(chan error, 1)
			w.inbox <- message{n: n, process: &p, reply: reply}
			return <-reply
		}
	}
	return message{n: n, result: msg.rest(ctx, stage)}
}

// end stores the result of a resource and makes those ready that waited for it alone.
func (w *walk) end(n int, o model.Result) {
	r := &w.m.Resources[n]
	w.results[n] = o
	if w.nodes[n].journaled {
		w.records = append(w.records, endRecords(w.plan.Run, r, &o)...)
	}
	if o.LastState != "" || o.Acted && w.stillRemembers(n) {
		w.records = append(w.records, lastStateRecord(r, o.LastState))
	}
	if o.Stop != nil && w.stop == nil {
		w.stop = o.Stop
		w.stopped.Store(true)
	}
	if w.opts.FailFast && o.Status == model.Failed && !o.Ignored {
		w.stopped.Store(true)
	}
	if w.opts.Watch.Finished != nil {
		w.opts.Watch.Finished(n, &w.results[n])
	}
	for _, d := range w.nodes[n].downstream {
		if w.nodes[d].waits--; w.nodes[d].waits == 0 {
			heap.Push(&w.ready, d)
		}
	}
}

// stillRemembers reports whether the journal still has a last state of the
// resource, which was not dropped before it acted.
func (w *walk) stillRemembers(n int) bool {
	return !w.nodes[n].hasState && w.plan.Memory.LastStateOf(&w.m.Resources[n]) != ""
}

// append hands the collected records to the journal. After an error nothing more
// starts.
func (w *walk) append(durable bool) {
	if len(w.records) == 0 && !durable || w.err != nil {
		return
	}
	if err := w.opts.Journal.Append(w.records, durable); err != nil {
		w.err = err
		w.stopped.Store(true)
	}
	w.unsynced = !durable
	w.records = w.records[:0]
}

// blocked returns the first upstream resource, in the order of the edges, whose end
// makes this one be skipped.
func (w *walk) blocked(n int) (culprit int, ok bool) {
	for _, e := range w.m.Resources[n].Upstream {
		if w.results[e.On].Blocks() {
			return e.On, true
		}
	}
	return 0, false
}

func (w *walk) skip(n, culprit int) {
	root := culprit
	if w.nodes[culprit].root >= 0 {
		root = w.nodes[culprit].root
	}
	w.nodes[n].root = root
	o := w.results[n]
	o.Status = model.Skipped
	o.RootCause = w.results[root].ID
	o.Reason = o.RootCause + " " + describeEnd(w.results[root].Status)
	w.end(n, o)
}

// endOff ends a resource that is off: it is not checked and refreshes no
// subscriber. Its owed refreshes stay owed, because no record settles them.
func (w *walk) endOff(n int) {
	w.inherit(n)
	o := w.results[n]
	o.Status, o.Reason = model.Stable, w.m.Resources[n].Off
	w.end(n, o)
}

// describeEnd says how the cause of a skip ended.
func describeEnd(s model.Status) string {
	switch s {
	case model.Deferred:
		return "was deferred"
	case model.Shutdown:
		return "was shut down"
	case model.Interrupted:
		return "was interrupted"
	}
	return "failed"
}

// explainNotReached gives every resource that was not reached its reason.
func (w *walk) explainNotReached(ctx context.Context) {
	reason := "the run stopped after a failure (fail_fast)"
	switch {
	case w.err != nil:
		reason = "the run stopped: its state cannot be saved"
	case w.stop != nil:
		reason = "the run stopped: the saved plan no longer holds"
	case ctx.Err() != nil:
		reason = context.Cause(ctx).Error()
	}
	for n := range w.results {
		if w.results[n].Status == model.NotReached {
			w.results[n].Reason = reason
		}
	}
}
