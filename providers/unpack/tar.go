package unpack

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
)

// addTar unpacks a tar archive. It reads to the end of the file, so that a
// damaged end of a compressed archive is an error.
func (t *tree) addTar(r io.Reader) error {
	archive := tar.NewReader(r)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return describeDamage(err)
		}
		if err := t.addTarEntry(header, archive); err != nil {
			return err
		}
	}
	if t.seen == 0 {
		return errors.New("it holds no entry: it may be no archive")
	}
	_, err := io.Copy(io.Discard, r)
	return describeDamage(err)
}

// describeDamage words the errors of a file that is cut or no archive.
func describeDamage(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the archive is cut short")
	case errors.Is(err, tar.ErrHeader):
		return errors.New("not a tar archive, or a damaged one")
	}
	return fmt.Errorf("the archive is damaged: %w", err)
}

func (t *tree) addTarEntry(h *tar.Header, r io.Reader) error {
	e := entry{name: h.Name, mode: h.FileInfo().Mode(), size: h.Size, modified: h.ModTime}
	switch h.Typeflag {
	case tar.TypeXGlobalHeader:
		return nil
	case tar.TypeReg, tar.TypeRegA, tar.TypeGNUSparse, tar.TypeCont: //nolint:staticcheck // old archives have TypeRegA
		e.kind, e.content = regular, r
	case tar.TypeDir:
		e.kind = directory
	case tar.TypeSymlink:
		e.kind, e.target = symlink, h.Linkname
	case tar.TypeLink:
		e.kind, e.target = hardlink, h.Linkname
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		return t.refuse(h.Name, "it is a device or a pipe")
	default:
		return t.refuse(h.Name, fmt.Sprintf("it is of the unknown type %q", h.Typeflag))
	}
	return t.add(e)
}
