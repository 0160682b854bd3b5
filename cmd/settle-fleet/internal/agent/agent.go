// Package agent is the machine's side of a fleet: it looks for releases, takes
// them up, has settle apply them, and tells how that went.
package agent

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bundle"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bus"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/config"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/machine"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/runner"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/signature"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/source"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/status"
)

// lookLimit is how long a round waits for news before it goes on without.
const lookLimit = 5 * time.Second

// statusFile keeps the last status in the state directory.
const statusFile = "status.json"

// Log receives the messages of a working agent for a person.
type Log interface {
	Info(message any, keyvals ...any)
	Warn(message any, keyvals ...any)
	Error(message any, keyvals ...any)
}

// Agent is one machine's agent.
type Agent struct {
	Config   *config.Config
	State    *machine.State
	Identity *machine.Identity
	Settle   *runner.Settle
	Sources  map[string]source.Source // by the source that a release names
	Labels   map[string]string        // those of the configuration and the machine's facts
	Version  string                   // of settle-fleet
	Log      Log
	Quiet    bool // settle prints only failures
	Teller   Teller
	Conn     *bus.Conn // nil without NATS
	Now      func() time.Time

	asked *status.Asked // what the round that goes on was asked for
}

// Teller carries a status and reports to the operators. An agent without one
// only keeps its status in the state directory.
type Teller interface {
	Tell(ctx context.Context, a *Agent, s *status.Status)
}

// Round looks, picks, takes up, applies and tells, once for each release name.
// It returns the exit code that stands for all of it. A cancelled context ends
// the round after settle has ended in its orderly way.
func (a *Agent) Round(ctx context.Context) int {
	s := a.newStatus(ctx)
	code := 0
	for _, r := range a.Config.Releases {
		if ctx.Err() != nil {
			break
		}
		before := s.Releases[r.Name]
		now, exit := a.roundOf(ctx, r, before)
		s.Releases[r.Name] = now
		code = worse(code, exit)
	}
	if a.asked != nil {
		a.asked.Exit = code
		s.Asked, a.asked = a.asked, nil
	}
	s.Seen = a.Now().UTC().Truncate(time.Second)
	if err := a.State.WriteJSON(statusFile, s); err != nil {
		a.Log.Error(err)
		code = worse(code, runner.ExitBlocked)
	}
	if a.Teller != nil && ctx.Err() == nil {
		a.Teller.Tell(ctx, a, s)
	}
	return code
}

// LastStatus returns the status of the last round.
func LastStatus(state *machine.State) (*status.Status, error) {
	s := &status.Status{}
	return s, state.ReadJSON(statusFile, s)
}

// newStatus begins a status with what the last round left.
func (a *Agent) newStatus(ctx context.Context) *status.Status {
	last, err := LastStatus(a.State)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		a.Log.Warn("the last status is lost", "err", err)
	}
	s := &status.Status{
		Schema: status.Schema, Fleet: a.Config.Fleet, Machine: a.Config.Machine, Instance: a.Identity.Instance,
		Labels: a.Labels, Agent: a.Version, BootID: bootID(), Interval: int64(a.Config.Interval / time.Second),
		Mode: a.Config.Mode, Releases: map[string]status.Release{}, Other: last.Other, Unsent: last.Unsent, Asked: last.Asked,
	}
	if s.Settle, err = a.Settle.Version(ctx); err != nil {
		a.Log.Error(err)
	}
	for _, r := range a.Config.Releases {
		s.Releases[r.Name] = last.Releases[r.Name]
	}
	return s
}

func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "" // not Linux
	}
	return strings.TrimSpace(string(text))
}

// roundOf does a round for one release name.
func (a *Agent) roundOf(ctx context.Context, r config.Release, s status.Release) (status.Release, int) {
	s.News, s.Refused = "", nil
	exit := 0
	if err := a.update(ctx, r, &s); err != nil {
		exit = a.explain(r.Name, &s, err)
	}
	inForce, err := a.State.InForce(r.Name)
	if err != nil {
		a.Log.Error(err)
		s.State, s.Why = status.Blocked, err.Error()
		return s, runner.ExitBlocked
	}
	if inForce == nil {
		s.State, s.Why = status.Nothing, "no release is in force"
		if s.News == "" && s.Refused == nil {
			a.Log.Info("no release is in force", "name", r.Name)
		}
		return s, exit
	}
	return s, worse(exit, a.apply(ctx, inForce, &s))
}

