//go:build linux || darwin

package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// The hidden roles, told by the name under which the program is started.
const (
	roleDetach = "settle-detach" // starts a reader and exits, so that the reader is nobody's child
	roleReader = "settle-reader" // reads standard input to its end
)

// prepared says that Main was called: only then may this program start itself.
var mainCalled bool

// Main must be called before anything else in main, and in a TestMain. In an
// ordinary process it returns at once, having closed to children what was
// inherited beyond the standard descriptors. It never returns in a process that
// plays a hidden role: the reader of an abandoned pipe, or the init that settle
// needs around itself when it is process 1 of a container.
func Main() {
	switch {
	case len(os.Args) == 1 && os.Args[0] == roleDetach:
		closeInherited()
		if _, err := startSelf(roleReader, 0); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	case len(os.Args) == 1 && os.Args[0] == roleReader:
		_, _ = io.Copy(io.Discard, os.Stdin) // whatever ends it, there is nobody to tell
		os.Exit(0)
	case os.Getpid() == 1:
		if code, ok := runAsInit(); ok {
			os.Exit(code)
		}
	}
	closeInherited()
	mainCalled = true
}

// again starts this program again in a role, in a session of its own, with
// fd as its standard input and nothing else of ours.
func startSelf(role string, fd int) (pid int, err error) {
	path, err := selfPath()
	if err != nil {
		return 0, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	return syscall.ForkExec(path, []string{role}, &syscall.ProcAttr{
		Dir: "/", Files: []uintptr{uintptr(fd), null.Fd(), null.Fd()},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
}

// detach hands a pipe to a reader that discards what is written until nobody
// holds the other end, also when settle is long gone.
func startDetachedReader(fd int) error {
	if !mainCalled {
		return errors.New("proc.Main was not called")
	}
	pid, err := startSelf(roleDetach, fd)
	if err != nil {
		return fmt.Errorf("start a reader: %w", err)
	}
	if code, sig, err := reap(pid); err != nil || code != 0 || sig != "" {
		return errors.New("start a reader: it did not start")
	}
	return nil
}

// discard is what a reader does, within settle.
func discardOutput(fd int) {
	_, _ = io.Copy(io.Discard, os.NewFile(uintptr(fd), "pipe"))
}

// initialize is process 1: it runs settle as its child, passes signals on,
// reaps whatever is left to it, and returns the exit code of settle. So settle
// itself never gets children that it did not start. The child has no terminal
// of its own, else it would get twice what the keyboard sends. Where it cannot
// be started (no /proc), settle is process 1 itself after all.
func runAsInit() (code int, ok bool) {
	signals := make(chan os.Signal, 64)
	signal.Notify(signals)
	path, err := selfPath()
	if err != nil {
		return 0, false
	}
	pid, err := syscall.ForkExec(path, os.Args, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		signal.Reset()
		return 0, false
	}
	go func() {
		for s := range signals {
			switch s {
			case syscall.SIGCHLD, syscall.SIGURG, syscall.SIGPIPE, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGTSTP:
				// about us, or of our runtime
			default:
				_ = syscall.Kill(pid, s.(syscall.Signal)) // gone: we are about to go too
			}
		}
	}()
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR || err == nil && got != pid:
		case err == nil && status.Signaled():
			return 128 + int(status.Signal()), true
		case err == nil:
			return status.ExitStatus(), true
		default:
			return 70, true
		}
	}
}
