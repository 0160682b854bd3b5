package provision

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/secret"
	"github.com/settle-cm/settle/resources/provision/contract"
)

const (
	helperTimeout  = 10 * time.Second // of the helper, when the resource has none
	commandTimeout = 5 * time.Minute  // of every other command
)

// Check decides by creates and guards; what the helper would say it finds out
// only when it is asked to.
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

// foresee asks the helper and says what its answer would change. It writes nothing.
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
		said = append(said, s.said(&changes[i])...)
	}
	if d.Act = len(changes) > 0; !d.Act {
		d.Reason = "as the helper says"
		return d, nil
	}
	d.Action = model.ActionChange
	d.Reason, d.Diff = "would be changed: "+strings.Join(said, ", "), a.mask.Redact(s.show(changes))
	return d, nil
}

// process is a command of the resource, ready to be run.
func (s *server) process(argv []string, timeout time.Duration) model.Command {
	if s.timeout != nil {
		timeout = *s.timeout
	}
	cmd := s.w.Command(s.base, argv)
	cmd.Timeout, cmd.Sensitive = timeout, s.sensitive
	return cmd
}

// shown is a command for people.
func (s *server) shown(argv []string) string {
	if s.sensitive {
		return hidden
	}
	return s.w.Join(argv)
}

// outputOf runs a command for what it prints on standard output.
func (s *server) outputOf(ctx context.Context, property string, argv []string) ([]byte, error) {
	exit, err := s.w.Ask(ctx, s.process(argv, commandTimeout))
	var brief interface{ Brief() string }
	if s.sensitive && errors.As(err, &brief) {
		err = errors.New(brief.Brief())
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", property, s.shown(argv), err)
	}
	return exit.Reply, nil
}

var errPaused = errors.New("provisioning is paused")

// paused is why the helper must not be asked now, nil when it may.
func (s *server) paused() error {
	if s.pauseFile == "" {
		return nil
	}
	if _, err := os.Lstat(s.pauseFile); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("%w, cannot run %s for %s: %s exists", errPaused, s.shown(s.helper), s.identity, s.pauseFile)
}

// answer is the outcome of one exchange with the helper.
type answer struct {
	*material
	reply   *contract.Reply
	verdict contract.Verdict
	exit    model.Exit
	tried   bool          // the helper was to be started
	took    time.Duration // zero: it was not
	mask    *secret.Redactor
}

// failure names helper and server in what went wrong between them, and hides
// what of the input may have come back in it. Of a sensitive resource it says no
// more than what settle itself has seen.
func (s *server) failure(a *answer, err error) error {
	if err == nil {
		return nil
	}
	helper, why := s.shown(s.helper), err.Error()
	var brief interface{ Brief() string }
	if s.sensitive {
		why = "its answer is refused; settle helper run says why"
		if errors.As(err, &brief) {
			why = brief.Brief()
		}
	}
	return &failed{a.mask.Redact(fmt.Sprintf("helper %s for %s: %s", helper, s.identity, why)), err}
}

type failed struct {
	text string
	err  error
}

func (f *failed) Error() string { return f.text }
func (f *failed) Unwrap() error { return f.err }

// ask carries the exchange to a verdict. With keep set, keys that were made for
// it are kept before the helper hears of them.
func (s *server) ask(ctx context.Context, stage model.Stage, keep bool) (*answer, error) {
	a := &answer{material: &material{}}
	if err := s.paused(); err != nil {
		return a, err
	}
	m, err := s.prepare(ctx)
	if err != nil {
		return a, err
	}
	a.material = m
	a.mask, _ = secret.New(m.secrets) // too short to be one: nothing to hide
	if keep {
		for i := range m.pending {
			if _, _, err := s.write(&change{target: target{path: filepath.Dir(m.pending[i].path), mode: 0o700, dir: true}}); err != nil {
				return a, err
			}
			if _, _, err := s.write(&change{target: m.pending[i], replace: true}); err != nil {
				return a, err
			}
		}
	}
	cmd := s.process(s.helper, helperTimeout)
	cmd.Stdin, cmd.Output, cmd.Started = m.input, stage.Output, stage.Started
	cmd.Redact = both(cmd.Redact, a.mask)
	start := s.w.Now()
	a.tried = true
	if a.exit, err = s.w.Ask(ctx, cmd); a.exit.Began {
		a.took = max(s.w.Now().Sub(start), 1)
	}
	if err != nil {
		return a, s.failure(a, err)
	}
	if a.reply, err = contract.ParseReply(a.exit.Reply, redactText(cmd.Redact)); err != nil {
		return a, s.failure(a, err)
	}
	a.verdict, err = s.judge(a, false)
	return a, err
}

