// Package settletest supports tests that run settle from outside, as a process of
// its own. Only tests import it.
package settletest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Update is the flag -update: tests that compare a text with a file rewrite the file.
var Update = flag.Bool("update", false, "rewrite the expected texts")

// buildLimit bounds the build of settle: a busy machine takes a minute or two.
const buildLimit = 8 * time.Minute

// Main is the TestMain of a package that runs settle. It builds the program once,
// puts it first on PATH, runs the tests of m and exits. top is the path of the
// repository, seen from the package.
func Main(m *testing.M, top string) { main(m, top, "bin") }

// MainWithRaceDetector does the same, with the race detector in the program when
// the tests are built with it. The program then takes three times as long.
func MainWithRaceDetector(m *testing.M, top string) { main(m, top, raceFolder) }

// MainWithBoth does what Main does, and builds the program with the race detector
// as well. RaceDir names the folder of that one.
func MainWithBoth(m *testing.M, top string) { main(m, top, "bin", raceFolder) }

// RaceDir returns the folder of the program with the race detector. It is the folder
// of the plain program when the tests are built without the detector.
func RaceDir() string { return raceDir }

var raceDir string

func main(m *testing.M, top string, folders ...string) {
	flag.Parse()
	// These tests mostly wait for processes and timeouts, so more of them than there
	// are processors run at once. A -parallel on the command line wins.
	parallel := false
	flag.Visit(func(f *flag.Flag) { parallel = parallel || f.Name == "test.parallel" })
	if !parallel {
		_ = flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))) // the flag exists
	}
	os.Exit(mainCode(m, top, folders))
}

func mainCode(m *testing.M, top string, folders []string) int {
	dir, err := tempDir()
	if err != nil {
		fmt.Fprintf(os.Stderr, "make a directory for the tests: %v\n", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }() // a directory below TMPDIR
	err = watchSources(top)
	for _, folder := range slices.Compact(folders) {
		err = errors.Join(err, build(top, filepath.Join(dir, folder), folder == "race"))
	}
	raceDir = filepath.Join(dir, raceFolder)
	if err := errors.Join(err, isolate(dir, folders[0])); err != nil {
		fmt.Fprintf(os.Stderr, "build settle for the tests: %v\n", err)
		return 1
	}
	code := m.Run()
	if left, err := os.ReadDir(os.Getenv("HOME")); code == 0 && (err != nil || len(left) > 0) {
		fmt.Fprintf(os.Stderr, "a test wrote into HOME, or removed it: %v %v\n", left, err)
		return 1
	}
	return code
}

// tempDir returns a directory with home in it that other users can enter:
// some tests run settle as another user.
func tempDir() (string, error) {
	if os.Geteuid() == 0 && !open(os.TempDir()) {
		if err := os.Setenv("TMPDIR", "/tmp"); err != nil {
			return "", err
		}
	}
	dir, err := os.MkdirTemp("", "settletest")
	if err != nil {
		return "", err
	}
	return dir, errors.Join(os.Chmod(dir, 0o755), os.Mkdir(filepath.Join(dir, "home"), 0o700))
}

// open reports whether every user can enter a directory.
func open(dir string) bool {
	for {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return true
		}
		dir = parent
	}
}

// isolate puts the program first on PATH and gives the tests a home directory of
// their own, one locale and one time zone. Variables that change what settle does
// or prints are removed: a CI system or a person may have set them.
func isolate(dir, folder string) error {
	setUmask(0o022)
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		for _, prefix := range []string{"SETTLE_", "XDG_", "GITHUB_", "GITLAB_", "CI", "CLICOLOR", "NO_COLOR", "LC_", "LANG", "TMUX"} {
			if strings.HasPrefix(name, prefix) {
				_ = os.Unsetenv(name) // the name comes from the environment
			}
		}
	}
	return errors.Join(
		os.Setenv("PATH", filepath.Join(dir, folder)+string(os.PathListSeparator)+os.Getenv("PATH")),
		os.Setenv("HOME", filepath.Join(dir, "home")),
		os.Setenv("LC_ALL", "C.UTF-8"),
		os.Setenv("TZ", "UTC"),
	)
}

// waitfor is a program for scripts, beside settle: no wait in them is without a bound.
const waitfor = `#!/bin/sh
end=$(($(date +%s) + 60))
until "$@"; do
  if [ "$(date +%s)" -ge $end ]; then
    echo "waitfor $*: it did not succeed within a minute" >&2
    exit 1
  fi
  sleep 0.01
done
`

// build makes the folder dir with the program and waitfor in it.
func build(top, dir string, race bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "waitfor"), []byte(waitfor), 0o755); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), buildLimit)
	defer cancel()
	args := []string{"build", "-buildvcs=false", "-o", dir + string(filepath.Separator)}
	if race {
		args = append(args, "-race")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/settle")...)
	cmd.Dir = top
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// watchSources reads the directories of the program's sources. `go test` keeps the
// results of a package for as long as the files that its tests looked at stay the
// same; it cannot see which files the build of settle looks at.
func watchSources(top string) error {
	for _, dir := range []string{"cmd", "manifests", "model", "providers", "resources"} {
		err := filepath.WalkDir(filepath.Join(top, dir), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && !strings.HasSuffix(path, "_test.go") {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	_, errMod := os.Stat(filepath.Join(top, "go.mod"))
	_, errSum := os.Stat(filepath.Join(top, "go.sum"))
	return errors.Join(errMod, errSum)
}

// WaitUntil calls done every 5 ms until it returns true, and stops the test with
// the message after a minute.
func WaitUntil(t *testing.T, message string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: it did not happen within a minute", message)
		}
	}
}
