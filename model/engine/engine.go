// Package engine walks a plan: one deciding goroutine, a bounded number of
// workers. It is the only concurrency in the program above the processes
// themselves. It does no IO of its own: what looks at or changes the machine is
// a Spec's, what is remembered goes to a Journal, what is told goes to a Watch.
package engine

import (
	"cmp"
	"container/heap"
	"context"
	"sync/atomic"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/graph"
)

// Journal keeps facts. When durable is set they, and all before them, must
// survive a power loss once Append returns.
type Journal interface {
	Append(facts []model.Record, durable bool) error
}

// NoJournal forgets everything: for a preview, and for a run without state.
type NoJournal struct{}

// Append does nothing.
func (NoJournal) Append([]model.Record, bool) error { return nil }

// Watch hears of a walk while it goes on, in the order in which things happen;
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
	RemembersState bool // a later run will know what the journal is told
	Watch          Watch
	Alive          func(model.Process) bool // whether a process of an earlier run still runs
	Now            func() time.Time         // for durations only
}

// Run walks the plan and returns one result for each resource, in the order of
// the manifest. Results do not depend on Jobs or on timing, except for what had
// started before the walk was stopped by FailFast or by ctx.
//
// When ctx ends, nothing more starts and Run waits for what runs: a Spec's Run
// has to end on ctx. The error is the journal's: the walk was stopped because
// nothing can be remembered any more; or an *ErrDiffers, when it was held to a
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
	w.explain(ctx)
	return w.results, cmp.Or(w.err, w.differs)
}

type walk struct {
	plan      *model.Plan
	m         *model.Manifest
	opts      Options
	results   []model.Result
	done      []bool
	waits     []int         // how many upstream resources have not ended
	below     [][]int       // downstream neighbours, once each
	root      []int         // for a skipped resource: whose fault it is
	journaled []bool        // the journal hears of it: also of one that has something to pay and no edge any more
	left      []bool        // it is known how it left things
	upstream  []int         // first resource upstream that a preview expects to run before; -1
	wide      []int         // the same, of those that may change more than one thing
	apart     []bool        // it reads and changes one thing only
	ignored   []int         // first resource upstream whose failure was ignored; -1
	ready     graph.MinHeap // what could start now, first in the manifest on top
	running   int
	stopped   atomic.Bool // nothing more starts; set by the deciding goroutine alone
	touched   atomic.Bool // a resource has acted, or is about to
	unsynced  bool        // something was journaled since the last sync
	facts     []model.Record
	inbox     chan message
	err       error // of the journal: it takes nothing more
	differs   error // from a saved plan
}

// message is what comes of a piece of work. Exactly one of looked, told and ended holds.
type message struct {
	n       int
	result  model.Result
	rest    Rest           // looked: what is left to do; nil when the result is final
	process *model.Process // told: a process leads
	reply   chan<- error
	bug     any // a worker's panic
}

func newWalk(plan *model.Plan, opts Options) *walk {
	m := plan.Manifest
	n := len(m.Resources)
	w := &walk{
		plan: plan, m: m, opts: opts,
		results: make([]model.Result, n), done: make([]bool, n), waits: make([]int, n),
		below: make([][]int, n), root: make([]int, n), upstream: make([]int, n), wide: make([]int, n), ignored: make([]int, n), apart: make([]bool, n), journaled: make([]bool, n), left: make([]bool, n),
	}
	w.opts.Jobs = max(1, w.opts.Jobs)
	w.inbox = make(chan message, 1)
	for i := range m.Resources {
		r := &m.Resources[i]
		about := r.Spec.About()
		w.results[i].ID = r.ID()
		w.apart[i] = about.Apart
		w.root[i], w.upstream[i], w.wide[i], w.ignored[i] = -1, -1, -1, -1
		w.journaled[i] = r.Journaled() || len(plan.Memory.OwedTo(r)) > 0 || plan.Memory.UnfinishedIn(r) != ""
		w.left[i] = !about.KeepsState && plan.Memory.LastStateOf(r) != ""
		for _, e := range r.Upstream {
			if below := w.below[e.On]; len(below) == 0 || below[len(below)-1] != i { // two edges to one publisher are one wait
				w.waits[i]++
				w.below[e.On] = append(below, i)
			}
		}
		if w.waits[i] == 0 {
			w.ready = append(w.ready, i)
		}
	}
	heap.Init(&w.ready)
	return w
}

// start hands out what is ready while there is room, and settles at once what
// is skipped or off.
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
			w.pass(n)
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
			if rest == nil || w.journaled[n] || w.left[n] || w.stopped.Load() || ctx.Err() != nil {
				return msg
			}
			return w.finish(ctx, msg) // nobody has to know before: a second handing over would cost as much as the first
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
			if bug := recover(); bug != nil { // the caller of Run has to hear of it, and no one else can
				w.inbox <- message{bug: bug}
			}
		}()
		w.inbox <- piece()
	}()
}

