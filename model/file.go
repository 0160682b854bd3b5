package model

import "io"

// FileKind is what stands at a path, itself and not what a link leads to.
type FileKind int

// The kinds of files.
const (
	FileMissing FileKind = iota
	FileRegular
	FileDirectory
	FileLink
	FileSpecial // a device, a pipe or a socket
)

var fileKindNames = [...]string{"missing", "a file", "a directory", "a link", "a special file"}

// String returns the kind as it follows "is".
func (k FileKind) String() string { return fileKindNames[k] }

// FileState is what was found at a path.
type FileState struct {
	Kind   FileKind
	Mode   uint32 // the twelve permission bits
	UID    uint32
	GID    uint32
	Size   int64
	Names  int    // how many names it has: more than one are hard links
	Target string // of a link
	// Remains is the path of what a killed run left beside it, "" for nothing.
	Remains string
}

// NewFile is what shall stand at a path, given whole.
type NewFile struct {
	Kind    FileKind                // FileRegular, FileDirectory or FileLink
	Content func(w io.Writer) error // writes a file's content; nil: it is empty
	Target  string                  // of a link
	Mode    *uint32                 // nil: 0644, of a directory 0755
	UID     *uint32                 // nil: whoever makes it
	GID     *uint32                 // nil: as the directory and the system have it
	// Force lets it take the place of a directory, with all that is in it, and
	// lets a directory take the place of something else.
	Force bool
	// Ready looks at the finished file under the name that it has until it
	// takes its place. An error keeps it from that. nil: nobody looks.
	Ready func(path string) error
}
