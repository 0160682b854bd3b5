// Package fetch downloads files over http and https, and copies local ones. It
// follows a bounded number of redirects, sends credentials to the first host
// only, and ends a transfer that stalls.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/settle-cm/settle/model/download"
)

const (
	maxRedirects  = 10
	connectLimit  = 30 * time.Second
	progressEvery = 5 * time.Second
	maxHeader     = 1 << 20 // bytes of response headers
	blockSize     = 256 << 10
)

// Client downloads files. The zero value is ready for use.
type Client struct {
	// StallAfter ends a transfer in which no byte arrives for so long; 0: a minute.
	StallAfter time.Duration
	// Transport carries the requests; nil: one with the proxies of the environment.
	Transport http.RoundTripper
	// ProgressEvery is the time between two calls of Progress; 0: five seconds.
	ProgressEvery time.Duration
}

// Functions returns the functions of a client as a resource type receives them.
func (c *Client) Functions() download.Functions {
	return download.Functions{Check: Check, Get: c.Get}
}

// Get writes the content at a URL to w. See download.Functions.
func (c *Client) Get(ctx context.Context, r download.Request, w io.Writer) (download.Checksum, error) {
	u, err := parse(r.URL)
	if err != nil {
		return download.Checksum{}, err
	}
	stall := newStall(ctx, c.StallAfter)
	defer stall.stop()
	body, length, err := c.open(stall.ctx, u, r)
	if err != nil {
		return download.Checksum{}, stall.cause(err)
	}
	defer body.Close()
	h := r.Checksum.New()
	n, err := c.copy(io.MultiWriter(w, h), &stallReader{body, stall}, length, r.Progress)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), err == nil && length >= 0 && n != length:
		return download.Checksum{}, fmt.Errorf("the connection ended after %d of %d bytes: %s", n, length, show(u))
	case err != nil:
		return download.Checksum{}, stall.cause(describe(err, u))
	}
	is := r.Checksum.Of(h)
	return is, r.Checksum.Verify(is)
}

// open starts a transfer and returns the content and its announced length.
func (c *Client) open(ctx context.Context, u *url.URL, r download.Request) (io.ReadCloser, int64, error) {
	if u.Scheme == schemeFile {
		return openLocal(u.Path)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, 0, describe(err, u)
	}
	request.Header.Set("User-Agent", "settle")
	for _, h := range r.Headers {
		if http.CanonicalHeaderKey(h.Key) == "Host" {
			request.Host = h.Value.Text
			continue
		}
		request.Header.Set(h.Key, h.Value.Text)
	}
	if r.Username != "" || r.Password != "" {
		request.SetBasicAuth(r.Username, r.Password)
	}
	transport := c.Transport
	if transport == nil {
		transport = newTransport()
	}
	client := &http.Client{Transport: transport, CheckRedirect: checkRedirect}
	response, err := client.Do(request)
	if err != nil {
		return nil, 0, describe(err, u)
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close() // its text is for browsers
		return nil, 0, statusError(response, u)
	}
	return response.Body, response.ContentLength, nil
}

// newTransport returns a transport that passes contents as they are stored: a
// content that is decompressed on the way would have another checksum.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:       http.ProxyFromEnvironment,
		DialContext: (&net.Dialer{Timeout: connectLimit}).DialContext, TLSHandshakeTimeout: connectLimit,
		DisableCompression: true, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: maxHeader,
		ReadBufferSize: blockSize, DisableKeepAlives: true, // the transport is for one transfer
	}
}

// openLocal opens the file of a file URL.
func openLocal(path string) (io.ReadCloser, int64, error) {
	info, err := os.Stat(path) // before opening: a pipe would block
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err != nil {
		return nil, 0, err
	}
	f, err := os.Open(path)
	return f, info.Size(), err
}

// copy copies the content and reports the progress.
func (c *Client) copy(w io.Writer, r io.Reader, length int64, progress func(done, length int64)) (int64, error) {
	every := c.ProgressEvery
	if every == 0 {
		every = progressEvery
	}
	var done int64
	last := time.Now()
	for block := make([]byte, blockSize); ; {
		n, err := r.Read(block)
		if n > 0 {
			if _, err := w.Write(block[:n]); err != nil {
				return done, err
			}
			done += int64(n)
		}
		if progress != nil && time.Since(last) >= every {
			progress(done, length)
			last = time.Now()
		}
		if errors.Is(err, io.EOF) {
			return done, nil
		}
		if err != nil {
			return done, err
		}
	}
}

// stall cancels a transfer when no byte arrives for some time.
type stall struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	after  time.Duration
}

func newStall(ctx context.Context, after time.Duration) *stall {
	if after == 0 {
		after = time.Minute
	}
	s := &stall{after: after}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	err := fmt.Errorf("stalled: no byte for %s", after)
	s.timer = time.AfterFunc(after, func() { s.cancel(err) })
	return s
}

func (s *stall) stop() {
	s.timer.Stop()
	s.cancel(nil)
}

// cause returns the reason why the transfer was ended, else err itself.
func (s *stall) cause(err error) error {
	if cause := context.Cause(s.ctx); cause != nil {
		return cause
	}
	return err
}

// stallReader gives each read its time.
type stallReader struct {
	r io.Reader
	s *stall
}

func (r *stallReader) Read(p []byte) (int, error) {
	r.s.timer.Reset(r.s.after)
	n, err := r.r.Read(p)
	if cause := context.Cause(r.s.ctx); cause != nil {
		return n, cause // a local file does not know the context
	}
	return n, err
}
