package rollout

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/status"
)

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func example(waves ...string) *release.Rollout {
	return &release.Rollout{
		Schema: release.RolloutSchema, Fleet: "prod", N: 1, Name: "web", Version: 17, Before: 16, Open: "0000000000000000", Salt: "web@17",
		Waves: waves, MaxFailures: "0", MinAnswers: 1, Wait: "15m", Soak: "0s", State: release.Running,
	}
}

func fleet(n int) []Machine {
	var all []Machine
	for i := range n {
		all = append(all, Machine{Name: fmt.Sprintf("web%d", i), Told: start, Seen: start, Status: status.Release{Version: 16, State: status.OK, Good: start.Add(-time.Hour)}})
	}
	return all
}

// take makes the machines that a rollout is open to have its version, in a state.
func take(r *release.Rollout, machines []Machine, state string, at time.Time) {
	for i := range machines {
		if m := &machines[i]; r.IsOpen(m.Name, m.Labels) && m.Status.Version != r.Version {
			m.Status = status.Release{Version: r.Version, State: state, Good: at}
			m.Told, m.Seen = at, at
		}
	}
}

func TestWavesOpenToTheirShare(t *testing.T) {
	t.Parallel()
	r := example("1", "10%", "50%", "100%")
	machines := fleet(37)
	now := start
	for wave, want := range []int{1, 4, 19, 37} {
		next, why := Advance(r, machines, now, now)
		if next == nil || next.Wave != wave+1 || next.N != r.N+1 {
			t.Fatalf("wave %d: %v, %s", wave+1, next, why)
		}
		r = next
		open := 0
		for _, m := range machines {
			if r.IsOpen(m.Name, nil) {
				open++
			}
		}
		if open != want {
			t.Errorf("wave %d is open to %d machines, want %d", wave+1, open, want)
		}
		if next, why := Advance(r, machines, now, now.Add(time.Minute)); next != nil {
			t.Fatalf("it goes on without answers: %s", why)
		}
		now = now.Add(time.Minute)
		take(r, machines, status.OK, now)
	}
	if next, why := Advance(r, machines, now, now); next == nil || next.State != release.Done {
		t.Errorf("%v, %s", next, why)
	}
}

