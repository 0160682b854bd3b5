package bundle

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
)

// hostDir holds one file of values per machine.
const hostDir = "hosts"

// Unpack writes the files of a bundle below root, which is an empty directory.
// It leaves out the files of other machines in hosts/; an empty machine keeps
// all. Nothing is ever written outside of root.
func Unpack(packed io.Reader, root *os.Root, machine string, limits Limits) error {
	if err := unpack(packed, root, machine, limits); err != nil {
		return fmt.Errorf("unpack bundle: %w", err)
	}
	return nil
}

func unpack(packed io.Reader, root *os.Root, machine string, limits Limits) error {
	buffered := bufio.NewReader(io.LimitReader(packed, limits.Packed+1))
	compressed, err := gzip.NewReader(buffered)
	if err != nil {
		return err
	}
	compressed.Multistream(false)
	plain := io.LimitReader(compressed, limits.Unpacked+int64(limits.Entries)*4096)
	u := &unpacker{root: root, machine: machine, limits: limits, made: map[string]bool{".": true}}
	for archive := tar.NewReader(plain); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := u.add(header, archive); err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
	// The checksum of gzip is only compared at the end of the stream.
	if _, err := io.Copy(io.Discard, plain); err != nil {
		return err
	}
	if _, err := buffered.ReadByte(); !errors.Is(err, io.EOF) {
		return errors.New("bytes follow the archive")
	}
	_, err = FindManifest(root)
	return err
}

type unpacker struct {
	root    *os.Root
	machine string
	limits  Limits
	made    map[string]bool // every entry; true for a directory
	entries int
	bytes   int64
}

func (u *unpacker) add(h *tar.Header, content io.Reader) error {
	u.entries++
	u.bytes += h.Size
	if err := checkEntry(h, u.entries, u.bytes, u.limits); err != nil {
		return err
	}
	name := strings.TrimSuffix(h.Name, "/")
	if _, twice := u.made[name]; twice {
		return errors.New("stands twice in the bundle")
	}
	// A parent that is a link would let an entry be written elsewhere.
	if !u.made[path.Dir(name)] {
		return errors.New("its directory is not in the bundle before it")
	}
	u.made[name] = h.Typeflag == tar.TypeDir
	if u.isForeign(name) {
		return nil
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return cause(u.root.Mkdir(name, 0o755))
	case tar.TypeSymlink:
		return cause(u.root.Symlink(h.Linkname, name))
	}
	return u.writeFile(name, os.FileMode(fileMode(h.Mode)), content)
}

// isForeign reports whether an entry is another machine's file of values.
func (u *unpacker) isForeign(name string) bool {
	first, rest, below := strings.Cut(name, "/")
	return u.machine != "" && below && first == hostDir && rest != u.machine+".yaml"
}

func (u *unpacker) writeFile(name string, mode os.FileMode, content io.Reader) error {
	file, err := u.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return cause(err)
	}
	_, err = io.Copy(file, content)
	return errors.Join(cause(err), file.Sync(), file.Close())
}

func sortByName(entries []os.DirEntry) {
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
}

// ValueFiles returns the files of values that an unpacked bundle has for a
// machine, in the order in which settle takes them: the later wins.
func ValueFiles(root *os.Root, machine string, labels map[string]string) []string {
	candidates := []string{"common.yaml"}
	for _, label := range sortedKeys(labels) {
		candidates = append(candidates, "groups/"+label+"="+labels[label]+".yaml")
	}
	candidates = append(candidates, hostDir+"/"+machine+".yaml")
	return slices.DeleteFunc(candidates, func(name string) bool {
		info, err := root.Stat(name)
		return err != nil || !info.Mode().IsRegular()
	})
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
