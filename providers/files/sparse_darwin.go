package files

import (
	"io"
	"os"
)

// sparseWriter writes to a new file. Holes are copied as zeros on this system.
type sparseWriter struct{ *os.File }

// trim ends the file at its position.
func (w sparseWriter) trim() error {
	end, err := w.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	return w.Truncate(end)
}
