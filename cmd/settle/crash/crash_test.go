//go:build linux

// Package crash kills settle at any instant and checks that nothing is lost.
package crash

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/settle-cm/settle/cmd/internal/settletest"
	"github.com/settle-cm/settle/model"
)

func TestMain(m *testing.M) { settletest.MainWithRaceDetector(m, "../../..") }

// crashTime is how long the proof looks for a lost refresh. A long one:
//
//	go test ./cmd/settle/crash -run TestNothingIsLost -crash 1h -timeout 0
var crashTime = flag.Duration("crash", 10*time.Second, "how long TestNothingIsLost looks for a lost refresh")

// TestNothingIsLost is the proof of the promise: whatever ends settle, and
// whenever, every change is followed by a successful run of each subscriber.
//
// Random manifests of commands that fail at first are applied, and settle is
// killed at each write of its journal, or by KILL, INT and TERM at random
// instants, or its journal loses its unsynced end. Others apply beside the commands
// that a killed apply left. Then it is applied until
// it succeeds. The commands keep a log of what really happened; that, not the
// report of settle, is what the promise is held against.
func TestNothingIsLost(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	t.Parallel()
	tally := tally{until: time.Now().Add(*crashTime)}
	var workers sync.WaitGroup
	seeds := make(chan uint64)
	for range 2 {
		workers.Go(func() {
			for seed := range seeds {
				tr := &trial{T: t, seed: seed, tally: &tally, rand: rand.New(rand.NewPCG(seed, 0))}
				[]func(*trial){(*trial).atEachWrite, (*trial).atRandomInstants, (*trial).withoutPower, (*trial).besideOrphans}[seed%4](tr)
			}
		})
	}
	for seed := uint64(1); !tally.enough() && !t.Failed(); seed++ {
		seeds <- seed
	}
	close(seeds)
	workers.Wait()
	t.Log(&tally)
}

// tally counts what was tried, and knows when that is enough.
type tally struct {
	until                              time.Time
	mu                                 sync.Mutex
	kills, stops, applies, cuts, plans int
}

func (c *tally) add(n *int, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n += by
}

// enough says whether the time is over, and something was proved in it: on a
// busy machine that may come late.
func (c *tally) enough() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().After(c.until) && c.kills >= 20 && c.cuts >= 20 && c.stops >= 5
}

func (c *tally) String() string {
	return fmt.Sprintf("%d kills, %d INTs and TERMs, %d cuts of the journal, %d applies, %d plans", c.kills, c.stops, c.cuts, c.applies, c.plans)
}

// trial is one random manifest that is treated badly.
type trial struct {
	*testing.T
	seed  uint64
	rand  *rand.Rand
	tally *tally
}

// atEachWrite kills a first apply at the first write of its journal, another
// first apply at the second one, until one comes to its end.
func (tr *trial) atEachWrite() {
	for n := 1; ; n++ {
		w := tr.world(2 + int(tr.seed/3)%3) // small ones: there are many writes
		survived := w.killedAtWrite(n)
		w.remembered()
		w.converge()
		if survived || tr.Failed() || tr.tally.enough() {
			return
		}
	}
}

// atRandomInstants ends several applies in turn before they have a chance.
func (tr *trial) atRandomInstants() {
	for range 4 {
		if tr.tally.enough() {
			return
		}
		w := tr.world(3 + tr.rand.IntN(5))
		for range 1 + tr.rand.IntN(5) {
			sig := []syscall.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM}[tr.rand.IntN(4)]
			w.endedAfter(time.Duration(tr.rand.IntN(60_000))*time.Microsecond, sig)
			w.remembered()
		}
		w.converge()
	}
}

// besideOrphans kills applies at random instants, and applies again while commands
// of the killed ones still run. None of them may be started a second time.
func (tr *trial) besideOrphans() {
	for range 4 {
		if tr.tally.enough() {
			return
		}
		w := tr.world(3 + tr.rand.IntN(5))
		for range 2 + tr.rand.IntN(4) {
			w.endedAfter(time.Duration(tr.rand.IntN(60_000))*time.Microsecond, syscall.SIGKILL)
			cmd, _ := w.apply()
			_ = cmd.Wait() // it fails where a command still runs
		}
		w.startedOnce()
		w.remembered()
		w.converge()
	}
}

// withoutPower kills an apply at a write of its journal, and takes back any
// part of the journal that may not have been on the disk yet.
func (tr *trial) withoutPower() {
	w := tr.world(3 + tr.rand.IntN(5))
	w.killedAtWrite(1 + tr.rand.IntN(12))
	w.remembered()
	path := filepath.Join(w.store().Path(), "journal")
	whole, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil {
		tr.Fatal(err)
	}
	first := synced(whole)
	for n := first; n <= len(whole) && !tr.tally.enough(); n++ {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			tr.Fatal(err)
		}
		w.remembered()
		tr.tally.add(&tr.tally.cuts, 1)
		if n == first || n == len(whole) || whole[n-1] == '\n' {
			w.copy().converge() // any cut within a line reads as one before it
		}
	}
}

// synced returns how much of a journal a power loss cannot take: all up to the
// last begin of a resource that may have run.
func synced(text []byte) int {
	at := bytes.LastIndex(text, []byte(`{"kind":"begin"`))
	if at < 0 {
		return 0
	}
	return at + bytes.IndexByte(text[at:], '\n') + 1
}

// plan asks settle what an apply would do; nil for every other world, to save time.
func (w *world) plan() *model.Report {
	if w.seed%2 != 0 {
		return nil
	}
	cmd := exec.Command("settle", "plan", "-o", "json")
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "SETTLE_STATE_DIR="+w.store().Dir)
	out, _ := cmd.Output() // it fails where a command of a killed apply still runs
	report := &model.Report{}
	if err := json.Unmarshal(out, report); err != nil {
		w.fail("plan: %v\n%s", err, out)
		return nil
	}
	w.tally.add(&w.tally.plans, 1)
	return report
}

// planned holds an apply against the plan that was made just before: what ran
// was planned, and all that was planned ran, if all of it was certain and
// succeeded.
func (w *world) planned(plan *model.Report, ran []attempt) {
	if plan == nil {
		return
	}
	started, certain := map[string]bool{}, true
	for _, a := range ran {
		started["exec#"+w.nodes[a.node].name] = true
		certain = certain && a.how == "ok"
	}
	for i := range plan.Resources {
		if plan.Resources[i].Status == model.Failed {
			return // a command of a killed apply was still running: the machine was not ours alone
		}
		certain = certain && plan.Resources[i].Status != model.MayRun
	}
	for i := range plan.Resources {
		o := &plan.Resources[i]
		switch would := o.Status == model.WouldRun || o.Status == model.WouldRefresh; {
		case started[o.ID] && !would && o.Status != model.MayRun:
			w.fail("%s ran, and the plan said %v: %s", o.ID, o.Status, o.Reason)
		case certain && would && !started[o.ID]:
			w.fail("%s did not run, and the plan said %v: %s", o.ID, o.Status, o.Reason)
		}
	}
}
