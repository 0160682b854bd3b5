package file

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
)

// block is how much is compared at once, and how much is copied between two
// looks at whether the run is over.
const (
	block = 64 << 10
	chunk = 64 << 20
)

// blocks are buffers for comparing: two for each.
var blocks = sync.Pool{New: func() any { return new([2][block]byte) }}

// sameContent compares a file with what is to be in it, by size and then byte
// by byte, in constant memory.
func (f *file) sameContent(ctx context.Context, g *gap) (bool, error) {
	want, size, err := g.reader()
	if err != nil {
		return false, f.sourceError(g.source, err)
	}
	defer want.Close()
	if size != g.have.Size {
		return false, nil
	}
	have, err := f.w.Disk.Open(g.path)
	if err != nil {
		return false, err
	}
	defer have.Close()
	return equal(ctx, have, want)
}

// equal says whether two readers hold the same bytes.
func equal(ctx context.Context, a, b io.Reader) (bool, error) {
	bufs := blocks.Get().(*[2][block]byte)
	defer blocks.Put(bufs)
	for {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		n, errA := io.ReadFull(a, bufs[0][:])
		m, errB := io.ReadFull(b, bufs[1][:])
		if !bytes.Equal(bufs[0][:n], bufs[1][:m]) {
			return false, nil
		}
		for _, err := range []error{errA, errB} {
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return false, err
			}
		}
		if errA != nil || errB != nil {
			return errA != nil && errB != nil, nil
		}
	}
}

// copyTo returns what writes a reader's bytes to a new file. The kernel copies
// from file to file by itself; between chunks an interrupt is heard.
func copyTo(ctx context.Context, r io.Reader) func(io.Writer) error {
	return func(w io.Writer) error {
		for {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			switch _, err := io.CopyN(w, r, chunk); {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return err
			}
		}
	}
}
