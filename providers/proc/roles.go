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
	roleDetach = "settle-detach" // starts a reader and exits, so that the reader is not our child
	roleReader = "settle-reader" // reads standard input to its end
)

// mainCalled reports that Main has run. Only then may this program start itself:
// any other test binary would run its tests instead of playing the role.
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
		_, _ = io.Copy(io.Discard, os.Stdin) // no caller is left to report to
		os.Exit(0)
	case os.Getpid() == 1:
		if code, ok := runAsInit(); ok {
			os.Exit(code)
		}
	}
	closeInherited()
	mainCalled = true
}

// startSelf starts this program in a role and a session of its own. fd becomes its
// standard input; it inherits no other descriptor.
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

// startDetachedReader hands a pipe to a process that discards its contents until
// every writer has closed it, also after settle has ended.
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

// discardOutput reads a pipe to its end within settle.
func discardOutput(fd int) {
	_, _ = io.Copy(io.Discard, os.NewFile(uintptr(fd), "pipe"))
}

// runAsInit acts as process 1 of a container. It runs settle as its child, passes
// signals on, reaps orphans, and returns settle's exit code. So settle itself
// never gets children that it did not start. The child has no terminal, because it
// would receive every signal of the keyboard twice. ok is false when the child
// cannot be started (no /proc): settle then runs as process 1.
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
				// concerns this process, or the Go runtime
			default:
				_ = syscall.Kill(pid, s.(syscall.Signal)) // settle has ended: so shall we
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