// refusal is a release that must not be taken up, with its version.
type refusal struct {
	version int64
	err     error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// exitNoNews is the code of a round that finds no source and has nothing to apply.
const exitNoNews = 66

// explain puts an error of looking or taking up into the status and the log.
func (a *Agent) explain(name string, s *status.Release, err error) int {
	var refused *refusal
	if errors.As(err, &refused) {
		s.Refused = &status.Refused{Version: refused.version, Why: shorten(err.Error())}
		a.Log.Error("refused", "name", name, "err", err)
		return runner.ExitInvalid
	}
	s.News = shorten(err.Error())
	a.Log.Warn("no news", "name", name, "err", err)
	if s.Version == 0 {
		return exitNoNews
	}
	return 0
}

// update looks for news and takes up the version that this machine should have.
func (a *Agent) update(ctx context.Context, r config.Release, s *status.Release) error {
	src := a.Sources[r.From]
	if src == nil {
		return bus.ErrOffline // the connection could not be made
	}
	looking, stop := context.WithTimeout(ctx, lookLimit)
	defer stop()
	news, err := src.Look(looking, r.Name)
	if err != nil {
		return err
	}
	inForce, err := a.State.InForce(r.Name)
	if err != nil {
		return err
	}
	c, err := a.choose(looking, r, src, news, inForce, s)
	if err != nil || c == nil {
		return err
	}
	c.Machine = a.Config.Machine
	c.Fetch = func(ctx context.Context, w io.Writer) error { return src.Fetch(ctx, c.Release, w) }
	c.Check = func(dir string) error { return a.check(ctx, dir, c.Release) }
	if err := a.State.TakeUp(ctx, *c); err != nil {
		return &refusal{c.Release.Version, err}
	}
	a.Log.Info("took up", "release", c.Release.String(), "signer", c.Signer)
	return nil
}

// choose returns the verified release that is to be taken up, nil for none.
func (a *Agent) choose(ctx context.Context, r config.Release, src source.Source, news source.News, inForce *machine.InForce, s *status.Release) (*machine.Candidate, error) {
	signed, revert, version := news.Release, false, int64(0)
	if news.Rollout != nil {
		var have int64
		if inForce != nil {
			have = inForce.Release.Version
		}
		choice, n, err := a.follow(r.Name, news.Rollout, have)
		if err != nil {
			return nil, &refusal{0, err}
		}
		s.N = n
		if choice.Version == 0 || choice.Version == have {
			return nil, nil
		}
		version, revert = choice.Version, choice.Revert
		if signed, err = src.Release(ctx, r.Name, version); err != nil {
			return nil, err
		}
	}
	if signed == nil && version == 0 {
		return nil, nil
	}
	if kept, err := a.kept(r.Name, version, signed); kept != nil || err != nil {
		return kept, err
	}
	if signed == nil {
		return nil, fmt.Errorf("release %s@%d is not there", r.Name, version)
	}
	verified, signer, err := a.verify(signed)
	if err != nil {
		return nil, &refusal{version, err}
	}
	known, err := a.State.Known(r.Name)
	if err != nil {
		return nil, err
	}
	if version != 0 && verified.Version != version {
		return nil, &refusal{version, fmt.Errorf("the release under version %d is %s", version, verified)}
	}
	if inForce != nil && inForce.Release.Version == verified.Version && inForce.Release.Digest == verified.Digest {
		return nil, nil
	}
	if err := known.Accept(verified, a.Config.Fleet, r.Name, a.Now(), revert); err != nil {
		return nil, &refusal{verified.Version, err}
	}
	return &machine.Candidate{Release: verified, Signed: *signed, Signer: signer}, nil
}

// kept returns a version that this machine has verified before, when it may go
// back to it without asking anyone.
func (a *Agent) kept(name string, version int64, signed *release.Signed) (*machine.Candidate, error) {
	if version == 0 || signed != nil {
		return nil, nil
	}
	r, text, signer, err := a.State.Kept(name, version)
	if err != nil || r == nil {
		return nil, err
	}
	return &machine.Candidate{Release: r, Signed: *text, Signer: signer}, nil
}

// follow verifies a rollout, remembers it and returns what it means here.
func (a *Agent) follow(name string, signed *release.Signed, inForce int64) (release.Choice, int64, error) {
	signers, err := a.signers()
	if err != nil {
		return release.Choice{}, 0, err
	}
	text := []byte(signed.Text)
	if _, err := signers.Verify(text, signed.Signatures, release.RolloutNamespace, a.Now()); err != nil {
		return release.Choice{}, 0, fmt.Errorf("the rollout is not accepted: %w", err)
	}
	r, err := release.ParseRollout(text)
	if err != nil {
		return release.Choice{}, 0, err
	}
	known, err := a.State.Known(name)
	if err == nil {
		err = known.AcceptRollout(text, r, a.Config.Fleet, name)
	}
	if err == nil && r.N > known.RolloutN {
		err = a.State.SaveKnown(name, known.FollowRollout(text, r))
	}
	return release.Pick(a.Config.Machine, a.Labels, r, inForce), r.N, err
}

// verify checks the signature of a release before anything in it is believed.
func (a *Agent) verify(signed *release.Signed) (*release.Release, string, error) {
	signers, err := a.signers()
	if err != nil {
		return nil, "", err
	}
	signer, err := signers.Verify([]byte(signed.Text), signed.Signatures, release.Namespace, a.Now())
	if err != nil {
		return nil, "", fmt.Errorf("the release is not accepted: %w", err)
	}
	r, err := release.Parse([]byte(signed.Text))
	return r, signer, err
}

// signers reads the file at every use, so that a new one counts at once.
func (a *Agent) signers() (*signature.Signers, error) {
	text, err := os.ReadFile(a.Config.Signers)
	if err != nil {
		return nil, fmt.Errorf("read allowed signers: %w", err)
	}
	signers, err := signature.ParseSigners(text)
	if err != nil {
		return nil, fmt.Errorf("read allowed signers %s: %w", a.Config.Signers, err)
	}
	return signers, nil
}

// check asks settle whether it accepts an unpacked bundle.
func (a *Agent) check(ctx context.Context, dir string, r *release.Release) error {
	minimum, err := release.MinimumSettle(r.Settle)
	if err != nil {
		return err
	}
	version, err := a.Settle.Version(ctx)
	if err != nil {
		return err
	}
	if !release.SatisfiesSettle(version, minimum) {
		return fmt.Errorf("%s needs settle %s, and this is settle %s: update settle first", r, r.Settle, version)
	}
	m, err := a.manifest(dir)
	if err != nil {
		return err
	}
	if err := a.Settle.Validate(ctx, m); err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), dir+"/", ""))
	}
	return nil
}

