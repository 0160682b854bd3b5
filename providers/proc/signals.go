//go:build linux || darwin

package proc

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", int(s))
}

// signalOf returns the signal that a cause of cancel carries.
func signalOf(cause error) (syscall.Signal, bool) {
	s := (*Signalled)(nil)
	if errors.As(cause, &s) {
		return s.Signal, true
	}
	return 0, false
}

// defaultSignals sees to it that children start with the default disposition
// of every signal. An ignored one is inherited over exec, a caught one is not:
// so those that are ignored (nohup, signal.Ignore) are caught and dropped
// instead, which for settle is the same.
var defaultSignals = sync.OnceFunc(func() {
	var dropped []os.Signal
	for set, s := ignoredSignals(), syscall.Signal(1); s < 32; s++ {
		if set&(1<<(s-1)) != 0 {
			dropped = append(dropped, s)
		}
	}
	if len(dropped) > 0 {
		signal.Notify(make(chan os.Signal, 1), dropped...)
	}
})
