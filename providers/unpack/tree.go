package unpack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
)

type kind int

const (
	regular kind = iota
	directory
	symlink
	hardlink
)

// entry is one entry of an archive, whatever its format.
type entry struct {
	name     string // as in the archive
	kind     kind
	mode     fs.FileMode
	size     int64
	modified time.Time
	target   string    // of a link
	content  io.Reader // of a regular file
}

// tree writes entries below a root that was empty. So it knows every directory:
// a name that leads through anything else is refused.
type tree struct {
	Options
	ctx     context.Context
	root    *os.Root
	dirs    map[string]fs.FileMode // directories that were made, with their final modes
	dir     string                 // the directory that is open
	open    *os.Root               // the same; root itself for "."
	seen    int                    // entries of the archive, with those that strip drops
	entries int
	bytes   int64
	dropped []string // names that lost setuid, setgid or sticky
	lost    int      // how many there are
	block   []byte
}

func newTree(ctx context.Context, root *os.Root, o Options) *tree {
	return &tree{
		Options: o, ctx: ctx, root: root, dir: ".", open: root,
		dirs: map[string]fs.FileMode{".": 0o755}, block: make([]byte, blockSize),
	}
}

func (t *tree) close() {
	if t.open != t.root {
		_ = t.open.Close() // it was only read
	}
}

// refuse returns the error of an entry.
func (t *tree) refuse(name, why string) error {
	return fmt.Errorf("entry %s: %s: nothing was unpacked", name, why)
}

// dirMode is given to directories that are named by their contents only.
const dirMode = 0o755

// add writes one entry.
func (t *tree) add(e entry) error {
	if t.seen++; t.seen > t.MaxEntries {
		return fmt.Errorf("it has more than %d entries: nothing was unpacked", t.MaxEntries)
	}
	if t.ctx.Err() != nil {
		return context.Cause(t.ctx)
	}
	name, err := t.strip(e.name)
	if err != nil || name == "" {
		return err
	}
	t.dropBits(&e, name)
	t.entries++
	if e.kind == directory {
		return t.addDirectory(e, name)
	}
	dir, base := path.Split(name)
	if err := t.enter(path.Clean("./"+dir), e.name); err != nil {
		return err
	}
	if _, isDir := t.dirs[name]; isDir {
		return t.refuse(e.name, "it is a directory before")
	}
	switch e.kind {
	case symlink:
		err = t.addSymlink(e, name, base)
	case hardlink:
		err = t.addHardlink(e, name, base)
	default:
		return t.addFile(e, base)
	}
	if err == nil {
		err = t.chown(base)
	}
	return err
}

// strip returns a name without its first elements, "" when it has no more. The
// name must stay within the archive.
func (t *tree) strip(name string) (string, error) {
	if strings.HasPrefix(name, "/") {
		return "", t.refuse(name, "its name is absolute")
	}
	clean := path.Clean(name)
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", t.refuse(name, "its name leads out of the directory")
		}
	}
	if strings.Contains(name, "\x00") {
		return "", t.refuse(strings.ReplaceAll(name, "\x00", "?"), "its name has a zero byte")
	}
	for range t.Strip {
		_, rest, ok := strings.Cut(clean, "/")
		if !ok {
			return "", nil
		}
		clean = rest
	}
	if clean == "." {
		return "", nil
	}
	return clean, nil
}

const special = fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// dropBits takes the bits from a mode that give rights to others.
func (t *tree) dropBits(e *entry, name string) {
	if e.mode&special != 0 && (e.kind == regular || e.kind == directory) {
		const named = 3
		if t.lost++; len(t.dropped) < named {
			t.dropped = append(t.dropped, name)
		}
	}
	e.mode = e.mode.Perm() &^ 0o022
}

func (t *tree) warnings() []string {
	if t.lost == 0 {
		return nil
	}
	text := "setuid, setgid and sticky were dropped: " + strings.Join(t.dropped, ", ")
	if n := t.lost - len(t.dropped); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return []string{text}
}

// addDirectory makes a directory. Its own mode is set at the end, because files
// may have to be written into a directory that may not be written.
func (t *tree) addDirectory(e entry, name string) error {
	if err := t.makeDirectories(name, e.name); err != nil {
		return err
	}
	t.dirs[name] = e.mode | 0o700
	return nil
}

// makeDirectories makes a directory and those above it.
func (t *tree) makeDirectories(dir, named string) error {
	if _, ok := t.dirs[dir]; ok {
		return nil
	}
	if err := t.makeDirectories(path.Dir(dir), named); err != nil {
		return err
	}
	err := t.root.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return t.refuse(named, dir+" is a link or a file of the archive, and no directory")
	}
	if err != nil {
		return plain(err)
	}
	t.dirs[dir] = dirMode
	if len(t.dirs) > t.MaxEntries {
		return fmt.Errorf("it has more than %d entries: nothing was unpacked", t.MaxEntries)
	}
	return nil
}

