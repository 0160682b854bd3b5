// Package disk describes paths of the machine: the state that was found at a
// path, the entry that should take its place, and the functions that read and
// change paths. It holds values only; providers/files has the functions.
package disk

import "io"

// Kind is the kind of the entry at a path. A link is a link, whatever it leads to.
type Kind int

// The kinds of entries.
const (
	Missing Kind = iota
	Regular
	Directory
	Link
	Special // a device, a pipe or a socket
)

var kindNames = [...]string{"missing", "a file", "a directory", "a link", "a special file"}

// String returns the kind in words that fit behind "is".
func (k Kind) String() string { return kindNames[k] }

// State is the entry that was found at a path.
type State struct {
	Kind   Kind
	Mode   uint32 // the twelve permission bits
	UID    uint32
	GID    uint32
	Size   int64
	Names  int    // number of hard links
	Target string // of a link
	// Inode and Changed identify this version of the entry: every write and every
	// change of an attribute changes them. Changed is in nanoseconds.
	Inode   uint64
	Changed int64
	// Remains is the path of a temporary entry that a killed run left beside
	// this path. It is "" when there is no such entry.
	Remains string
}

// NewFile is the complete entry that Put creates at a path.
type NewFile struct {
	Kind    Kind                    // Regular, Directory or Link
	Content func(w io.Writer) error // writes the content of a file; nil: the file is empty
	Target  string                  // of a link
	Mode    *uint32                 // nil: Bits without those that the umask takes
	Bits    uint32                  // 0: 0666, for a directory 0777
	UID     *uint32                 // nil: the user that runs settle
	GID     *uint32                 // nil: the group that the directory and the system choose
	// Force allows the entry to replace a directory with all its contents, and
	// allows a directory to replace another kind of entry.
	Force bool
	// InPlace writes into the file that exists instead of replacing it. A crash can
	// leave a part of the content then. Attributes change only where they are set.
	InPlace bool
	// Parents creates missing directories above the path.
	Parents bool
	// Was is the state that the caller compared. Put fails when the entry has
	// changed since then. nil: no check.
	Was *State
	// Ready checks the finished file under its temporary name. An error keeps
	// the file from taking its place. nil: no check.
	Ready func(path string) error
}

// Functions read and change absolute paths. Resource types receive them from
// the table of types, so that they can be tested without knowing the provider.
type Functions struct {
	// Look returns the state of a path itself; it does not follow a link there.
	Look func(path string) (State, error)
	// Follow returns the path that the link at a path leads to, without links. It
	// fails where another user may have planted a link on the way.
	Follow func(path string) (string, error)
	// Open opens the regular file at a path for reading.
	Open func(path string) (io.ReadCloser, error)
	// Contents returns the first paths below a directory, at most limit of them,
	// and how many there are.
	Contents func(path string, limit int) (paths []string, total int, err error)
	// Obstacle returns why a change of the path would fail now, or nil.
	Obstacle func(path string) error
	// Put creates n and moves it to the path in one step. Done reports whether
	// the path was replaced, also when err is set. Lost names the extended
	// attributes of the former file that could not be kept.
	Put func(path string, n NewFile) (done bool, lost []string, err error)
	// Adjust sets mode, owner and group where they are not nil.
	Adjust func(path string, mode, uid, gid *uint32) error
	// Remove removes a path, and a directory with all its contents when tree is set.
	Remove func(path string, tree bool) (done bool, err error)
	// Sweep removes State.Remains.
	Sweep func(path string) error
	// Backup copies the entry at a path to the same path below dir.
	Backup func(path, dir string) error
}
