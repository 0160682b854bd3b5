package file_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// hugeSize is the size of the source, for a longer test than usual.
const hugeSize = "SETTLE_FILE_TEST_MIB"

// A large source goes through in constant memory. SETTLE_FILE_TEST_MIB=2048
// makes it as large as the promise is.
func TestLargeSourceNeedsLittleMemory(t *testing.T) {
	mib := 160
	if text := os.Getenv(hugeSize); text != "" {
		var err error
		if mib, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	source, err := os.Create(filepath.Join(dir, "large"))
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 1<<20)
	for i := range mib {
		block[i%len(block)]++ // no two blocks are alike
		if _, err := source.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := source.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"=huge "+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	t.Logf("%d MiB: %v user, %v system, peak %d MiB", mib, cmd.ProcessState.UserTime(), cmd.ProcessState.SystemTime(), peak)
	if peak > 100 { // the race detector alone takes 60
		t.Errorf("peak %d MiB", peak)
	}
	if !sameFiles(t, filepath.Join(dir, "large"), filepath.Join(dir, "path")) {
		t.Error("the copy differs")
	}
}

func sameFiles(t *testing.T, a, b string) bool {
	t.Helper()
	cmd := exec.Command("cmp", a, b)
	cmd.Stderr = io.Discard
	return cmd.Run() == nil
}
