package publish

import "bufio"

// eventFile is a report file of the format jsonl. Events may need more memory than
// there is, so they are written at once. The file gets its name at the end.
type eventFile struct {
	file *outputFile // nil when it could not be opened
	buf  *bufio.Writer
	err  error
}

func newEventFile(path string) *eventFile {
	s, err := newOutputFile(path)
	if err != nil {
		return &eventFile{err: err}
	}
	return &eventFile{file: s, buf: bufio.NewWriter(s)}
}

// write appends a line. It is never split between two writes, since other programs
// may write to the same file.
func (e *eventFile) write(line []byte) {
	if e.err == nil && len(line) > e.buf.Available() {
		e.err = e.buf.Flush()
	}
	if e.err == nil {
		_, e.err = e.buf.Write(line)
	}
}

func (e *eventFile) close() error {
	if e.file == nil {
		return e.err
	}
	if e.err == nil {
		e.err = e.buf.Flush()
	}
	return e.file.close(e.err)
}
