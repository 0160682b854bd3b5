package provision

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/secret"
	"github.com/settle-cm/settle/resources/provision/contract"
)

// errPaused is the cause of an error while the pause file exists.
var errPaused = errors.New("provisioning is paused")

// paused returns an error while provisioning is paused, nil otherwise.
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

// failure adds the helper and the server to an error of their exchange, and redacts
// secrets of the input that the helper may have repeated. The error of a sensitive
// resource leaves out every word of the helper.
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

// failed is an error with a redacted text. Its cause stays reachable for errors.Is.
type failed struct {
	text string
	err  error
}

// redactText returns a function that redacts a whole text, nil without a redactor.
func redactText(redact model.Redactor) func(string) string {
	if redact == nil {
		return nil
	}
	return func(text string) string { return string(redact()([]byte(text), true)) }
}

// both returns a redactor that removes the secrets of both. Each may be nil.
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

func (f *failed) Error() string { return f.text }
func (f *failed) Unwrap() error { return f.err }

// ask runs the exchange up to the verdict. With keep set, it stores new keys before it
// starts the helper: the helper may sign them, and the next run must use the same.
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
	a.mask, _ = secret.New(m.secrets) // the error is a secret that is too short to be redacted
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
