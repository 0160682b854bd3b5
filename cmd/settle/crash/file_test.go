//go:build linux

package crash

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
)

// edited is a directory with a manifest of files, in versions.
type edited struct {
	*testing.T
	dir string
}

// write writes a version of the manifest, and of the sources of its files.
func (e *edited) write(version int) {
	e.Helper()
	var text strings.Builder
	text.WriteString("name: edited\nparallel: 2\nresources:\n  - file:\n")
	text.WriteString("      - tree: {path: tree, source: src, recurse: true}\n      - copy: {path: copy, source: src/one}\n")
	for i := range 30 {
		fmt.Fprintf(&text, "      - f%d: {path: dir/f%d, content: version %d, mode: \"06%o0\"}\n", i, i, version, 4+version%2)
	}
	text.WriteString("      - dir: {path: dir, ensure: directory}\n")
	for name, content := range map[string]string{"settle.yaml": text.String(), "src/one": fmt.Sprint("one ", version), "src/two": fmt.Sprint("two ", version)} {
		if err := os.WriteFile(filepath.Join(e.dir, name), []byte(content), 0o644); err != nil {
			e.Fatal(err)
		}
	}
}

func (e *edited) settle(args ...string) *exec.Cmd {
	cmd := exec.Command("settle", append(args, "--state-dir", filepath.Join(e.dir, "state"), "settle.yaml")...)
	cmd.Dir = e.dir
	return cmd
}

// reasons plans, and counts the resources that differ by what is said of whose
// doing that is. Of a tree whose source changed nothing is known anyway.
func (e *edited) reasons() (outside, manifest, unknown int) {
	e.Helper()
	out, err := e.settle("plan", "-o", "json").Output()
	var report model.Report
	if err == nil {
		err = json.Unmarshal(out, &report)
	}
	if err != nil {
		e.Fatalf("plan: %v\n%s", err, out)
	}
	for i := range report.Resources {
		switch o := &report.Resources[i]; {
		case o.Status == model.Stable:
		case strings.Contains(o.Reason, "outside"):
			outside++
			e.Logf("%s: %s", o.ID, o.Reason)
		case strings.Contains(o.Reason, "manifest changed"), strings.Contains(o.Reason, "source changed"):
			manifest++
		case o.Name != "tree":
			unknown++
		}
	}
	return outside, manifest, unknown
}

// written waits until a file holds a version.
func (e *edited) written(version, n int, deadline time.Time) {
	e.Helper()
	want := fmt.Sprint("version ", version)
	for time.Now().Before(deadline) {
		if text, err := os.ReadFile(filepath.Join(e.dir, "dir", fmt.Sprint("f", n))); err == nil && string(text) == want {
			return
		}
		runtime.Gosched()
	}
	e.Fatalf("no version %d of file %d in a minute", version, n)
}

// Killed at whatever instant, settle takes nothing of what it wrote itself for
// somebody else's doing; and knows all again after a run that comes to its end.
func TestAKilledRunBlamesNobody(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	t.Parallel()
	e := &edited{t, t.TempDir()}
	if err := os.Mkdir(filepath.Join(e.dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	version := 1
	for ; version < 3; version++ {
		e.write(version)
		if out, err := e.settle("apply").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	kills, halfway := 0, 0
	for deadline := time.Now().Add(2 * time.Minute); halfway < 5 && !t.Failed(); version++ {
		if time.Now().After(deadline) {
			t.Fatalf("%d kills, of which only %d came while files were written", kills, halfway)
		}
		e.write(version)
		cmd := e.settle("apply")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		e.written(version, rng.IntN(25), time.Now().Add(time.Minute))
		_ = cmd.Process.Kill() // it may be over already
		if cmd.Wait() != nil {
			kills++
		}
		e.write(version + 1)
		outside, manifest, unknown := e.reasons()
		if outside > 0 {
			t.Errorf("version %d: %d files are said to be changed outside", version, outside)
		}
		if manifest > 0 && unknown > 0 {
			halfway++
		}
	}
	if out, err := e.settle("apply").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(e.dir, "dir/f7"), []byte("edited"), 0o644); err != nil {
		t.Fatal(err)
	}
	if outside, manifest, unknown := e.reasons(); outside != 1 || manifest+unknown > 0 {
		t.Errorf("in the end: %d changed outside, %d by the manifest, %d unknown; want the one", outside, manifest, unknown)
	}
	t.Logf("%d kills, %d of them half way", kills, halfway)
}
