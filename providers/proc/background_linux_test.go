package proc

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
)

// TestRunLeavesNoDescriptorsOrProcesses runs many short commands of all kinds.
func TestRunLeavesNoDescriptorsOrProcesses(t *testing.T) {
	const workers, each = 8, 1250
	warm := sh("exit 0")
	if _, err := Run(t.Context(), warm); err != nil {
		t.Fatal(err)
	}
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	done := make(chan error)
	for w := range workers {
		go func() {
			var failed error
			for i := range each {
				ctx, cancel := context.WithCancel(context.Background())
				c := sh("exit 5")
				switch (w + i) % 8 {
				case 0:
					c.Output = func([]byte) {}
				case 1:
					c.Argv = []string{"/nonexistent"}
				case 2:
					c.Argv = []string{"/bin/sh", "-c", "kill -9 $$"}
				case 3:
					c.Stdin = []byte("x")
				case 4:
					if i%50 == 4 {
						c = sh("sleep 10")
						c.Timeout = 5 * time.Millisecond
					}
				case 5:
					if i%50 == 5 {
						c = sh("sleep 10")
						c.Started = func(model.Process) error { cancel(); return nil }
					}
				case 6:
					c.Dir = "/nonexistent"
				}
				e, err := Run(ctx, c)
				if (err == nil) != (e.Began && (e.Code == 5 || e.Signal == "SIGKILL")) {
					failed = fmt.Errorf("%v: %v, %w", c.Argv, e, err)
				}
				cancel()
			}
			done <- failed
		}()
	}
	for range workers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	until(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
	if now := descriptors(t); now > files+2*workers { // a waker a worker, kept for the next
		t.Errorf("%d descriptors became %d", files, now)
	}
	for _, pid := range listPIDs() {
		if s, ok := readStat(pid); ok && s.parent == os.Getpid() && s.isDead() {
			t.Errorf("zombie %d", pid)
		}
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}
