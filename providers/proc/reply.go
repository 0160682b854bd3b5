//go:build linux || darwin

package proc

import "syscall"

// reply is the standard output of a command whose standard error is read apart.
type reply struct {
	fd      int // read end of the pipe, -1 at its end or without one
	limit   int
	data    []byte
	tooLong bool // it wrote more than it may
}

// more reads once what poll has said is there.
func (r *reply) readOnce() {
	buf := chunks.Get().(*[chunk]byte)
	defer chunks.Put(buf)
	n, err := syscall.Read(r.fd, buf[:])
	if err == syscall.EINTR || err == syscall.EAGAIN {
		return
	}
	if n > 0 {
		r.tooLong = len(r.data)+n > r.limit
		r.data = append(r.data, buf[:min(n, r.limit-len(r.data))]...)
	}
	if n <= 0 || r.tooLong {
		_ = syscall.Close(r.fd)
		r.fd = -1
	}
}

// limitError returns the error of a reply that is too long, nil otherwise.
func (r *reply) limitError() error {
	if r.tooLong {
		return &ReplyTooLong{r.limit}
	}
	return nil
}