// redactText returns a function that redacts a whole text, nil without a redactor.
func redactText(redact model.Redactor) func(string) string {
	if redact == nil {
		return nil
	}
	return func(text string) string { return string(redact()([]byte(text), true)) }
}

// both hides what either hides.
func both(outer model.Redactor, inner *secret.Redactor) model.Redactor {
	switch {
	case inner == nil:
		return outer
	case outer == nil:
		return inner.Stream
	}
	return func() func([]byte, bool) []byte {
		first, second := outer(), inner.Stream()
		return func(chunk []byte, end bool) []byte { return second(first(chunk, end), end) }
	}
}

// judge returns the verdict on a reply to this machine.
func (s *server) judge(a *answer, noUpgrade bool) (contract.Verdict, error) {
	situation := contract.Situation{
		Identity: s.identity, Now: s.w.Now(), Features: s.features, Version: a.version, NoUpgrade: noUpgrade,
		Directory: s.dir, SigningKey: s.signingKey,
	}
	if s.features.PKI {
		situation.Key, situation.SSLDir = a.key.Public(), s.ssldir
	} else if a.reply.Certificate != "" && a.reply.Key == "" {
		key, err := s.keyThere(filepath.Join(s.sslDir(a.reply), keyFile))
		if err != nil {
			return contract.Verdict{}, err
		}
		situation.Key = key
	}
	v := contract.Judge(a.reply, situation)
	return v, s.failure(a, v.Err())
}

// keyThere returns the public part of the key at a path, nil without a key.
func (s *server) keyThere(path string) (crypto.PublicKey, error) {
	text, ok, err := s.readIfThere(path)
	if err != nil || !ok {
		return nil, err
	}
	key, err := contract.ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key.Public(), nil
}

// changes returns what the reply would have changed on this machine.
func (s *server) changes(a *answer) ([]change, error) {
	targets, err := s.targets(a.reply, a.material)
	if err != nil {
		return nil, err
	}
	return s.compare(targets)
}

// Run asks the helper and does what it says.
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

// warnings returns the warnings of an exchange, whether it succeeded or failed.
func (s *server) warnings(a *answer) []string {
	list := a.exit.Warnings
	if n := len(a.verdict.Warnings); n > 0 && s.sensitive {
		return append(list, fmt.Sprintf("%d doubts about the answer; settle helper run shows them", n))
	}
	for _, f := range a.verdict.Warnings {
		list = append(list, a.mask.Redact(f.String()))
	}
	return list
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
	effect.Diff = a.mask.Redact(s.show(changes))
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
		written = append(written, s.said(&changes[i])...)
	}
	effect.Reason = strings.Join(written, ", ")
	s.confirm()
	return nil
}

// said tells of one change, if it is one to tell of.
func (s *server) said(c *change) []string {
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

// confirm drops the keys that waited for a reply: they are where they belong.
func (s *server) confirm() {
	if !s.features.PKI && !s.features.Ed25519 {
		return
	}
	for _, path := range []string{s.seedFile(), s.inSSL(keyFile)} {
		if waits := s.pendingPath(path); waits != "" {
			_, _ = s.w.Disk.Remove(waits, false) // one that stays is taken for no other than the one in place
		}
	}
}