func (a *Agent) manifest(dir string) (runner.Manifest, error) {
	return ManifestOf(dir, a.Config.Machine, a.Labels)
}

// ManifestOf returns the manifest of an unpacked bundle with its files of values
// for a machine.
func ManifestOf(dir, machine string, labels map[string]string) (runner.Manifest, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return runner.Manifest{}, fmt.Errorf("open bundle: %w", err)
	}
	defer root.Close()
	name, err := bundle.FindManifest(root)
	if err != nil {
		return runner.Manifest{}, fmt.Errorf("open bundle: %w", err)
	}
	m := runner.Manifest{Path: filepath.Join(dir, name)}
	for _, file := range bundle.ValueFiles(root, machine, labels) {
		m.Values = append(m.Values, filepath.Join(dir, file))
	}
	return m, nil
}

// worse returns the exit code that says more: a signal, then any refusal, then
// a failure, then "try again later".
func worse(a, b int) int {
	rank := func(code int) int {
		switch {
		case code > 128:
			return 5
		case code == 70:
			return 4
		case code == runner.ExitLater:
			return 1
		case code == 1:
			return 2
		case code > 1:
			return 3
		}
		return 0
	}
	if rank(b) > rank(a) || rank(a) == rank(b) && b < a && b != 0 {
		return b
	}
	return a
}

// Splay returns when a machine's rounds begin within each interval. It is fixed
// for a machine, and spread over a fleet.
func Splay(machine string, interval time.Duration) time.Duration {
	if interval <= 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(machine)) // never fails
	// FNV's high bits hardly change with the last letter; multiplying mixes them.
	return time.Duration((h.Sum64() * 0x9e3779b97f4a7c15 >> 11) % uint64(interval))
}

// NextRound returns the first beginning of a round after now.
func NextRound(now time.Time, machine string, interval time.Duration) time.Time {
	next := now.Truncate(interval).Add(Splay(machine, interval))
	for !next.After(now) {
		next = next.Add(interval)
	}
	return next
}

// shorten keeps a text small enough for a status.
func shorten(text string) string {
	const most = 300
	text = strings.ReplaceAll(text, "\n", "; ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
