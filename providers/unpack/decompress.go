package unpack

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory that a zstd archive may ask for.
const maxWindow = 128 << 20

// magics are the first bytes of each compression.
var magics = map[string][]byte{
	"tar.gz": {0x1f, 0x8b}, "tar.bz2": []byte("BZh"), "tar.zst": {0x28, 0xb5, 0x2f, 0xfd}, "zip": []byte("PK"),
}

var formatNames = map[string]string{"tar.gz": "gzip", "tar.bz2": "bzip2", "tar.zst": "zstd", "zip": "zip"}

// checkMagic returns an error when a file does not begin as its format does. An
// error page instead of an archive is the usual reason.
func checkMagic(start []byte, format string) error {
	if bytes.HasPrefix(start, magics[format]) {
		return nil
	}
	return fmt.Errorf("not a %s file (starts with %q)", formatNames[format], start[:min(len(start), 5)])
}

// decompress returns the tar archive in a file, and a function that ends reading.
func decompress(archive io.Reader, format string) (io.Reader, func(), error) {
	in := bufio.NewReaderSize(archive, blockSize)
	start, err := in.Peek(len(zstdMagic) + 2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if err := checkMagic(start, format); err != nil {
		return nil, nil, err
	}
	switch format {
	case "tar":
		return in, func() {}, nil
	case "tar.gz":
		r, err := gzip.NewReader(in)
		return r, func() {}, err
	case "tar.bz2":
		return bzip2.NewReader(in), func() {}, nil
	case "tar.zst":
		r, err := zstd.NewReader(in, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, nil, err
		}
		return r, r.Close, nil
	}
	return nil, nil, fmt.Errorf("the format %q is not known", format)
}

var zstdMagic = magics["tar.zst"]

const (
	blockSize = 256 << 10
	blocks    = 8 // that are read ahead
)

// block is a part of the archive that was decompressed ahead of its use.
type block struct {
	data []byte
	err  error
}

// aheadReader decompresses in a goroutine of its own, while files are written.
type aheadReader struct {
	filled chan block
	empty  chan []byte
	quit   chan struct{}
	done   chan struct{}
	now    block
	rest   []byte
}

func readAhead(r io.Reader) *aheadReader {
	a := &aheadReader{
		filled: make(chan block, blocks), empty: make(chan []byte, blocks),
		quit: make(chan struct{}), done: make(chan struct{}),
	}
	for range blocks {
		a.empty <- make([]byte, blockSize)
	}
	go a.fill(r)
	return a
}

func (a *aheadReader) fill(r io.Reader) {
	defer close(a.done)
	for {
		var data []byte
		select {
		case data = <-a.empty:
		case <-a.quit:
			return
		}
		n, err := io.ReadFull(r, data)
		if errors.Is(err, io.ErrUnexpectedEOF) && n > 0 && n < len(data) {
			// either the end of the archive or a cut: the next read tells
			_, err = r.Read(make([]byte, 1))
		}
		a.filled <- block{data[:n], err} // there are no more blocks than places
		if err != nil {
			return
		}
	}
}

// Read implements io.Reader.
func (a *aheadReader) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.now.err != nil {
			return 0, a.now.err
		}
		if a.now.data != nil {
			a.empty <- a.now.data[:cap(a.now.data)]
		}
		a.now = <-a.filled
		a.rest = a.now.data
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// stop ends the goroutine.
func (a *aheadReader) stop() {
	close(a.quit)
	<-a.done
}
