package provision

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/resources/provision/contract"
)

// Check decides by creates and guards. Only with ask.Probe it starts the helper and
// compares the reply with the machine.
func (s *server) Check(ctx context.Context, ask model.Ask) (model.Decision, error) {
	d, err := s.decide(ctx, ask)
	if err != nil || !d.Act {
		return d, err
	}
	if ask.Refresh != model.Yes && len(d.Guards) == 0 && !d.Missing {
		d.Reason = "would ask the helper"
	}
	if ask.Probe && !ask.SkipGuards {
		return s.foresee(ctx, d)
	}
	if err := s.paused(); err != nil {
		d.Obstacles = append(d.Obstacles, err.Error())
	}
	if _, err := s.w.LookPath(s.helper[0], s.base.Dir, s.w.SearchPath(s.base)); err != nil {
		d.Obstacles = append(d.Obstacles, err.Error())
	}
	return d, nil
}

// foresee asks the helper and describes the changes of its answer. It writes no file.
func (s *server) foresee(ctx context.Context, d model.Decision) (model.Decision, error) {
	d.Read = append(d.Read, "the helper's answer")
	a, err := s.ask(ctx, model.Stage{}, false)
	d.Warnings = append(d.Warnings, s.warnings(a)...)
	if err != nil {
		return d, err
	}
	reason := a.mask.Redact(a.verdict.Reason)
	switch a.verdict.Action {
	case contract.Defer:
		d.Reason = "would be deferred: " + reason
		return d, nil
	case contract.Shutdown:
		d.Reason = "would be shut down: " + reason
		return d, nil
	case contract.Upgrade:
		d.Reason = "would be upgraded to " + a.reply.Upgrade
		return d, nil
	}
	changes, err := s.changes(a)
	if err != nil {
		return d, err
	}
	var said []string
	for i := range changes {
		said = append(said, s.describeChange(&changes[i])...)
	}
	if d.Act = len(changes) > 0; !d.Act {
		d.Reason = "as the helper says"
		return d, nil
	}
	d.Action = model.ActionChange
	d.Reason, d.Diff = "would be changed: "+strings.Join(said, ", "), a.mask.Redact(s.renderDiff(changes))
	return d, nil
}

// changes compares the files of the reply with this machine.
func (s *server) changes(a *answer) ([]change, error) {
	targets, err := s.targets(a.reply, a.material)
	if err != nil {
		return nil, err
	}
	return s.compare(targets)
}

// Run asks the helper and carries out its answer.
func (s *server) Run(ctx context.Context, stage model.Stage) (model.Effect, error) {
	a, err := s.ask(ctx, stage, true)
	effect := model.Effect{Warnings: s.warnings(a), Again: a.took > 0, Measures: measure(a, err)}
	if err == nil {
		err = s.follow(ctx, stage, a, &effect)
	}
	if err != nil {
		effect.Output = a.mask.Redact(a.exit.Output) + effect.Output
		effect.Truncated = effect.Truncated || a.exit.Truncated
	}
	return effect, err
}

// measure returns the measures of one exchange with the helper.
func measure(a *answer, err error) model.Measures {
	m := model.Measures{}
	if a.took > 0 {
		m[measureRuns], m[measureSeconds] = 1, a.took.Seconds()
	}
	if err != nil && a.reply == nil && a.tried {
		m[measureErrors] = 1
	}
	if errors.Is(err, errPaused) {
		m[measurePaused] = 1
	}
	return m
}

// follow carries out a verdict.
func (s *server) follow(ctx context.Context, stage model.Stage, a *answer, effect *model.Effect) error {
	switch a.verdict.Action {
	case contract.Defer:
		effect.Ended, effect.Reason = model.Deferred, a.mask.Redact(a.verdict.Reason)
		return nil
	case contract.Shutdown:
		return s.shutdown(ctx, stage, a, effect)
	case contract.Upgrade:
		done, err := s.upgrade(ctx, stage, a, effect)
		if done || err != nil {
			return err
		}
	}
	changes, err := s.changes(a)
	if err != nil {
		return err
	}
	if len(changes) == 0 {
		effect.Unchanged, effect.Reason = true, "as the helper says"
		s.confirm()
		return nil
	}
	effect.Diff = a.mask.Redact(s.renderDiff(changes))
	var written []string
	for i := range changes {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		done, lost, err := s.write(&changes[i])
		effect.Began = effect.Began || done
		for _, attribute := range lost {
			effect.Warnings = append(effect.Warnings, fmt.Sprintf("%s lost an attribute: %s", changes[i].path, attribute))
		}
		if err != nil {
			return err
		}
		if done {
			effect.Measures[measureWrites] = 1
		}
		written = append(written, s.describeChange(&changes[i])...)
	}
	effect.Reason = strings.Join(written, ", ")
	s.confirm()
	return nil
}

// describeChange returns the words for one change. Directories are not mentioned.
func (s *server) describeChange(c *change) []string {
	switch {
	case c.dir:
		return nil
	case c.gone:
		return []string{s.name(c.path) + " removed"}
	case !c.replace:
		return []string{s.name(c.path) + " owner or mode set"}
	}
	return []string{s.name(c.path) + " written"}
}

// confirm removes the pending keys after they were written to their own files.
func (s *server) confirm() {
	if !s.features.PKI && !s.features.Ed25519 {
		return
	}
	for _, path := range []string{s.seedFile(), s.inSSL(keyFile)} {
		if waits := s.pendingPath(path); waits != "" {
			_, _ = s.w.Disk.Remove(waits, false) // one that stays equals the key in place
		}
	}
}