func TestAdvance(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*release.Rollout, []Machine)
		after  time.Duration
		state  string // "" when it has to wait
		why    string
	}{
		"a failure":            {func(r *release.Rollout, m []Machine) { m[3].Status.State = status.Failed }, time.Minute, release.Halted, "1 of 10 machines failed"},
		"an allowed failure":   {func(r *release.Rollout, m []Machine) { r.MaxFailures = "1"; m[3].Status.State = status.Failed }, time.Minute, "", "wave 1: 9 done, 0 soaking, 1 failed, 0 waiting, 0 absent"},
		"and the time is over": {func(r *release.Rollout, m []Machine) { r.MaxFailures = "10%"; m[3].Status.State = status.Failed }, time.Hour, release.Done, "all waves are done"},
		"too few answers": {func(r *release.Rollout, m []Machine) {
			r.MinAnswers = 5
			for i := range m {
				m[i].Status = status.Release{Version: 16, State: status.OK}
			}
			m[0].Status = status.Release{Version: 17, State: status.Failed}
		}, time.Minute, "", "wave 1: 0 done, 0 soaking, 1 failed, 9 waiting, 0 absent"},
		"refused": {func(r *release.Rollout, m []Machine) {
			m[2].Status = status.Release{Version: 16, State: status.OK, Refused: &status.Refused{Version: 17}}
		}, time.Minute, release.Halted, "1 of 10 machines failed"},
		"blocked": {func(r *release.Rollout, m []Machine) { m[2].Status.State = status.Blocked }, time.Minute, "", "wave 1: 9 done, 0 soaking, 0 failed, 1 waiting, 0 absent"},
		"paused":  {func(r *release.Rollout, m []Machine) { m[2].Status.State = status.Later }, time.Minute, "", "wave 1: 9 done, 0 soaking, 0 failed, 1 waiting, 0 absent"},
		"silent":  {func(r *release.Rollout, m []Machine) { m[2].Silent = true; m[2].Status.Version = 16 }, time.Minute, release.Done, "all waves are done"},
		"all silent": {func(r *release.Rollout, m []Machine) {
			for i := range m {
				m[i].Silent = true
			}
		}, time.Minute, "", "wave 1: 0 done, 0 soaking, 0 failed, 0 waiting, 10 absent"},
		"soaking": {func(r *release.Rollout, m []Machine) { r.Soak = "10m" }, time.Minute, "", "wave 1: 0 done, 10 soaking, 0 failed, 0 waiting, 0 absent"},
		"soaked":  {func(r *release.Rollout, m []Machine) { r.Soak = "10m" }, 10 * time.Minute, release.Done, "all waves are done"},
		"a clock a year off": {func(r *release.Rollout, m []Machine) {
			r.Soak = "10m"
			m[1].Seen, m[1].Status.Good = m[1].Seen.AddDate(1, 0, 0), m[1].Status.Good.AddDate(1, 0, 0)
		}, time.Minute, "", "wave 1: 0 done, 10 soaking, 0 failed, 0 waiting, 0 absent"},
		"too slow":              {func(r *release.Rollout, m []Machine) { m[1].Status.Version, m[2].Status.Version = 16, 16 }, time.Hour, release.Halted, "after 15m only 8 of 10 machines are done"},
		"paused by an operator": {func(r *release.Rollout, m []Machine) { r.State = release.Paused }, time.Hour, "", "it is paused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			machines := fleet(10)
			r := OpenWave(example("100%"), machines)
			take(r, machines, status.OK, start)
			c.change(r, machines)
			next, why := Advance(r, machines, start, start.Add(c.after))
			state := ""
			if next != nil {
				state = next.State
			}
			if state != c.state || why != c.why {
				t.Errorf("%q, %q", state, why)
			}
		})
	}
}

func TestNamedCanariesHaltAtTheirFirstFailure(t *testing.T) {
	t.Parallel()
	machines := fleet(100)
	r := example(FirstWave, "100%")
	r.First, r.MaxFailures, r.MinAnswers = []string{"web1", "web2"}, "50%", 10
	r, _ = Advance(r, machines, start, start)
	take(r, machines, status.OK, start)
	if got := Count(r, machines, start, start)[Done]; !slices.Equal(got, []string{"web1", "web2"}) {
		t.Errorf("the first wave is %v", got)
	}
	machines[2].Status.State = status.Failed
	if next, why := Advance(r, machines, start, start); next == nil || next.State != release.Halted {
		t.Errorf("%v, %s", next, why)
	}
}

// Random fleets with machines that are offline, slow, failing or lying, and a
// controller that is killed at any step.
func TestInvariantsOfRandomRollouts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 7))
		n := 1 + random.IntN(200)
		if seed%50 == 0 {
			n = 5000
		}
		simulate(t, seed, random, fleet(n))
	}
}

