//go:build linux || darwin

package proc

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/settle-cm/settle/model"
)

// BenchmarkTrue is a short command with its output captured.
func BenchmarkTrue(b *testing.B) {
	c := model.Command{Argv: []string{"/bin/true"}, Dir: "/", Env: os.Environ()}
	for b.Loop() {
		if e, err := Run(b.Context(), c); err != nil || e.Code != 0 {
			b.Fatal(e, err)
		}
	}
}

// BenchmarkTrueParallel is the same on all cores.
func BenchmarkTrueParallel(b *testing.B) {
	c := model.Command{Argv: []string{"/bin/true"}, Dir: "/", Env: os.Environ()}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if e, err := Run(b.Context(), c); err != nil || e.Code != 0 {
				b.Error(e, err)
			}
		}
	})
}

// BenchmarkTrueBare measures fork, exec and wait alone.
func BenchmarkTrueBare(b *testing.B) {
	for b.Loop() {
		pid, err := syscall.ForkExec("/bin/true", []string{"/bin/true"}, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
		if err != nil {
			b.Fatal(err)
		}
		if code, sig, err := reap(pid); err != nil || code != 0 || sig != "" {
			b.Fatal(code, sig)
		}
	}
}

// BenchmarkOutput is one command that writes 500 MB, with and without a listener.
func BenchmarkOutput(b *testing.B) {
	const size = 500_000_000
	for _, line := range []int{80, 1000, 1 << 20} {
		for _, listen := range []bool{false, true} {
			b.Run(fmt.Sprintf("line=%d/listen=%v", line, listen), func(b *testing.B) {
				c := model.Command{
					Argv: []string{"/bin/sh", "-c", fmt.Sprintf("yes %s | head -c %d", strings.Repeat("x", min(line, 100000)-1), size)},
					Dir:  "/", Env: os.Environ(),
				}
				n := 0
				if listen {
					c.Output = func(line []byte) { n += len(line) }
				}
				b.SetBytes(size)
				for b.Loop() {
					if e, err := Run(b.Context(), c); err != nil || e.Code != 0 || !e.Truncated {
						b.Fatal(e, err)
					}
				}
				b.ReportMetric(float64(peak(b))/1024, "MiB-RSS")
			})
		}
	}
}

// peak returns the largest resident set so far, in KiB.
func peak(b *testing.B) int64 {
	b.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return int64(use.Maxrss)
}
