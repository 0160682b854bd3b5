package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/settle-cm/settle/providers/proc"
)

// afterGrace is the time after the grace period within which every command has ended
// and its end is reported, if there is a reader.
const afterGrace = 4 * time.Second

// withSignals returns a context that the first INT, QUIT, TERM or HUP cancels, with that
// signal as its cause. A second signal kills every command. After the second signal,
// or when the grace period has passed, settle no longer waits for readers of its
// output. A HUP that was ignored at the start (nohup) stays ignored.
func (a *app) withSignals(parent context.Context, grace time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	caught := make(chan os.Signal, 2)
	signal.Notify(caught, signals...)
	interruptibles.Add(1)
	done := make(chan struct{})
	go func() {
		for first := true; ; first = false {
			select {
			case <-done:
				return
			case s := <-caught:
				if first {
					announce := a.prepareInterrupt(s)
					cancel(&proc.Signalled{Signal: s.(syscall.Signal)})
					go announce() // a reader that does not read must not delay the second signal
					time.AfterFunc(grace+afterGrace, a.stopWaiting)
				} else {
					proc.KillAll()
					a.stopWaiting()
				}
			}
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		interruptibles.Add(-1)
		close(done)
		cancel(nil)
	}
}

// prepareInterrupt notes which resources run before an interrupt reaches them. It
// returns a function that reports them, once the interrupt was passed on.
func (a *app) prepareInterrupt(by os.Signal) (announce func()) {
	if f := a.onInterrupt.Load(); f != nil {
		return (*f)(by)
	}
	return func() {}
}

// interruptibles counts the contexts that a signal ends.
var interruptibles atomic.Int32

// exitOnQuit ends settle at a QUIT that no context waits for. The runtime would
// print every goroutine and exit 2, which means "changed".
func exitOnQuit() {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGQUIT)
	go func() {
		for range caught {
			if interruptibles.Load() == 0 {
				os.Exit(128 + int(syscall.SIGQUIT))
			}
		}
	}()
}

// tooLong is the cause that ends a run at its --run-timeout.
type tooLong struct{ limit time.Duration }

func (t tooLong) Error() string { return fmt.Sprintf("the run took longer than %s", t.limit) }

// withTimeLimit returns a context that ends after a time; 0 means no limit. When the
// grace period has passed as well, settle no longer waits for readers of its output.
func (a *app) withTimeLimit(ctx context.Context, limit, grace time.Duration) (context.Context, func()) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, tooLong{limit})
	late := time.AfterFunc(limit+grace+afterGrace, a.stopWaiting)
	return ctx, func() {
		late.Stop()
		cancel()
	}
}
