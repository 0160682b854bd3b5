//go:build unix

package file_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
)

// wish is one random declaration of a path, with what has to stand there after it.
type wish struct{ properties, want string }

func randomWish(r *rand.Rand) wish {
	mode := func() string { return fmt.Sprintf("%04o", 0o400|r.IntN(0o1000)) }
	switch r.IntN(5) {
	case 0:
		return wish{"ensure: absent", ""}
	case 1:
		m := fmt.Sprintf("%04o", 0o700|r.IntN(0o1000))
		return wish{fmt.Sprintf("ensure: directory, mode: %q", m), m + "/"}
	case 2:
		target := fmt.Sprint("target", r.IntN(3))
		return wish{"ensure: link, target: " + target, "→ " + target}
	case 3:
		m, size := mode(), []int{0, 1, 65535, 65536, 65537, 200_000}[r.IntN(6)]
		content := strings.Repeat("x", size)
		return wish{fmt.Sprintf("content: %q, mode: %q", content, m), m + " " + content}
	}
	m := mode()
	return wish{fmt.Sprintf("source: src/%d, mode: %q", r.IntN(3), m), m + " source"}
}

// Whatever stands there and whatever is declared: plan says what apply does,
// after it all is as declared, and the next one finds nothing to do.
func TestRandomFilesConverge(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := os.WriteFile(filepath.Join(dir, "src", fmt.Sprint(i)), []byte("source"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		var yaml strings.Builder
		yaml.WriteString("defaults: {file: {force: true}}\nresources:\n- file:\n")
		wishes := map[string]wish{}
		for i := range 8 {
			path := filepath.Join(dir, fmt.Sprint("path", i))
			wishes["file#"+path] = randomWish(r)
			fmt.Fprintf(&yaml, "    - %s: {%s}\n", path, wishes["file#"+path].properties)
			disturb(t, r, path)
		}
		planned := walk(t, dir, yaml.String(), engine.Preview)
		applied := walk(t, dir, yaml.String(), engine.Apply)
		again := walk(t, dir, yaml.String(), engine.Apply)
		for i := range applied {
			p, a, id := &planned[i], &applied[i], applied[i].ID
			if p.Reason != a.Reason || (p.Status == model.WouldRun) != (a.Status == model.Changed) || a.Status == model.Failed {
				t.Errorf("%s: planned %s: %s, then %s: %s", id, p.Status, p.Reason, a.Status, a.Reason)
			}
			if got := standing(t, strings.TrimPrefix(id, "file#")); got != wishes[id].want {
				t.Errorf("%s: %.40q; want %.40q", id, got, wishes[id].want)
			}
			if again[i].Status != model.Stable {
				t.Errorf("%s: again %s: %s", id, again[i].Status, again[i].Reason)
			}
		}
	}
}

// disturb changes what stands at a path behind settle's back, now and then.
func disturb(t *testing.T, r *rand.Rand, path string) {
	t.Helper()
	var err error
	switch r.IntN(6) {
	case 0:
		err = os.RemoveAll(path)
	case 1:
		if info, statErr := os.Lstat(path); statErr == nil && info.Mode()&os.ModeSymlink == 0 {
			err = os.Chmod(path, os.FileMode(0o700|r.IntN(0o1000)))
		}
	case 2:
		if err = os.RemoveAll(path); err == nil {
			err = os.MkdirAll(filepath.Join(path, "deep", "er"), 0o755)
		}
	case 3:
		if err = os.RemoveAll(path); err == nil {
			err = os.WriteFile(path, []byte(strings.Repeat("y", r.IntN(100_000))), 0o644)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Trees with random modes and names are copied whole, and once.
func TestRandomTreesAreCopied(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 10 {
		dir := t.TempDir()
		want := plant(t, r, filepath.Join(dir, "src"), 3)
		if err := os.Mkdir(filepath.Join(dir, "path"), 0o755); err != nil {
			t.Fatal(err)
		}
		if o := one(t, dir, "source: src, recurse: true, force: true", engine.Apply); o.Status == model.Failed {
			t.Fatal(o.Reason)
		}
		for rel, what := range want {
			if got := standing(t, filepath.Join(dir, "path", rel)); got != what {
				t.Errorf("%q: %.40q; want %.40q", rel, got, what)
			}
		}
		if o := one(t, dir, "source: src, recurse: true, force: true", engine.Apply); o.Status != model.Stable {
			t.Errorf("again %s: %s", o.Status, o.Reason)
		}
	}
}

// plant makes a random tree and says what a copy of it looks like.
func plant(t *testing.T, r *rand.Rand, dir string, depth int) map[string]string {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for i := range r.IntN(6) {
		name := []string{"plain", "with space", "ünï", "-dash", "new\nline", "%", "\xff"}[r.IntN(7)] + fmt.Sprint(i)
		path := filepath.Join(dir, name)
		var err error
		switch kind := r.IntN(3); {
		case kind == 0 && depth > 0:
			want[name] = "0700/"
			for rel, what := range plant(t, r, path, depth-1) {
				want[filepath.Join(name, rel)] = what
			}
		case kind == 1:
			want[name] = "→ ../" + name
			err = os.Symlink("../"+name, path)
		default:
			mode, content := os.FileMode(0o400|r.IntN(0o1000)), strings.Repeat("z", r.IntN(70_000))
			want[name] = fmt.Sprintf("%04o %s", mode&^0o022, content)
			err = os.WriteFile(path, []byte(content), 0o600)
			if err == nil {
				err = os.Chmod(path, mode)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return want
}
