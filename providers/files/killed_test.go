//go:build linux || darwin

package files_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model/disk"
	"github.com/settle-cm/settle/providers/files"
)

// Remains of a killed run are seen, and swept or overwritten.
func TestRemainsOfAKilledRunAreRemoved(t *testing.T) {
	t.Parallel()
	dir := lay(t)
	path := filepath.Join(dir, "file")
	left := filepath.Join(dir, ".file.settle-new")
	clean := tree(t, dir)
	lays := map[string]func() error{
		"a file":      func() error { return os.WriteFile(left, []byte("half"), 0o000) },
		"a link":      func() error { return os.Symlink("dir", left) },
		"a directory": func() error { return os.MkdirAll(filepath.Join(left, "a", "b"), 0o700) },
	}
	for what, lay := range lays {
		for how, sweep := range map[string]func() error{
			"sweep": func() error { return files.Sweep(path) },
			"put": func() error {
				_, _, err := files.Put(path, disk.NewFile{Kind: disk.Regular, Content: text("old"), Mode: bits(0o600)})
				return err
			},
		} {
			if err := lay(); err != nil {
				t.Fatal(err)
			}
			if found, err := files.Look(path); err != nil || found.Remains != left {
				t.Errorf("%s: Look = %+v, %v", what, found, err)
			}
			if err := sweep(); err != nil {
				t.Errorf("%s: %s: %v", what, how, err)
			}
			if diff := cmp.Diff(clean, tree(t, dir)); diff != "" {
				t.Errorf("%s: %s: %s", what, how, diff)
			}
		}
	}
}

// Two runs that write the same path at once do not mix: one of them says that
// the other is at it.
func TestSecondWriterIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	var second error
	_, _, err := files.Put(path, disk.NewFile{Kind: disk.Regular, Content: text("first"), Ready: func(string) error {
		_, _, second = files.Put(path, disk.NewFile{Kind: disk.Regular, Content: text("second")})
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if second == nil || !strings.Contains(second.Error(), "another run is writing it") {
		t.Errorf("second writer: %v", second)
	}
	if content, _ := os.ReadFile(path); string(content) != "first" {
		t.Errorf("content: %q", content)
	}
}

// Who looks at a new file may also execute it: nobody writes to it any more.
func TestReadyCanExecuteTheNewFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "program")
	_, _, err := files.Put(path, disk.NewFile{
		Kind: disk.Regular, Mode: bits(0o755), Content: text("#!/bin/sh\nexit 0\n"),
		Ready: func(path string) error { return exec.Command(path).Run() },
	})
	if err != nil {
		t.Error(err)
	}
}

// Who looks at a new file may not change it: it would not be what is declared.
func TestPutFailsWhenReadyChangesTheFile(t *testing.T) {
	t.Parallel()
	for name, look := range map[string]func(path string) error{
		"write": func(path string) error { return os.WriteFile(path, []byte("other"), 0o600) },
		"replace": func(path string) error {
			return errors.Join(os.WriteFile(path+"+", []byte("new"), 0o600), os.Rename(path+"+", path))
		},
		"remove": os.Remove,
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := files.Put(path, disk.NewFile{Kind: disk.Regular, Content: text("new"), Ready: look})
		if err == nil || !strings.Contains(err.Error(), "was changed or removed by the check") {
			t.Errorf("%s: %v", name, err)
		}
		if content, _ := os.ReadFile(path); string(content) != "old" {
			t.Errorf("%s: content %q", name, content)
		}
	}
}

// What appears while something new is made is never removed without force.
func TestPutKeepsADirectoryMadeMeanwhile(t *testing.T) {
	t.Parallel()
	for _, kind := range []disk.Kind{disk.Directory, disk.Regular} {
		path := filepath.Join(t.TempDir(), "x")
		precious := filepath.Join(path, "precious")
		_, _, err := files.Put(path, disk.NewFile{Kind: kind, Ready: func(string) error {
			return errors.Join(os.Mkdir(path, 0o755), os.WriteFile(precious, nil, 0o600))
		}})
		if err == nil || !strings.Contains(err.Error(), "another process has created it meanwhile") {
			t.Errorf("%s: %v", kind, err)
		}
		if _, err := os.Stat(precious); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if names, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(names) > 0 {
			t.Errorf("%s: left %q", kind, names)
		}
	}
}

// versions are two contents that cannot be taken for each other, or for half of one.
func versions() [2][]byte {
	return [2][]byte{bytes.Repeat([]byte("a"), 300_000), bytes.Repeat([]byte("b"), 500_000)}
}

func writeForEver(path string) {
	for i := 0; ; i++ {
		content := versions()[i%2]
		_, _, err := files.Put(path, disk.NewFile{
			Kind: disk.Regular, Mode: bits(0o640),
			Content: func(w io.Writer) error { _, err := w.Write(content); return err },
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if i == 0 {
			fmt.Println("writing")
		}
	}
}

// Killed at any instant while a file takes the place of a directory, or a
// directory that of a file, one of them stands there.
func TestKillWhileADirectoryIsReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "path")
	kills := 0
	for until := time.Now().Add(4 * time.Second); kills < 10 || time.Now().Before(until) && kills < 100; kills++ {
		kill(t, "swapper", path, time.Duration(rand.IntN(4000))*time.Microsecond)
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatalf("after kill %d: %v", kills, err)
		}
		if content, err := os.ReadFile(path); !info.IsDir() && string(content) != "file" {
			t.Fatalf("after kill %d: %q, %v", kills, content, err)
		}
	}
	if _, _, err := files.Put(path, disk.NewFile{Kind: disk.Regular, Content: text("last"), Force: true}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"path": "0644 last"}, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
	t.Logf("%d kills", kills)
}

func swapForEver(path string) {
	for i := 0; ; i++ {
		kind := []disk.Kind{disk.Directory, disk.Regular}[i%2]
		_, _, err := files.Put(path, disk.NewFile{Kind: kind, Content: text("file"), Force: true})
		if kind == disk.Directory {
			_ = os.MkdirAll(filepath.Join(path, "with", "something", "in it"), 0o755) // so that it takes a while to remove
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if i == 0 {
			fmt.Println("writing")
		}
	}
}

// Killed at any instant, a writer leaves one whole version, and what it was
// making is gone after the next one.
func TestKillAtAnyInstantLeavesAWholeFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	kills, remains := 0, 0
	for until := time.Now().Add(8 * time.Second); kills < 300 && (remains == 0 || time.Now().Before(until)); kills++ {
		kill(t, "writer", path, time.Duration(rand.IntN(6000))*time.Microsecond)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if v := versions(); !bytes.Equal(content, v[0]) && !bytes.Equal(content, v[1]) || info.Mode().Perm() != 0o640 {
			t.Fatalf("after kill %d: %d bytes, mode %v", kills, len(content), info.Mode())
		}
		if found, err := files.Look(path); err != nil {
			t.Fatal(err)
		} else if found.Remains != "" {
			remains++
		}
	}
	if _, _, err := files.Put(path, disk.NewFile{Kind: disk.Regular, Content: text("last")}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"file": "0644 last"}, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
	if t.Logf("%d kills, %d of them while writing", kills, remains); remains == 0 {
		t.Error("none came while it wrote")
	}
}

func kill(t *testing.T, what, path string, after time.Duration) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"="+what+" "+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("writing\n"))); err != nil {
		t.Errorf("the writer did not begin: %v", err)
	}
	time.Sleep(after) // the instant itself is what is tried, nothing waits for it
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}
