// Package archive is the resource type for archives: downloaded, verified and
// unpacked. It remembers the checksum of the archive that was unpacked last, so
// that it needs no network while nothing is due. The functions that touch the
// machine are handed in.
package archive

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
	"github.com/settle-cm/settle/model/download"
)

// Options are what the type needs from the program around it.
type Options struct {
	Disk     disk.Functions
	Download download.Functions
	// Format returns the format of an archive by its name, "" for an unknown one.
	Format func(name string) string
	// Stage makes a private directory beside a path, for a new tree of the path.
	Stage func(path string, purge bool) (Staging, error)
	// Unpack unpacks an archive into an empty directory.
	Unpack   func(ctx context.Context, archive *os.File, into *os.Root, how Unpacking) (Unpacked, error)
	UID, GID func(name string) (uint32, error)
	StateDir string // of settle, where nothing is unpacked; "": not known
}

// Staging is a private directory beside a path, as functions.
type Staging struct {
	Root *os.Root // has the empty directory Tree
	// Place moves Tree to the path. Began reports whether the path was touched.
	Place func(ctx context.Context, p Placement) (began bool, err error)
	Close func() error // removes the directory
}

// Tree is the directory of a staging root that takes the path's place.
const Tree = "tree"

// Placement says how a staged tree takes its place.
type Placement struct {
	Purge    bool // the whole tree is exchanged, else it is merged
	UID, GID *uint32
}

// Unpacking says how an archive is unpacked.
type Unpacking struct {
	Format   string
	Strip    int
	UID, GID *uint32
}

// Unpacked describes the unpacked entries.
type Unpacked struct {
	Entries  int
	Bytes    int64
	Warnings []string
}

// Type returns the archive type.
func Type(opts Options) model.Type {
	t := &types{opts}
	return model.Type{
		Name:       "archive",
		Meaning:    "an archive: downloaded, verified by its checksum, and unpacked into a directory",
		Properties: properties,
		Decode:     t.decode,
	}
}

// types is what all archives of a run share.
type types struct{ Options }

// archive is one resource as declared.
type archive struct {
	*types
	base      model.Base
	absent    bool
	request   download.Request
	path      string // absolute; "": the archive is not kept
	format    string
	extract   string // absolute; "": download only
	strip     int
	purge     bool
	creates   []string // absolute
	cleanup   bool
	owner     string
	group     string
	sensitive bool
	timeout   time.Duration
}

// keeps reports whether the archive itself stays at path.
func (a *archive) keeps() bool { return a.path != "" && !a.cleanup }

// About returns the facts that need no look at the machine.
func (a *archive) About() model.About {
	url, _, _ := strings.Cut(a.request.URL, "?") // a query may hold a token
	about := model.About{Command: "download " + url, Creates: len(a.creates) > 0, Journaled: a.extract != ""}
	switch {
	case a.absent:
		about = model.About{Command: "remove " + a.path}
	case a.extract != "":
		about.Command = "unpack " + url + " into " + a.extract
	}
	return about
}

// isPrivate reports whether the content may be a secret: the archive is readable
// for its owner only then.
func (a *archive) isPrivate() bool {
	return a.sensitive || a.request.Password != "" || len(a.request.Headers) > 0
}
