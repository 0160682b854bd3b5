// Package bundle packs a directory into a reproducible tar.gz and unpacks one
// safely. A bundle is named by the SHA-256 of its packed bytes.
package bundle

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits bound the contents of a bundle. They protect the machine that unpacks it.
type Limits struct {
	Packed   int64 // bytes of the tar.gz
	Unpacked int64 // bytes of all files together
	Entries  int   // files, directories and links together
}

// DefaultLimits are the limits of every bundle that settle-fleet accepts.
var DefaultLimits = Limits{Packed: 64 << 20, Unpacked: 512 << 20, Entries: 20_000}

// Manifests are the names that the manifest at the top of a bundle may have,
// in the order in which they are looked for.
var Manifests = []string{"settle.yaml", "manifest.yaml"}

// Info describes a packed bundle.
type Info struct {
	Digest  string // 64 hex digits: the SHA-256 of the packed bytes
	Size    int64  // packed bytes
	Entries int
}

// Pack writes the files below dir to w as a tar.gz. The same files give the same
// bytes: names are sorted, times and owners are zero, modes are 0644 or 0755.
// A directory .git at the top is left out.
func Pack(dir string, w io.Writer, limits Limits) (Info, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Info{}, fmt.Errorf("pack %s: %w", dir, cause(err))
	}
	defer root.Close()
	p := &packer{root: root, limits: limits, out: &countingWriter{w: w, limit: limits.Packed}}
	hash := sha256.New()
	p.out.w = io.MultiWriter(w, hash)
	if err := p.pack(); err != nil {
		return Info{}, fmt.Errorf("pack %s: %w", dir, err)
	}
	return Info{hex.EncodeToString(hash.Sum(nil)), p.out.n, p.entries}, nil
}

type packer struct {
	root    *os.Root
	limits  Limits
	out     *countingWriter
	tar     *tar.Writer
	entries int
	bytes   int64
}

func (p *packer) pack() error {
	if _, err := FindManifest(p.root); err != nil {
		return err
	}
	compressed, err := gzip.NewWriterLevel(p.out, gzip.BestCompression)
	if err != nil {
		return err
	}
	p.tar = tar.NewWriter(compressed)
	if err := p.addDirectory("."); err != nil {
		return err
	}
	return errors.Join(p.tar.Close(), compressed.Close())
}

// addDirectory adds everything in a directory. ReadDir sorts by name.
func (p *packer) addDirectory(dir string) error {
	entries, err := readDir(p.root, dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		if name == ".git" {
			continue
		}
		if err := p.add(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if entry.IsDir() {
			if err := p.addDirectory(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *packer) add(name string) error {
	info, err := p.root.Lstat(name)
	if err != nil {
		return cause(err)
	}
	header := &tar.Header{Name: name, Format: tar.FormatPAX}
	switch mode := info.Mode(); {
	case mode.IsDir():
		header.Typeflag, header.Name, header.Mode = tar.TypeDir, name+"/", 0o755
	case mode.IsRegular():
		header.Typeflag, header.Size, header.Mode = tar.TypeReg, info.Size(), fileMode(int64(mode.Perm()))
	case mode&os.ModeSymlink != 0:
		target, err := p.root.Readlink(name)
		if err != nil {
			return cause(err)
		}
		header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, filepath.ToSlash(target), 0o777
	default:
		return errors.New("is neither a file, a directory nor a link: leave it out")
	}
	p.entries++
	p.bytes += header.Size
	if err := checkEntry(header, p.entries, p.bytes, p.limits); err != nil {
		return err
	}
	if err := p.tar.WriteHeader(header); err != nil {
		return err
	}
	if header.Typeflag != tar.TypeReg {
		return nil
	}
	return p.copyFile(name, header.Size)
}

func (p *packer) copyFile(name string, size int64) error {
	file, err := p.root.Open(name)
	if err != nil {
		return cause(err)
	}
	defer file.Close()
	n, err := io.Copy(p.tar, io.LimitReader(file, size+1))
	if err == nil && n != size {
		err = errors.New("changed while it was packed: pack again")
	}
	return err
}

// checkEntry refuses an entry that a bundle must not hold.
func checkEntry(h *tar.Header, entries int, bytes int64, limits Limits) error {
	name := strings.TrimSuffix(h.Name, "/")
	switch {
	case entries > limits.Entries:
		return fmt.Errorf("a bundle holds at most %d entries", limits.Entries)
	case h.Size < 0 || bytes > limits.Unpacked:
		return fmt.Errorf("a bundle holds at most %d bytes", limits.Unpacked)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("the name is not plain UTF-8 text")
	case path.Clean(name) != name || !filepath.IsLocal(name) || name == ".":
		return errors.New("the name leads out of the bundle")
	case len(name) > 1000 || len(h.Linkname) > 1000:
		return errors.New("the name is longer than 1,000 bytes")
	case h.Typeflag == tar.TypeSymlink:
		return checkLink(name, h.Linkname)
	case h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir:
		return fmt.Errorf("entries of type %q are not allowed", h.Typeflag)
	}
	return nil
}

// checkLink makes sure that a link stays inside. ".." may only stand at the
// beginning of its target: behind the name of another link it could lead out.
func checkLink(name, target string) error {
	if target == "" || path.IsAbs(target) || path.Clean(target) != target || !filepath.IsLocal(path.Join(path.Dir(name), target)) {
		return fmt.Errorf("the link to %q leads out of the bundle", target)
	}
	return nil
}

// FindManifest returns the name of the manifest at the top of a bundle.
func FindManifest(root *os.Root) (string, error) {
	for _, name := range Manifests {
		if info, err := root.Stat(name); err == nil && info.Mode().IsRegular() {
			return name, nil
		}
	}
	return "", fmt.Errorf("there is no %s at the top", strings.Join(Manifests, " or "))
}

func fileMode(mode int64) int64 {
	if mode&0o111 != 0 {
		return 0o755
	}
	return 0o644
}

func readDir(root *os.Root, dir string) ([]os.DirEntry, error) {
	file, err := root.Open(dir)
	if err != nil {
		return nil, cause(err)
	}
	defer file.Close()
	entries, err := file.ReadDir(-1)
	if err != nil {
		return nil, cause(err)
	}
	sortByName(entries)
	return entries, nil
}

// cause drops the path from an error of the file system: the caller names it.
func cause(err error) error {
	var pathError *os.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

// countingWriter counts bytes and fails beyond its limit.
type countingWriter struct {
	w        io.Writer
	n, limit int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	if c.n += int64(len(p)); c.n > c.limit {
		return 0, fmt.Errorf("a packed bundle has at most %d bytes", c.limit)
	}
	return c.w.Write(p)
}
