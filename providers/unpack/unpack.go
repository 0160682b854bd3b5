// Package unpack unpacks archives of other people into an empty directory. It
// writes through an os.Root, and refuses every entry that is not a plain file, a
// directory or a link within the archive. Owners of the archive are ignored.
package unpack

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
)

// Options say how an archive is unpacked.
type Options struct {
	Format string  // one of Formats
	Strip  int     // leading elements of each name to drop
	UID    *uint32 // owner of every entry; nil: the user of settle
	GID    *uint32
	// The bounds of an archive; 0: a million entries, 10 GiB.
	MaxEntries int
	MaxBytes   int64
}

// Result describes the unpacked entries.
type Result struct {
	Entries  int
	Bytes    int64    // of files
	Warnings []string // e.g. of bits that were dropped
}

const (
	defaultEntries = 1_000_000
	defaultBytes   = 10 << 30
)

// suffixes are the formats by the ends of names, longer ones first.
var suffixes = []struct{ suffix, format string }{
	{".tar.gz", "tar.gz"}, {".tgz", "tar.gz"}, {".tar.bz2", "tar.bz2"}, {".tbz2", "tar.bz2"},
	{".tar.zst", "tar.zst"}, {".tzst", "tar.zst"}, {".tar", "tar"}, {".zip", "zip"},
}

// Format returns the format of an archive by its name, "" for a name that has no
// suffix of a known format.
func Format(name string) string {
	name = strings.ToLower(name)
	for _, s := range suffixes {
		if strings.HasSuffix(name, s.suffix) {
			return s.format
		}
	}
	return ""
}

// Unpack unpacks an archive into a directory, which must be empty. After an error
// the directory holds a part of the archive. Nothing was written elsewhere.
func Unpack(ctx context.Context, archive *os.File, root *os.Root, o Options) (Result, error) {
	if o.MaxEntries == 0 {
		o.MaxEntries = defaultEntries
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultBytes
	}
	t := newTree(ctx, root, o)
	defer t.close()
	if _, err := archive.Seek(0, io.SeekStart); err != nil {
		return Result{}, err
	}
	var err error
	if o.Format == "zip" {
		err = t.addZip(archive)
	} else {
		err = t.addCompressed(archive, o.Format)
	}
	if err == nil {
		err = t.finish()
	}
	return Result{Entries: t.entries, Bytes: t.bytes, Warnings: t.warnings()}, err
}

// addCompressed unpacks a tar archive that may be compressed.
func (t *tree) addCompressed(archive *os.File, format string) error {
	r, end, err := decompress(archive, format)
	if err != nil {
		return err
	}
	ahead := readAhead(&limitedReader{r: r, left: t.MaxBytes + int64(t.MaxEntries)*tarOverhead})
	defer end()
	defer ahead.stop()
	return t.addTar(ahead)
}

// tarOverhead is more than the header of an entry in a tar archive usually takes.
const tarOverhead = 4 << 10

// limitedReader fails where a reader exceeds a limit.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("it is larger than settle unpacks")
	}
	return n, err
}
