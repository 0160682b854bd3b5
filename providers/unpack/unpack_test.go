package unpack

import (
	"archive/tar"
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unpackTar unpacks the entries of a tar archive that is made byte by byte, into
// a directory beside a file that must stay as it is.
func unpackTar(t *testing.T, o Options, headers ...tar.Header) (dir string, r Result, err error) {
	t.Helper()
	dir = t.TempDir()
	file, createErr := os.Create(filepath.Join(dir, "a.tar"))
	if createErr != nil {
		t.Fatal(createErr)
	}
	defer file.Close()
	w := tar.NewWriter(file)
	for i := range headers {
		h := headers[i]
		content := h.Uname // of these tests only
		h.Uname, h.Size = "", int64(len(content))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	o.Format = "tar"
	r, err = unpackFile(t, dir, file, o)
	return dir, r, err
}

func unpackFile(t *testing.T, dir string, file *os.File, o Options) (Result, error) {
	t.Helper()
	into := filepath.Join(dir, "tree")
	if err := os.Mkdir(into, 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(into)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return Unpack(t.Context(), file, root, o)
}

func plainFile(name string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Uname: "text"}
}

func link(name, target string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target}
}

func TestAttacksAreRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		entries []tar.Header
		want    string
	}{
		"an absolute name":              {[]tar.Header{plainFile("/etc/x")}, "absolute"},
		"a name that leads out":         {[]tar.Header{plainFile("../x")}, "leads out"},
		"a name that leads out inside":  {[]tar.Header{plainFile("a/../../x")}, "leads out"},
		"a name through a link":         {[]tar.Header{link("l", "."), plainFile("l/x")}, "link or a file"},
		"an absolute link":              {[]tar.Header{link("l", "/etc")}, "may lead out"},
		"a link that leads out":         {[]tar.Header{link("a/l", "../../x")}, "may lead out"},
		"a link through a link":         {[]tar.Header{link("d", "."), link("e", "d/d/../..")}, "may lead out"},
		"a hard link that leads out":    {[]tar.Header{{Name: "h", Typeflag: tar.TypeLink, Linkname: "../x"}}, "leads out"},
		"a hard link to a link":         {[]tar.Header{link("l", "x"), {Name: "h", Typeflag: tar.TypeLink, Linkname: "l"}}, "no file before"},
		"a device":                      {[]tar.Header{{Name: "n", Typeflag: tar.TypeChar}}, "device"},
		"a pipe":                        {[]tar.Header{{Name: "p", Typeflag: tar.TypeFifo}}, "pipe"},
		"more bytes than allowed":       {[]tar.Header{plainFile("a"), plainFile("b"), plainFile("c")}, "more than 10 bytes"},
		"more entries than allowed":     {[]tar.Header{link("a", "x"), link("b", "x"), link("c", "x"), link("d", "x"), link("e", "x")}, "more than 4 entries"},
		"no entry":                      {nil, "no entry"},
		"a directory that becomes link": {[]tar.Header{plainFile("d/x"), link("d", ".")}, "directory before"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := unpackTar(t, Options{MaxEntries: 4, MaxBytes: 10}, tt.entries...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestDangerousBitsAreDroppedWithAWarning(t *testing.T) {
	t.Parallel()
	h := plainFile("top/bin/su")
	h.Mode, h.Uid = 0o6777, 4711
	dir, r, err := unpackTar(t, Options{Strip: 1}, h, plainFile("outside"))
	if err != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "bin/su") {
		t.Fatalf("%+v, %v", r, err)
	}
	info, err := os.Stat(filepath.Join(dir, "tree", "bin", "su"))
	if err != nil || info.Mode() != 0o755 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "tree", "outside")); err == nil {
		t.Error("an entry with fewer elements than strip is unpacked")
	}
}

func TestZipIsUnpacked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "a.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := zip.NewWriter(file)
	f, err := w.Create("d/x")
	if err == nil {
		_, err = f.Write([]byte("text"))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unpackFile(t, dir, file, Options{Format: "zip"}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "tree", "d", "x")); string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestAnErrorPageIsNoArchive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "a.tar.gz")
	if err := os.WriteFile(name, []byte("<!DOCTYPE html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	_, err = unpackFile(t, dir, file, Options{Format: "tar.gz"})
	if err == nil || err.Error() != `not a gzip file (starts with "<!DOC")` {
		t.Error(err)
	}
}
