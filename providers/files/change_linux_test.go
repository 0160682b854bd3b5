package files_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/settle-cm/settle/model/disk"
	"github.com/settle-cm/settle/providers/files"
)

// An edit between the comparison and the rename belongs to another program.
func TestPutKeepsAnEditMadeMeanwhile(t *testing.T) {
	for name, edit := range map[string]func(path string) error{
		"content": func(path string) error { return os.WriteFile(path, []byte("edited"), 0o600) },
		"mode":    func(path string) error { return os.Chmod(path, 0o400) },
		"rename": func(path string) error {
			return errors.Join(os.WriteFile(path+".tmp", []byte("edited"), 0o600), os.Rename(path+".tmp", path))
		},
	} {
		for _, inPlace := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "file")
			write(t, path, "old")
			was, err := files.Look(path)
			must(t, err)
			n := disk.NewFile{Kind: disk.Regular, Mode: bits(0o644), Content: text("new"), Was: &was, InPlace: inPlace}
			if inPlace {
				must(t, edit(path))
			} else {
				n.Ready = func(string) error { return edit(path) }
			}
			done, _, err := files.Put(path, n)
			if done || err == nil || !strings.Contains(err.Error(), "changed it meanwhile") {
				t.Errorf("%s, in place %v: done %v, %v", name, inPlace, done, err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) == "new" {
				t.Errorf("%s, in place %v: the edit is lost", name, inPlace)
			}
		}
	}
}

func TestPutInPlaceKeepsTheInodeOfTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "a long old content")
	must(t, os.Link(path, path+".other"))
	before, err := files.Look(path)
	must(t, err)
	done, _, err := files.Put(path, disk.NewFile{Kind: disk.Regular, Content: text("new"), InPlace: true, Was: &before})
	if !done || err != nil {
		t.Fatal(done, err)
	}
	after, err := files.Look(path)
	must(t, err)
	if got, err := os.ReadFile(path + ".other"); err != nil || string(got) != "new" || after.Inode != before.Inode || after.Mode != before.Mode {
		t.Errorf("%q, %v; before %+v, after %+v", got, err, before, after)
	}
}

func TestPutMakesMissingParents(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "file")
	if _, _, err := files.Put(path, disk.NewFile{Kind: disk.Regular, Content: text("x")}); err == nil {
		t.Fatal("Put makes directories that it was not asked for")
	}
	if _, _, err := files.Put(path, disk.NewFile{Kind: disk.Regular, Content: text("x"), Parents: true}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
}

// A mount below a directory holds files of another file system, or of another
// place: they must neither be removed nor move with the directory.
func TestDirectoryWithAMountBelowIsNotReplacedOrRemoved(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	path, other := filepath.Join(dir, "tree"), filepath.Join(dir, "other")
	must(t, errors.Join(os.MkdirAll(filepath.Join(path, "sub", "mount point"), 0o755), os.Mkdir(other, 0o755)))
	write(t, filepath.Join(other, "precious"), "x")
	write(t, filepath.Join(path, "first"), "x")
	at := filepath.Join(path, "sub", "mount point")
	if err := unix.Mount(other, at, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("may not mount: %v", err)
	}
	_, removeErr := files.Remove(path, true)
	_, _, putErr := files.Put(path, disk.NewFile{Kind: disk.Regular, Content: text("x"), Force: true})
	obstacle := files.Obstacle(path)
	must(t, unix.Unmount(at, 0))
	for name, err := range map[string]error{"remove": removeErr, "put": putErr, "obstacle": obstacle} {
		if err == nil || !strings.Contains(err.Error(), "something is mounted at "+at+", which") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, kept := range []string{filepath.Join(other, "precious"), filepath.Join(path, "first")} {
		if _, err := os.Stat(kept); err != nil {
			t.Error(err)
		}
	}
}

// A hole of a sparse source stays a hole.
func TestCopyOfASparseFileIsSparse(t *testing.T) {
	dir := t.TempDir()
	source, path := filepath.Join(dir, "source"), filepath.Join(dir, "copy")
	const size = 64 << 20
	f, err := os.Create(source)
	must(t, err)
	_, err1 := f.WriteAt([]byte("first"), 0)
	_, err2 := f.WriteAt([]byte("middle"), size/2)
	must(t, errors.Join(err1, err2, f.Truncate(size), f.Close()))
	r, err := os.Open(source)
	must(t, err)
	defer r.Close()
	_, _, err = files.Put(path, disk.NewFile{Kind: disk.Regular, Content: func(w io.Writer) error {
		for {
			if _, err := io.CopyN(w, r, 10<<20); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}})
	must(t, err)
	var from, to unix.Stat_t
	must(t, errors.Join(unix.Stat(source, &from), unix.Stat(path, &to)))
	if from.Blocks*512 >= size {
		t.Skip("this file system has no holes")
	}
	if to.Size != size || to.Blocks > from.Blocks+2048 {
		t.Errorf("%d bytes in %d blocks; the source has %d blocks", to.Size, to.Blocks, from.Blocks)
	}
	a, err1 := os.ReadFile(source)
	b, err2 := os.ReadFile(path)
	must(t, errors.Join(err1, err2))
	if string(a) != string(b) {
		t.Error("the copy differs")
	}
}