// enter opens the directory of the next entry. Entries of one directory follow
// each other in archives, so one open directory is enough.
func (t *tree) enter(dir, named string) error {
	if err := t.makeDirectories(dir, named); err != nil || dir == t.dir {
		return err
	}
	next := t.root
	if dir != "." {
		var err error
		if next, err = t.root.OpenRoot(dir); err != nil {
			return plain(err)
		}
	}
	t.close()
	t.dir, t.open = dir, next
	return nil
}

// addFile writes a regular file. The last of two entries of one name wins.
func (t *tree) addFile(e entry, base string) error {
	if t.bytes += e.size; t.bytes > t.MaxBytes || t.bytes < 0 {
		return fmt.Errorf("it unpacks to more than %d bytes: nothing was unpacked", t.MaxBytes)
	}
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	f, err := t.open.OpenFile(base, flags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if err = t.open.Remove(base); err == nil { // a hard link to it keeps its content
			f, err = t.open.OpenFile(base, flags, 0o600)
		}
	}
	if err != nil {
		return plain(err)
	}
	defer f.Close() // the sync of the file system reports failed writes
	if err := t.copy(f, e); err != nil {
		return err
	}
	if err := f.Chmod(e.mode); err != nil {
		return plain(err)
	}
	if t.UID != nil || t.GID != nil {
		if err := f.Chown(id(t.UID), id(t.GID)); err != nil {
			return plain(err)
		}
	}
	if e.modified.IsZero() || e.modified.Unix() <= 0 {
		return nil
	}
	return plain(t.open.Chtimes(base, e.modified, e.modified))
}

// copy copies the content of a file, and not a byte more than was announced.
func (t *tree) copy(f *os.File, e entry) error {
	content := io.LimitReader(e.content, e.size+1)
	var n int64
	for {
		m, err := content.Read(t.block)
		if m > 0 {
			if _, err := f.Write(t.block[:m]); err != nil {
				return plain(err)
			}
			n += int64(m)
		}
		switch {
		case errors.Is(err, io.EOF) && n == e.size:
			return nil
		case errors.Is(err, io.EOF), n > e.size:
			return t.refuse(e.name, "its size is not the one that the archive says")
		case err != nil:
			return describeDamage(err)
		case t.ctx.Err() != nil:
			return context.Cause(t.ctx)
		}
	}
}

// addSymlink makes a link that stays within the archive: ".." only at its
// beginning, where it leaves real directories. Behind another link it could lead out.
func (t *tree) addSymlink(e entry, name, base string) error {
	depth := strings.Count(name, "/")
	parts := strings.Split(e.target, "/")
	up := 0
	for up < len(parts) && (parts[up] == ".." || parts[up] == ".") {
		if parts[up] == ".." {
			depth--
		}
		up++
	}
	out := depth < 0 || path.IsAbs(e.target)
	for _, part := range parts[up:] {
		out = out || part == ".."
	}
	if out || e.target == "" {
		return t.refuse(e.name, fmt.Sprintf("the link to %q may lead out of the directory", e.target))
	}
	err := t.open.Symlink(e.target, base)
	if errors.Is(err, fs.ErrExist) {
		if err = t.open.Remove(base); err == nil {
			err = t.open.Symlink(e.target, base)
		}
	}
	return plain(err)
}

// addHardlink links to a file of the archive that was unpacked before.
func (t *tree) addHardlink(e entry, name, base string) error {
	target, err := t.strip(e.target)
	if err != nil || target == "" {
		return t.refuse(e.name, fmt.Sprintf("the hard link to %q leads out of the directory", e.target))
	}
	if target == name {
		return nil
	}
	if _, ok := t.dirs[path.Dir(target)]; !ok {
		return t.refuse(e.name, fmt.Sprintf("the hard link to %q leads to no file before it", e.target))
	}
	info, err := t.root.Lstat(target)
	if err != nil || !info.Mode().IsRegular() {
		return t.refuse(e.name, fmt.Sprintf("the hard link to %q leads to no file before it", e.target))
	}
	err = t.root.Link(target, path.Join(t.dir, base))
	if errors.Is(err, fs.ErrExist) {
		if err = t.open.Remove(base); err == nil {
			err = t.root.Link(target, path.Join(t.dir, base))
		}
	}
	return plain(err)
}

// finish sets the modes and owners of the directories.
func (t *tree) finish() error {
	for dir, mode := range t.dirs {
		if err := t.root.Chmod(dir, mode); err != nil {
			return plain(err)
		}
		if t.UID != nil || t.GID != nil {
			if err := t.root.Lchown(dir, id(t.UID), id(t.GID)); err != nil {
				return plain(err)
			}
		}
	}
	return nil
}

func (t *tree) chown(base string) error {
	if t.UID == nil && t.GID == nil {
		return nil
	}
	return plain(t.open.Lchown(base, id(t.UID), id(t.GID)))
}

// id returns an id as chown takes it.
func id(n *uint32) int {
	if n == nil {
		return -1
	}
	return int(*n)
}

// plain returns an error of the system without the name of the system call.
func plain(err error) error {
	var pathErr *fs.PathError
	if !errors.As(err, &pathErr) {
		return err
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("write %s: %w: %w", pathErr.Path, pathErr.Err, model.ErrNotPermitted)
	}
	return fmt.Errorf("write %s: %w", pathErr.Path, pathErr.Err)
}
