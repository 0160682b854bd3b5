package unpack

import (
	"archive/zip"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/flate"
)

const (
	encrypted   = 0x1     // in the flags of an entry
	maxLinkText = 4 << 10 // bytes of a link's target
)

// addZip unpacks a zip archive.
func (t *tree) addZip(archive *os.File) error {
	info, err := archive.Stat()
	if err != nil {
		return err
	}
	start := make([]byte, len(magics["zip"])+4)
	n, err := archive.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := checkMagic(start[:n], "zip"); err != nil {
		return err
	}
	z, err := zip.NewReader(archive, info.Size())
	if errors.Is(err, zip.ErrFormat) {
		return errors.New("the archive is cut short, or no zip archive")
	}
	if err != nil {
		return describeDamage(err)
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	for _, f := range z.File {
		if err := t.addZipEntry(f); err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) addZipEntry(f *zip.File) error {
	e := entry{name: f.Name, mode: f.Mode(), size: int64(f.UncompressedSize64), modified: f.Modified}
	switch {
	case strings.Contains(f.Name, `\`):
		return t.refuse(f.Name, "its name has a backslash, so it was made for another system")
	case f.Flags&encrypted != 0:
		return t.refuse(f.Name, "it is encrypted")
	case e.size < 0:
		return t.refuse(f.Name, "its size is damaged")
	}
	if f.ExternalAttrs>>16 == 0 && e.mode.IsRegular() {
		e.mode = 0o644 // made on a system without modes
	}
	switch e.mode & fs.ModeType {
	case fs.ModeDir:
		e.kind = directory
		return t.add(e)
	case 0, fs.ModeSymlink:
	default:
		return t.refuse(f.Name, "it is a device or a pipe")
	}
	r, err := f.Open()
	if err != nil {
		return t.refuse(f.Name, err.Error())
	}
	defer r.Close()
	if e.mode&fs.ModeSymlink == 0 {
		e.kind, e.content = regular, r
		return t.add(e)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxLinkText+1))
	if err != nil || len(text) > maxLinkText {
		return t.refuse(f.Name, "its link is damaged")
	}
	e.kind, e.target, e.size = symlink, string(text), 0
	return t.add(e)
}
