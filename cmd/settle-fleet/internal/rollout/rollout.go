// Package rollout decides when the next wave of a rollout opens and when it
// halts. It is pure: a controller that was killed goes on from the signed text
// and the statuses of the machines alone.
package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/status"
	"github.com/settle-cm/settle/model"
)

// FirstWave is the wave of the machines that are named as the first ones.
const FirstWave = "first"

// enough is the share of a wave, in percent, that has to be done when the time
// to wait is over.
const enough = 90

// Machine is a machine as its last status shows it.
type Machine struct {
	Name   string
	Labels map[string]string
	Silent bool
	Status status.Release
	Seen   time.Time // the machine's clock
	Told   time.Time // the broker's
}

// Answer is how a machine of an open wave stands.
type Answer string

// The answers.
const (
	Done    Answer = "done"
	Soaking Answer = "soaking"
	Failed  Answer = "failed"
	Waiting Answer = "waiting"
	Absent  Answer = "absent" // silent: it is never waited for
)

// Tally is the answers of the machines that a rollout is open to, by name.
type Tally map[Answer][]string

// Check returns an error for settings that mean nothing.
func Check(r *release.Rollout) error {
	if len(r.Waves) == 0 {
		return fmt.Errorf("waves: name at least one")
	}
	for _, wave := range r.Waves {
		if _, err := waveSize(wave, 1); err != nil {
			return err
		}
	}
	if _, err := exceeds(r.MaxFailures, 0, 0); err != nil {
		return err
	}
	for _, text := range []string{r.Wait, r.Soak} {
		if _, err := model.ParseDuration(text); err != nil {
			return fmt.Errorf("%q is not a time such as 15m", text)
		}
	}
	return nil
}

// waveSize returns how many of total machines a wave opens to.
func waveSize(wave string, total int) (int, error) {
	if wave == FirstWave {
		return 0, nil
	}
	number, percent := strings.CutSuffix(wave, "%")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || percent && n > 100 {
		return 0, fmt.Errorf("wave %q: write a number of machines, or a percentage such as 10%%", wave)
	}
	if percent {
		n = (total*n + 99) / 100
	}
	return min(n, total), nil
}

// exceeds reports whether failures are more than the text allows.
func exceeds(allowed string, failures, answers int) (bool, error) {
	number, percent := strings.CutSuffix(allowed, "%")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || percent && n > 100 {
		return false, fmt.Errorf("max failures %q: write a number, or a percentage such as 5%%", allowed)
	}
	if percent {
		return failures*100 > n*answers, nil
	}
	return failures > n, nil
}

// OpenWave returns the rollout with its next wave open. Its size is counted in
// machines that are heard of now.
func OpenWave(r *release.Rollout, machines []Machine) *release.Rollout {
	next := *r
	next.N, next.Wave = r.N+1, r.Wave+1
	wave := r.Waves[r.Wave]
	var places []uint64
	for _, m := range machines {
		if !m.Silent && r.Selects(m.Name, m.Labels) && !r.IsFirst(m.Name, m.Labels) {
			places = append(places, release.Place(r.Salt, m.Name))
		}
	}
	slices.Sort(places)
	size, _ := waveSize(wave, len(places)) // Check has seen it
	switch {
	case wave == "100%":
		next.Open = release.EverythingOpen
	case size > 0:
		// New machines may have moved the ranks: open machines stay open.
		next.Open = release.FormatPlace(max(places[size-1], release.ParsePlace(r.Open)))
	}
	return &next
}

// Count returns how the machines stand that a rollout is open to.
func Count(r *release.Rollout, machines []Machine, opened, now time.Time) Tally {
	soak, _ := model.ParseDuration(r.Soak) // Check has seen it
	t := Tally{}
	for i := range machines {
		m := &machines[i]
		if !r.IsOpen(m.Name, m.Labels) {
			continue
		}
		a := answer(r, m, soak, opened, now)
		t[a] = append(t[a], m.Name)
	}
	return t
}

func answer(r *release.Rollout, m *Machine, soak time.Duration, opened, now time.Time) Answer {
	s := &m.Status
	refused := s.Refused != nil && s.Refused.Version == r.Version
	switch {
	case m.Silent:
		return Absent
	case s.Version == r.Version && s.State == status.Failed, refused && s.Version != r.Version:
		return Failed
	case s.Version != r.Version || s.State != status.OK:
		return Waiting
	}
	// Only differences of one clock count: a machine's own, and the broker's.
	good := min(m.Seen.Sub(s.Good)+now.Sub(m.Told), now.Sub(opened))
	if good < soak {
		return Soaking
	}
	return Done
}

// Advance returns the rollout as it should be next, and why; nil while it has
// to wait. opened is when the rollout was written last, by the broker's clock.
func Advance(r *release.Rollout, machines []Machine, opened, now time.Time) (*release.Rollout, string) {
	if r.State != release.Running {
		return nil, "it is " + r.State
	}
	if r.Wave == 0 {
		return OpenWave(r, machines), "wave 1 opens"
	}
	t := Count(r, machines, opened, now)
	wait, _ := model.ParseDuration(r.Wait) // Check has seen it
	ok, failed := len(t[Done])+len(t[Soaking]), len(t[Failed])
	present := ok + failed + len(t[Waiting])
	if reason := tooManyFailures(r, ok, failed, present); reason != "" {
		return halt(r, reason), reason
	}
	over := now.Sub(opened) >= wait
	switch {
	case len(t[Done]) == present && (present > 0 || over):
	case over && len(t[Done])*100 >= enough*present && present > 0:
	case over && len(t[Waiting])+failed > 0:
		reason := fmt.Sprintf("after %s only %d of %d machines are done", r.Wait, len(t[Done]), present)
		return halt(r, reason), reason
	default:
		return nil, fmt.Sprintf("wave %d: %d done, %d soaking, %d failed, %d waiting, %d absent", r.Wave, len(t[Done]), len(t[Soaking]), failed, len(t[Waiting]), len(t[Absent]))
	}
	if r.Wave == len(r.Waves) {
		next := *r
		next.N, next.State, next.Open = r.N+1, release.Done, release.EverythingOpen
		return &next, "all waves are done"
	}
	return OpenWave(r, machines), fmt.Sprintf("wave %d opens", r.Wave+1)
}

// tooManyFailures returns why a rollout has to halt, "" when it may go on.
func tooManyFailures(r *release.Rollout, ok, failed, present int) string {
	reason := fmt.Sprintf("%d of %d machines failed", failed, ok+failed)
	if failed > 0 && r.Waves[r.Wave-1] == FirstWave {
		return reason
	}
	tooMany, _ := exceeds(r.MaxFailures, failed, ok+failed) // Check has seen it
	if tooMany && ok+failed >= min(r.MinAnswers, present) {
		return reason
	}
	return ""
}

func halt(r *release.Rollout, reason string) *release.Rollout {
	next := *r
	next.N, next.State, next.Halted = r.N+1, release.Halted, reason
	return &next
}

// Group is machines that fail in the same way.
type Group struct {
	Reason   string   `json:"reason"`
	Machines []string `json:"machines"`
}

// GroupFailures returns the failures of machines, the most frequent first.
func GroupFailures(failures map[string][]string) []Group {
	by := map[string][]string{}
	for machine, reasons := range failures {
		for _, reason := range reasons {
			by[reason] = append(by[reason], machine)
		}
	}
	groups := make([]Group, 0, len(by))
	for reason, machines := range by {
		slices.Sort(machines)
		groups = append(groups, Group{reason, machines})
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(len(b.Machines), len(a.Machines)), cmp.Compare(a.Reason, b.Reason))
	})
	return groups
}
