package files

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// sparseWriter writes to a new file and keeps the holes of a source that is a
// file itself. A hole at the end needs trim.
type sparseWriter struct{ *os.File }

// ReadFrom copies a reader. It is called by io.Copy and io.CopyN.
func (w sparseWriter) ReadFrom(r io.Reader) (int64, error) {
	limited, ok := r.(*io.LimitedReader)
	if !ok {
		return w.File.ReadFrom(r)
	}
	source, ok := limited.R.(*os.File)
	if !ok {
		return w.File.ReadFrom(r)
	}
	var total int64
	for limited.N > 0 {
		hole, err := holeAt(source, limited.N)
		if err != nil {
			return total, err
		}
		if hole > 0 {
			if _, err := w.Seek(hole, io.SeekCurrent); err != nil {
				return total, err
			}
			limited.N -= hole
			total += hole
			continue
		}
		n, err := w.copyData(source, limited.N)
		limited.N -= n
		total += n
		if err != nil || n == 0 {
			return total, err
		}
	}
	return total, nil
}

// holeAt moves a file over the hole at its position, over most bytes at most, and
// returns how many bytes it moved.
func holeAt(source *os.File, most int64) (int64, error) {
	at, err := source.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	data, err := source.Seek(at, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO): // the hole reaches to the end, or this is the end
		info, err := source.Stat()
		if err != nil {
			return 0, err
		}
		data = max(at, info.Size())
	case err != nil: // a file system that tells no holes
		data = at
	}
	hole := min(data-at, most)
	_, err = source.Seek(at+hole, io.SeekStart)
	return hole, err
}

// copyData copies up to the next hole, most bytes at most.
func (w sparseWriter) copyData(source *os.File, most int64) (int64, error) {
	at, err := source.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	if end, err := source.Seek(at, unix.SEEK_HOLE); err == nil && end > at {
		most = min(most, end-at)
	}
	if _, err := source.Seek(at, io.SeekStart); err != nil {
		return 0, err
	}
	return w.File.ReadFrom(io.LimitReader(source, most))
}

// trim ends the file at its position, where a hole at the end has moved it to.
func (w sparseWriter) trim() error {
	end, err := w.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	return w.Truncate(end)
}
