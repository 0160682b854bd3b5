//go:build unix

package settletest

import "syscall"

// setUmask makes the modes of new files independent of the caller's umask.
func setUmask(mask int) { syscall.Umask(mask) }
