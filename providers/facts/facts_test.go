package facts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"testing"
)

func TestGatherReturnsFacts(t *testing.T) {
	data, err := Gather(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var f facts
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if f.Hostname != name || f.OS.Name != runtime.GOOS {
		t.Errorf("this machine is %s, %s: gathered %s", name, runtime.GOOS, data)
	}
	if runtime.GOOS == "linux" && (f.Kernel.Release == "" || f.CPU.Count == 0 || f.Memory.Total == 0 || len(f.Network) == 0) {
		t.Errorf("something is missing: %s", data)
	}
}

// A plan and an apply, or two runs, tell a helper the same.
func TestFactsAreTheSameAtEveryCall(t *testing.T) {
	first, err := Gather(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := Gather(t.Context())
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("first\n%s\nthen\n%s\n%v", first, again, err)
	}
}

func TestGatherEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	stop(why)
	if _, err := Gather(ctx); err != nil && !errors.Is(err, why) { // it may be faster
		t.Error(err)
	}
}

func BenchmarkGather(b *testing.B) {
	for b.Loop() {
		if _, err := Gather(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
