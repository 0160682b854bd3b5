package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bus"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/runner"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/spool"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/status"
)

// Headers of a report on the bus.
const (
	HeaderInstance = "Settle-Instance"
	HeaderRelease  = "Settle-Release"
	headerID       = "Nats-Msg-Id"
	headerExpected = "Nats-Expected-Last-Subject-Sequence"
)

// tellLimit bounds how long telling waits for one answer.
const tellLimit = 10 * time.Second

// Bus tells over NATS.
type Bus struct{ Conn *bus.Conn }

// Tell sends every run that was not told yet, and then the status.
func (b *Bus) Tell(ctx context.Context, a *Agent, s *status.Status) {
	s.Unsent, s.Notes = 0, nil
	if err := b.lookForOther(ctx, a, s); err != nil {
		a.Log.Warn("not told", "err", err)
	}
	for _, r := range a.Config.Releases {
		left, err := b.tellRuns(ctx, a, s, r.Name)
		s.Unsent += left
		if err != nil {
			a.Log.Warn("reports wait", "name", r.Name, "runs", left, "err", err)
		}
	}
	if s.Other != "" {
		a.Log.Error("another machine tells under this name", "machine", s.Machine, "instance", s.Other, "next", "stop it, or run settle-fleet adopt here")
	}
	if err := b.tellStatus(ctx, s); err != nil {
		a.Log.Warn("status not told", "err", err)
	}
	if err := a.State.WriteJSON(statusFile, s); err != nil {
		a.Log.Error(err)
	}
}

// lookForOther reads this machine's own last status: another instance in it
// means that two machines have one name.
func (b *Bus) lookForOther(ctx context.Context, a *Agent, s *status.Status) error {
	ctx, stop := context.WithTimeout(ctx, lookLimit)
	defer stop()
	m, err := b.Conn.LastStatus(ctx, a.Config.Machine)
	if err != nil || m == nil {
		return err
	}
	var last status.Status
	if json.Unmarshal(m.Data, &last) != nil {
		return nil
	}
	if s.Other = ""; last.Instance != s.Instance && !a.Identity.Replaces(last.Instance) {
		s.Other = last.Instance
	}
	return nil
}

func (b *Bus) tellStatus(ctx context.Context, s *status.Status) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if len(text) > status.MaxText { // long reasons, many labels: the short form still says where it stands
		text, err = json.Marshal(s.Short())
		if err != nil {
			return err
		}
	}
	ctx, stop := context.WithTimeout(ctx, tellLimit)
	defer stop()
	_, err = b.Conn.Publish(ctx, b.Conn.StatusSubject(s.Machine), nil, text)
	return err
}

// tellRuns tells the runs of one release name in the journal's order. It returns
// how many are left.
func (b *Bus) tellRuns(ctx context.Context, a *Agent, s *status.Status, name string) (int, error) {
	inForce, err := a.State.InForce(name)
	if err != nil || inForce == nil {
		return 0, err
	}
	m, err := a.manifest(inForce.Dir)
	if err != nil {
		return 0, err
	}
	t := teller{b, a, name, m, inForce.Release.String()}
	left := 0
	// A refused sequence means that the answer before was from a replica that
	// lags, or that another message arrived: look again.
	for range 3 {
		left, err = t.round(ctx, s)
		if !errors.Is(err, bus.ErrSequence) {
			break
		}
	}
	return left, err
}

type teller struct {
	*Bus
	a        *Agent
	name     string
	manifest runner.Manifest
	release  string
}

// round compares, decides and sends once.
func (t *teller) round(ctx context.Context, s *status.Status) (left int, err error) {
	told, err := t.a.State.Told(t.name)
	if err != nil {
		return 0, err
	}
	journal, err := t.journal(ctx, told.Run)
	if err != nil {
		return 0, err
	}
	last, err := t.last(ctx)
	if err != nil {
		return len(journal), err
	}
	if last == nil && told.Run != "" || last != nil && last.Run != told.Run {
		if journal, err = t.journal(ctx, ""); err != nil { // the whole, to go back in it
			return 0, err
		}
	}
	d := spool.Decide(told, last, spool.Machine{Instance: t.a.Identity.Instance, Adopted: t.a.Identity.Adopted}, journal, t.a.Now().Add(-bus.MaxAge))
	if d.Note != "" {
		s.Notes = append(s.Notes, t.name+": "+d.Note)
		t.a.Log.Warn(d.Note, "name", t.name)
	}
	if d.Conflict != "" {
		s.Other = d.Conflict
		return len(journal), nil
	}
	if d.Told != told {
		if err := t.a.State.SaveTold(t.name, d.Told); err != nil {
			return len(d.Send), err
		}
	}
	return t.send(ctx, d)
}

