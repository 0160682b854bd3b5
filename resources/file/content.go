package file

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
)

const (
	blockSize = 64 << 10 // bytes that are compared at once
	chunkSize = 64 << 20 // bytes that are copied between two checks for an interrupt
)

// blockPairs holds buffers for comparing: one for each side.
var blockPairs = sync.Pool{New: func() any { return new([2][blockSize]byte) }}

// sameContent reports whether a file has its declared content. It compares the
// size and then every byte, in constant memory.
func (f *file) sameContent(ctx context.Context, c *comparison) (bool, error) {
	want, size, err := c.open()
	if err != nil {
		return false, f.sourceError(c.source, err)
	}
	defer want.Close()
	if size != c.have.Size {
		return false, nil
	}
	have, err := f.w.Disk.Open(c.path)
	if err != nil {
		return false, err
	}
	defer have.Close()
	return sameBytes(ctx, have, want)
}

// sameBytes reports whether two readers return the same bytes.
func sameBytes(ctx context.Context, a, b io.Reader) (bool, error) {
	bufs := blockPairs.Get().(*[2][blockSize]byte)
	defer blockPairs.Put(bufs)
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

// copyFrom returns a function that copies a reader to a new file. CopyN lets the
// kernel copy from file to file; the chunks give an interrupt its chance.
func copyFrom(ctx context.Context, r io.Reader) func(io.Writer) error {
	return func(w io.Writer) error {
		for {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			switch _, err := io.CopyN(w, r, chunkSize); {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return err
			}
		}
	}
}