// receive takes one message and all that wait behind it, so that one sync of
// the journal covers them, and lets go what may go on.
func (w *walk) receive(ctx context.Context) {
	due := w.take(ctx, <-w.inbox, nil)
	for more := true; more; {
		select {
		case msg := <-w.inbox:
			due = w.take(ctx, msg, due)
		default:
			more = false
		}
	}
	durable := false
	for _, msg := range due {
		durable = durable || w.stakes(msg)
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

// stakes says whether a power loss after the resource has begun would lose
// anything if its begin were not on the disk by then: what its subscribers would
// be owed, the mark on a creates that it left half made, or that it is not known
// any more how it left things. What is owed to the resource itself is on the
// disk, and stays owed until its success is.
func (w *walk) stakes(msg message) bool {
	return w.journaled[msg.n] && (w.m.Resources[msg.n].Publishes() || msg.result.Missing) || w.left[msg.n]
}

// take notes one message, and adds it to due when its resource has to act as
// soon as the journal knows.
func (w *walk) take(ctx context.Context, msg message, due []message) []message {
	switch {
	case msg.bug != nil:
		panic(msg.bug)
	case msg.process != nil:
		msg.reply <- w.led(msg.n, msg.process)
		return due
	case msg.rest == nil, w.stopped.Load(), ctx.Err() != nil: // ended, or came too late to start
		w.running--
		w.end(msg.n, msg.result)
		return due
	}
	r := &w.m.Resources[msg.n]
	if w.left[msg.n] { // until it has ended, no one knows
		w.facts = append(w.facts, last(r, ""))
	}
	if w.journaled[msg.n] {
		w.facts = append(w.facts, model.Record{
			Kind: model.RecordBegan, Run: w.plan.Run, ID: r.ID(), Alias: r.AliasID(),
			Subscribers: r.Subscribers, Missing: msg.result.Missing,
		})
	}
	return append(due, msg)
}

// led notes which process leads a resource.
func (w *walk) led(n int, p *model.Process) error {
	w.facts = append(w.facts, model.Record{Kind: model.RecordProcess, Run: w.plan.Run, ID: w.m.Resources[n].ID(), Process: p})
	w.append(false)
	return w.err
}

// finish runs what is left of a resource.
func (w *walk) finish(ctx context.Context, msg message) message {
	n, r := msg.n, &w.m.Resources[msg.n]
	w.touched.Store(true)
	stage := model.Stage{LastState: w.plan.Memory.LastStateOf(r), RemembersState: w.opts.RemembersState}
	if w.opts.Watch.Output != nil && !r.Sensitive {
		stage.Output = func(line []byte) { w.opts.Watch.Output(n, line) }
	}
	if w.opts.RemembersState && w.journaled[n] {
		stage.Started = func(p model.Process) error {
			if w.opts.Jobs == 1 {
				return w.led(n, &p)
			}
			reply := make(chan error, 1)
			w.inbox <- message{n: n, process: &p, reply: reply}
			return <-reply
		}
	}
	return message{n: n, result: msg.rest(ctx, stage)}
}

// end settles a resource and lets go what waited for nothing else.
func (w *walk) end(n int, o model.Result) {
	r := &w.m.Resources[n]
	w.results[n], w.done[n] = o, true
	if w.journaled[n] {
		w.facts = append(w.facts, facts(w.plan.Run, r, &o)...)
	}
	if o.LastState != "" || o.Acted && w.keeps(n) {
		w.facts = append(w.facts, last(r, o.LastState))
	}
	if o.Stop != nil && w.differs == nil {
		w.differs = o.Stop
		w.stopped.Store(true)
	}
	if w.opts.FailFast && o.Status == model.Failed && !o.Ignored {
		w.stopped.Store(true)
	}
	if w.opts.Watch.Finished != nil {
		w.opts.Watch.Finished(n, &w.results[n])
	}
	for _, d := range w.below[n] {
		if w.waits[d]--; w.waits[d] == 0 {
			heap.Push(&w.ready, d)
		}
	}
}

// keeps reports whether the journal still has a last state of the resource: it
// was not dropped before the resource acted.
func (w *walk) keeps(n int) bool {
	return !w.left[n] && w.plan.Memory.LastStateOf(&w.m.Resources[n]) != ""
}

// append hands the collected facts to the journal. After an error nothing more
// starts.
func (w *walk) append(durable bool) {
	if len(w.facts) == 0 && !durable || w.err != nil {
		return
	}
	if err := w.opts.Journal.Append(w.facts, durable); err != nil {
		w.err = err
		w.stopped.Store(true)
	}
	w.unsynced = !durable
	w.facts = w.facts[:0]
}

// blocked says whether something upstream keeps a resource from being decided:
// the first culprit in the order of its edges.
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
	if w.root[culprit] >= 0 {
		root = w.root[culprit]
	}
	w.root[n] = root
	o := w.results[n]
	o.Status = model.Skipped
	o.RootCause = w.results[root].ID
	o.Reason = o.RootCause + " " + blame(w.results[root].Status)
	w.end(n, o)
}

// pass leaves a resource that is off as it is: nothing of it is looked at, and
// nobody is refreshed. What is owed to it stays owed, for no fact says otherwise.
func (w *walk) pass(n int) {
	w.inherit(n)
	o := w.results[n]
	o.Status, o.Reason = model.Stable, w.m.Resources[n].Off
	w.end(n, o)
}

func blame(s model.Status) string {
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

// explain says of what was not reached why not.
func (w *walk) explain(ctx context.Context) {
	reason := "the run stopped after a failure (fail_fast)"
	switch {
	case w.err != nil:
		reason = "the run stopped: its state cannot be saved"
	case w.differs != nil:
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