func (t *teller) send(ctx context.Context, d spool.Decision) (left int, err error) {
	told := d.Told
	for i, run := range d.Send {
		text, going, err := t.report(ctx, run.ID)
		if err != nil || going {
			return len(d.Send) - i, err
		}
		sequence, err := t.publish(ctx, run.ID, told.Sequence, text)
		if err != nil {
			return len(d.Send) - i, err
		}
		told = spool.Told{Run: run.ID, Sequence: sequence}
		if err := t.a.State.SaveTold(t.name, told); err != nil {
			return len(d.Send) - i - 1, err
		}
	}
	return 0, nil
}

func (t *teller) publish(ctx context.Context, run string, expected uint64, text []byte) (uint64, error) {
	ctx, stop := context.WithTimeout(ctx, tellLimit)
	defer stop()
	header := map[string]string{
		headerID:       spool.MessageID(t.a.Config.Machine, t.name, run),
		headerExpected: strconv.FormatUint(expected, 10),
		HeaderInstance: t.a.Identity.Instance,
		HeaderRelease:  t.release,
	}
	if release := labelOf(text); release != "" {
		header[HeaderRelease] = release
	}
	data, err := bus.Encode(text, t.Conn.MaxPayload(), header)
	if err != nil {
		return 0, err
	}
	return t.Conn.Publish(ctx, t.Conn.RunSubject(t.name, t.a.Config.Machine), header, data)
}

// labelOf returns the release that a report belongs to.
func labelOf(report []byte) string {
	var r struct{ Labels map[string]string }
	_ = json.Unmarshal(report, &r) // an unreadable one has no label
	return r.Labels["release"]
}

func (t *teller) last(ctx context.Context) (*spool.Last, error) {
	ctx, stop := context.WithTimeout(ctx, lookLimit)
	defer stop()
	m, err := t.Conn.LastRun(ctx, t.name, t.a.Config.Machine)
	if err != nil || m == nil {
		return nil, err
	}
	return &spool.Last{Sequence: m.Sequence, Run: spool.RunOf(m.Get(headerID)), Instance: m.Get(HeaderInstance)}, nil
}

// journal returns the runs that are worth telling after the run since, oldest
// first. A converged run only touches the status.
func (t *teller) journal(ctx context.Context, since string) ([]spool.Run, error) {
	history, err := t.a.Settle.History(ctx, t.manifest, since)
	if errors.Is(err, runner.ErrNoRun) {
		history, err = t.a.Settle.History(ctx, t.manifest, "")
	}
	if err != nil {
		return nil, err
	}
	var runs []spool.Run
	for i := range history {
		if !history[i].Converged() {
			runs = append(runs, spool.Run{ID: history[i].Run, Started: history[i].Started})
		}
	}
	return runs, nil
}

// report returns the report of a run, or that the run has not ended yet.
func (t *teller) report(ctx context.Context, run string) (text []byte, going bool, err error) {
	text, err = t.a.Settle.Show(ctx, t.manifest, run)
	if err != nil {
		return nil, false, err
	}
	report, err := runner.ParseReport(text)
	if err != nil {
		return nil, false, fmt.Errorf("run %s: %w", run, err)
	}
	return text, report.Error == "the run goes on", nil
}

// OtherInstances returns the instances that told last under the name of an
// agent's machine and that it does not replace yet.
func OtherInstances(ctx context.Context, a *Agent) ([]string, error) {
	var others []string
	add := func(instance string) {
		if instance != "" && instance != a.Identity.Instance && !a.Identity.Replaces(instance) && !slices.Contains(others, instance) {
			others = append(others, instance)
		}
	}
	ctx, stop := context.WithTimeout(ctx, tellLimit)
	defer stop()
	m, err := a.Conn.LastStatus(ctx, a.Config.Machine)
	if err != nil {
		return nil, err
	}
	var last status.Status
	if m != nil && json.Unmarshal(m.Data, &last) == nil {
		add(last.Instance)
	}
	for _, r := range a.Config.Releases {
		m, err := a.Conn.LastRun(ctx, r.Name, a.Config.Machine)
		if err != nil {
			return nil, err
		}
		if m != nil {
			add(m.Get(HeaderInstance))
		}
	}
	return others, nil
}
