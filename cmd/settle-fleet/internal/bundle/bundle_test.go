package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// makeFiles writes files below a new directory; a name with / at its end is a directory.
func makeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var site = map[string]string{"settle.yaml": "name: a\nresources: []\n", "common.yaml": "a: 1\n", "hosts/a.yaml": "b: 1\n", "hosts/b.yaml": "b: 2\n", "hosts/b.yaml.old": "", "files/run.sh": "#!/bin/sh\n", ".git/config": "secret"}

func packed(t *testing.T, dir string) ([]byte, Info) {
	t.Helper()
	var out bytes.Buffer
	info, err := Pack(dir, &out, DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), info
}

func TestSameFilesGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	first, second := makeFiles(t, site), makeFiles(t, site)
	old := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(second, "settle.yaml"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(second, "common.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, infoA := packed(t, first)
	b, infoB := packed(t, second)
	if !bytes.Equal(a, b) || infoA != infoB {
		t.Errorf("%v and %v differ", infoA, infoB)
	}
	if err := os.Chmod(filepath.Join(second, "files/run.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if c, _ := packed(t, second); bytes.Equal(a, c) {
		t.Error("an executable file is packed as one that is not")
	}
}

func unpackInto(t *testing.T, text []byte, machine string, limits Limits) (string, error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return dir, Unpack(bytes.NewReader(text), root, machine, limits)
}

func TestUnpackLeavesOutOtherMachines(t *testing.T) {
	t.Parallel()
	dir := makeFiles(t, site)
	if err := os.Symlink("../settle.yaml", filepath.Join(dir, "files", "link")); err != nil {
		t.Fatal(err)
	}
	text, _ := packed(t, dir)
	tree, err := unpackInto(t, text, "a", DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"hosts/a.yaml": true, "hosts/b.yaml": false, "hosts/b.yaml.old": false, "common.yaml": true, "files/link": true, ".git": false} {
		if _, err := os.Lstat(filepath.Join(tree, name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
	root, err := os.OpenRoot(tree)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if got := strings.Join(ValueFiles(root, "a", map[string]string{"z": "1"}), " "); got != "common.yaml hosts/a.yaml" {
		t.Errorf("value files %s", got)
	}
}

func TestPackRefuses(t *testing.T) {
	t.Parallel()
	small := Limits{Packed: 1 << 20, Unpacked: 20, Entries: 3}
	for name, c := range map[string]struct {
		files map[string]string
		link  string
		want  string
	}{
		"no manifest":     {map[string]string{"a": ""}, "", "there is no settle.yaml or manifest.yaml at the top"},
		"too many":        {map[string]string{"settle.yaml": "", "a": "", "b": "", "c": ""}, "", "settle.yaml: a bundle holds at most 3 entries"},
		"too large":       {map[string]string{"settle.yaml": strings.Repeat("x", 21)}, "", "settle.yaml: a bundle holds at most 20 bytes"},
		"link outside":    {map[string]string{"settle.yaml": ""}, "../x", `link: the link to "../x" leads out of the bundle`},
		"absolute link":   {map[string]string{"settle.yaml": ""}, "/etc/passwd", `link: the link to "/etc/passwd" leads out of the bundle`},
		"link through it": {map[string]string{"settle.yaml": ""}, "a/../b", `link: the link to "a/../b" leads out of the bundle`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := makeFiles(t, c.files)
			if c.link != "" {
				if err := os.Symlink(c.link, filepath.Join(dir, "link")); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Pack(dir, io.Discard, small)
			if err == nil || err.Error() != "pack "+dir+": "+c.want {
				t.Errorf("says %v", err)
			}
		})
	}
	if _, err := Pack(makeFiles(t, site), io.Discard, Limits{Packed: 10, Unpacked: 1 << 20, Entries: 100}); err == nil || !strings.HasSuffix(err.Error(), "a packed bundle has at most 10 bytes") {
		t.Errorf("says %v", err)
	}
}

// archive makes a tar.gz of entries that Pack would never write.
func archive(t *testing.T, entries ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	writer := tar.NewWriter(compressed)
	manifest := tar.Header{Name: "settle.yaml", Typeflag: tar.TypeReg, Mode: 0o644}
	for _, header := range append([]tar.Header{manifest}, entries...) {
		content := strings.Repeat("x", int(header.Size))
		if err := writer.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(writer, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestUnpackRefuses(t *testing.T) {
	t.Parallel()
	file := func(name string) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeReg, Size: 1, Mode: 0o644}
	}
	link := func(name, target string) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target}
	}
	dir := tar.Header{Name: "d/", Typeflag: tar.TypeDir}
	whole := archive(t)
	damaged := bytes.Clone(whole)
	damaged[len(damaged)-6] ^= 1 // of the checksum
	for name, c := range map[string]struct {
		text []byte
		want string
	}{
		"a path that leaves":         {archive(t, file("../evil")), "../evil: the name leads out of the bundle"},
		"an absolute path":           {archive(t, file("/tmp/evil")), "/tmp/evil: the name leads out of the bundle"},
		"a path that is not clean":   {archive(t, dir, file("d/../evil")), "d/../evil: the name leads out of the bundle"},
		"a file through a link":      {archive(t, link("l", "."), file("l/evil")), "l/evil: its directory is not in the bundle before it"},
		"a file without a directory": {archive(t, file("d/evil")), "d/evil: its directory is not in the bundle before it"},
		"a link that leaves":         {archive(t, dir, link("d/l", "../../x")), `d/l: the link to "../../x" leads out of the bundle`},
		"a hard link":                {archive(t, tar.Header{Name: "h", Typeflag: tar.TypeLink, Linkname: "settle.yaml"}), `h: entries of type '1' are not allowed`},
		"a device":                   {archive(t, tar.Header{Name: "n", Typeflag: tar.TypeChar}), `n: entries of type '3' are not allowed`},
		"a second file of one name":  {archive(t, file("settle.yaml")), "settle.yaml: stands twice in the bundle"},
		"a control character":        {archive(t, file("a\x1bb")), "a\x1bb: the name is not plain UTF-8 text"},
		"too many bytes":             {archive(t, tar.Header{Name: "big", Typeflag: tar.TypeReg, Size: 101}), "big: a bundle holds at most 100 bytes"},
		"too many entries":           {archive(t, file("a"), file("b"), file("c"), file("d"), file("e")), "e: a bundle holds at most 5 entries"},
		"a wrong checksum":           {damaged, "gzip: invalid checksum"},
		"an archive that is cut":     {whole[:len(whole)-9], "unexpected EOF"},
		"bytes behind it":            {append(bytes.Clone(whole), 'x'), "bytes follow the archive"},
		"no archive":                 {[]byte("hello"), "unexpected EOF"},
		"a manifest that is no file": {archive(t)[:0], "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, err := unpackInto(t, c.text, "a", Limits{Packed: 1 << 20, Unpacked: 100, Entries: 5})
			if err == nil || err.Error() != "unpack bundle: "+c.want {
				t.Errorf("says %v", err)
			}
			if outside, _ := filepath.Glob(filepath.Join(filepath.Dir(tree), "*")); len(outside) != 1 {
				t.Errorf("it wrote %v", outside)
			}
		})
	}
}

// FuzzUnpack looks for an archive that makes Unpack write outside, or panic.
func FuzzUnpack(f *testing.F) {
	t := &testing.T{}
	f.Add(archive(t, tar.Header{Name: "d/", Typeflag: tar.TypeDir}, tar.Header{Name: "d/l", Typeflag: tar.TypeSymlink, Linkname: "../settle.yaml"}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, text []byte) {
		tree, _ := unpackInto(t, text, "a", Limits{Packed: 1 << 16, Unpacked: 1 << 16, Entries: 20})
		if outside, _ := filepath.Glob(filepath.Join(filepath.Dir(tree), "*")); len(outside) != 1 {
			t.Errorf("it wrote %v", outside)
		}
	})
}
