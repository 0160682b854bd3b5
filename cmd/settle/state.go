package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/user"
	"time"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/render"
	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/providers/journal"
	"github.com/settle-cm/settle/providers/proc"
)

// opened is a manifest with the place of its state, for a command that reads or
// changes the state.
type opened struct {
	*loaded
	store journal.Store
	end   exit.Ending
	json  bool // the result is wanted as a document
}

// open finds the state of a manifest. When it fails it has printed the reason, and
// end.refused is set.
func (a *app) open(l *loaded, format, dir string) *opened {
	o := &opened{loaded: l, json: format == "json"}
	if l.refused != nil {
		o.end = a.reportRefusal(l, format)
		return o
	}
	o.end.Report = &o.report
	if o.manifest.Identity == "" {
		a.refuseState(o, exit.Refuse(exit.Usage, "%s: a manifest from standard input needs a name to be remembered: begin it with name:", o.report.Manifest))
		return o
	}
	var err error
	if o.store, err = a.store(dir, o.manifest.Identity); err != nil {
		a.refuseState(o, refuseForState(err))
	}
	o.report.State.Dir = o.store.Dir
	return o
}

// refuseState ends a command with a refusal, in the format that was asked for.
func (a *app) refuseState(o *opened, r *exit.Refusal) []exit.Ending {
	o.refuse(r)
	o.end.Refused = r
	o.end.Finish()
	a.printProblems(o.loaded)
	if o.json {
		a.print(render.JSON([]model.Report{o.report}, render.Options{}))
	}
	return []exit.Ending{o.end}
}

// elsewhere warns of state of the same manifest that another user has.
func elsewhere(s journal.Store, l *loaded) []model.Problem {
	var warnings []model.Problem
	for _, message := range s.OtherUsers(os.Getenv, os.Geteuid()) {
		warnings = append(warnings, model.Problem{Pos: model.Pos{File: l.report.Manifest}, Message: message})
	}
	return warnings
}

// say prints one line of a result, unless --quiet is given.
func (a *app) say(line string) {
	if !a.Quiet {
		a.print([]byte(render.Escape(line) + "\n"))
	}
}

// change calls do with the locked state of a manifest.
func (a *app) change(o *opened, wait span, do func(*journal.Journal) error) []exit.Ending {
	ctx, stop := a.withSignals(context.Background(), 0)
	defer stop()
	j, err := o.store.Lock(ctx, time.Duration(wait), describeProcess("", o.report.Started))
	if err != nil {
		if ctx.Err() != nil {
			o.end.Cause = context.Cause(ctx)
		}
		if errors.As(err, new(*journal.Held)) {
			return a.refuseState(o, exit.Refuse(exit.Later, "%w%s", err, suggestLockTimeout(wait)))
		}
		return a.refuseState(o, refuseForState(err))
	}
	err = do(j)
	err = cmp.Or(err, j.Close())
	var refused *exit.Refusal
	switch {
	case errors.As(err, &refused):
		return a.refuseState(o, refused)
	case err != nil:
		return a.refuseState(o, refuseForState(err))
	}
	return []exit.Ending{o.end}
}

// suggestLockTimeout returns the suggestion to wait for a lock. It is empty when the
// user has waited already.
func suggestLockTimeout(timeout span) string {
	if timeout > 0 {
		return ""
	}
	return "; --lock-timeout TIME waits for it"
}

// store returns where the state of an identity is.
func (a *app) store(dir, identity string) (journal.Store, error) {
	dir, err := journal.Dir(dir, os.Getenv, os.Geteuid())
	return journal.Store{Dir: dir, Identity: identity, Alive: proc.Alive}, err
}

// describeProcess returns this process as the holder of the lock.
func describeProcess(run string, since time.Time) journal.Holder {
	h := journal.Holder{Process: proc.Identify(os.Getpid()), Run: run, Since: since}
	if me, err := user.Current(); err == nil {
		h.User = me.Username
	}
	return h
}

// refuseForState returns an error of the state as a refusal with its exit code.
func refuseForState(err error) *exit.Refusal {
	var held *journal.Held
	if errors.As(err, &held) {
		return &exit.Refusal{Code: exit.Later, Err: err}
	}
	return &exit.Refusal{Code: exit.Unwritten, Err: err}
}
