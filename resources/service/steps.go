package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
)

// run is one attempt to bring a unit into its declared state.
type run struct {
	service  *service
	m        Manager
	offline  bool
	deadline time.Time // zero: no limit
	output   func(line []byte)
	said     []string // output of the manager's programs
	linked   bool     // an enable or disable changed a link
}

// do runs one verb within the time that is left.
func (r *run) do(ctx context.Context, verb, unit string) (string, error) {
	timeout, err := r.remaining()
	if err != nil {
		return "", err
	}
	text, err := r.m.Do(ctx, timeout, r.offline, verb, unit)
	if text = strings.TrimSpace(text); text != "" {
		r.said = append(r.said, text)
		if r.output != nil {
			for line := range strings.Lines(text) {
				r.output([]byte(strings.TrimSuffix(line, "\n")))
			}
		}
	}
	if err != nil {
		return text, fmt.Errorf("%s: %w", verb, err)
	}
	return text, nil
}

func (r *run) remaining() (time.Duration, error) {
	if r.deadline.IsZero() {
		return 0, nil
	}
	left := time.Until(r.deadline)
	if left <= 0 {
		return 0, errors.New("took longer than " + r.service.timeout.String())
	}
	return left, nil
}

func (r *run) text() string { return strings.Join(r.said, "\n") }

// perform does the work in its fixed order, and stops at the first failure.
func (r *run) perform(ctx context.Context, w *work, before Unit) error {
	type step struct {
		due  bool
		verb string
		unit string
	}
	unit := r.service.unit
	for _, s := range []step{
		{w.unmask, "unmask", unit},
		{w.disable, "disable", unit},
		{w.enable, "enable", unit},
		{w.reenable, "reenable", unit},
		{w.reset, "reset-failed", unit},
	} {
		if !s.due {
			continue
		}
		text, err := r.do(ctx, s.verb, s.unit)
		if err != nil {
			return err
		}
		r.linked = r.linked || strings.Contains(text, "Created symlink") || strings.Contains(text, "Removed ")
	}
	if err := r.change(ctx, w.verb, before); err != nil {
		return err
	}
	if w.mask {
		_, err := r.do(ctx, "mask", unit)
		return err
	}
	return nil
}

// change starts, stops, restarts or reloads the unit, and watches a started one.
func (r *run) change(ctx context.Context, verb string, before Unit) error {
	if verb == "" {
		return nil
	}
	if _, err := r.do(ctx, verb, r.service.unit); err != nil {
		return err
	}
	if verb == "stop" || r.service.steady == 0 {
		return nil
	}
	return r.watch(ctx, verb)
}

// watch looks at a unit until its steady time is over, and returns an error when
// the unit has stopped or the manager restarted it.
func (r *run) watch(ctx context.Context, verb string) error {
	first, err := r.service.lookNow(ctx, r.m)
	if err != nil {
		return err
	}
	end := time.Now().Add(r.service.steady)
	for u := first; ; {
		switch {
		case !isRunning(u):
			return fmt.Errorf("%s: %s", verb, describeFailure(u))
		case u.Invocation != first.Invocation || u.Restarts > first.Restarts:
			return fmt.Errorf("%s: it stopped within %s and was restarted (NRestarts %d)", verb, r.service.steady, u.Restarts)
		}
		left := time.Until(end)
		if left <= 0 {
			return nil
		}
		if err := pause(ctx, min(left, max(steadyPace, r.service.steady/4))); err != nil {
			return err
		}
		if u, err = r.service.lookNow(ctx, r.m); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// describeFailure says how a unit came to its end.
func describeFailure(u Unit) string {
	switch {
	case u.Active == "failed" && u.ExitStatus != 0:
		return fmt.Sprintf("failed (%s, status %d)", u.Result, u.ExitStatus)
	case u.Active == "failed":
		return "failed (" + u.Result + ")"
	}
	return notRunning(u)
}

// failed completes the effect of an attempt that did not reach the declared
// state: its output is the unit's own last lines.
func (r *run) failed(ctx context.Context, effect model.Effect, after Unit, verb string, failure error) (model.Effect, error) {
	if verb == "" || verb == "stop" || r.offline {
		return effect, failure
	}
	if log := strings.TrimSpace(r.m.Log(ctx, showTimeout, after)); log != "" {
		effect.Output = log
	}
	if after.Active == "failed" && !strings.Contains(failure.Error(), "failed (") {
		failure = fmt.Errorf("%s: %s", verb, describeFailure(after))
	}
	return effect, failure
}