func simulate(t *testing.T, seed uint64, random *rand.Rand, machines []Machine) {
	t.Helper()
	r := example("1", "10%", "50%", "100%")
	r.MinAnswers = 1 + random.IntN(5)
	r.MaxFailures = []string{"0", "2", "5%"}[random.IntN(3)]
	r.Revert = random.IntN(2) == 0
	badness := []float64{0, 0.01, 0.5}[random.IntN(3)]
	opened, now := start, start
	have := make([]int64, len(machines))
	for step := 0; step < 400 && r.State == release.Running; step++ {
		now = now.Add(time.Minute)
		for i := range machines {
			live(random, r, &machines[i], badness, now)
			if machines[i].Status.Version == 17 && have[i] != 17 {
				have[i] = 17
				if !r.IsOpen(machines[i].Name, nil) {
					t.Fatalf("seed %d: a machine takes it before its wave", seed)
				}
			}
		}
		next, _ := Advance(r, machines, opened, now)
		if random.IntN(5) == 0 || next == nil {
			continue // the controller was killed before its write; the next one decides anew
		}
		if next.Wave > r.Wave+1 || next.N != r.N+1 {
			t.Fatalf("seed %d: wave %d follows wave %d", seed, next.Wave, r.Wave)
		}
		if next.Wave > r.Wave {
			checkSize(t, seed, r, next, machines)
		}
		r, opened = next, now
	}
	if r.State == release.Running {
		return // slow and offline machines may keep it waiting
	}
	before := slices.Clone(have)
	for range 5 {
		now = now.Add(time.Minute)
		for i := range machines {
			live(random, r, &machines[i], badness, now)
			if r.State == release.Halted && machines[i].Status.Version == 17 && before[i] != 17 {
				t.Fatalf("seed %d: a machine takes it after the halt", seed)
			}
			if v := machines[i].Status.Version; v != 16 && v != 17 {
				t.Fatalf("seed %d: a machine has version %d", seed, v)
			}
		}
	}
}

// checkSize holds a wave to its size: so many of the machines that are heard of,
// or as many as were open before.
func checkSize(t *testing.T, seed uint64, before, next *release.Rollout, machines []Machine) {
	t.Helper()
	heard, open, already := 0, 0, 0
	for _, m := range machines {
		if m.Silent {
			continue
		}
		heard++
		if next.IsOpen(m.Name, nil) {
			open++
		}
		if before.IsOpen(m.Name, nil) {
			already++
		}
	}
	if size, _ := waveSize(next.Waves[next.Wave-1], heard); open > max(size, already) {
		t.Fatalf("seed %d: wave %d is open to %d of %d machines, not to %d", seed, next.Wave, open, heard, size)
	}
}

// live is a minute in the life of a machine: it looks, picks, applies and tells,
// or it does not.
func live(random *rand.Rand, r *release.Rollout, m *Machine, badness float64, now time.Time) {
	m.Silent = random.IntN(20) == 0
	if m.Silent || random.IntN(3) == 0 {
		return
	}
	choice := release.Pick(m.Name, m.Labels, r, m.Status.Version)
	if choice.Version != 0 && choice.Version != m.Status.Version {
		m.Status = status.Release{Version: choice.Version, State: status.OK, Good: now}
		if choice.Version == 17 && random.Float64() < badness {
			m.Status.State = status.Failed
		}
	}
	m.Told, m.Seen = now, now.Add(time.Duration(random.IntN(1000))*time.Hour) // no clock is right
	m.Status.Good = m.Seen
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*release.Rollout){
		"waves: name at least one": func(r *release.Rollout) { r.Waves = nil },
		`wave "x": write a number of machines, or a percentage such as 10%`:    func(r *release.Rollout) { r.Waves = []string{"x"} },
		`wave "101%": write a number of machines, or a percentage such as 10%`: func(r *release.Rollout) { r.Waves = []string{"101%"} },
		`max failures "-1": write a number, or a percentage such as 5%`:        func(r *release.Rollout) { r.MaxFailures = "-1" },
		`"soon" is not a time such as 15m`:                                     func(r *release.Rollout) { r.Wait = "soon" },
	} {
		r := example("1")
		change(r)
		if err := Check(r); err == nil || err.Error() != want {
			t.Errorf("says %v, want %s", err, want)
		}
	}
	if err := Check(example("1", "100%")); err != nil {
		t.Error(err)
	}
}

func TestGroupFailures(t *testing.T) {
	t.Parallel()
	got := GroupFailures(map[string][]string{"a": {"x"}, "c": {"y"}, "b": {"y"}})
	if len(got) != 2 || got[0].Reason != "y" || !slices.Equal(got[0].Machines, []string{"b", "c"}) {
		t.Errorf("%v", got)
	}
}
