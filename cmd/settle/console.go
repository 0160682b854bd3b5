package main

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/log"
	"github.com/muesli/termenv"
	"golang.org/x/term"

	"github.com/settle-cm/settle/cmd/internal/render"
)

// outlet is one of the two streams that settle writes to. Every write is whole:
// log lines and the output of commands that run in parallel never mix. A reader
// that went away does not stop a run; any other failure is kept for the end.
type outlet struct {
	mu    sync.Mutex
	w     io.Writer
	held  []byte // to be written within holdFor
	armed bool   // a timer sees to that
	fence fence  // keeps what others say from being heard as commands of the pipeline
	gone  bool
	err   error
}

// How long, and how much of, a command's output is held back, so that one that
// talks a lot does not cost a system call for each line.
const (
	holdFor  = 5 * time.Millisecond
	holdMost = 32 << 10
)

// Write never fails: what went wrong is known to lost.
func (o *outlet) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fence.begin != "" && render.HasCommand(p) {
		o.held = o.fence.raise(o.held)
	}
	o.release()
	o.write(p)
	return len(p), nil
}

// command writes what the pipeline has to hear, if anything, and leaves the
// stream without a fence.
func (o *outlet) command(p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = o.fence.lower(o.held)
	o.release()
	o.write(p)
}

// hold writes what is added to it soon: at the latest before whatever is
// written next.
func (o *outlet) hold(add func(held []byte) []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = add(o.fence.raise(o.held))
	switch {
	case len(o.held) >= holdMost:
		o.release()
	case !o.armed:
		o.armed = true
		time.AfterFunc(holdFor, o.flush)
	}
}

// flush writes what is held back.
func (o *outlet) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.armed = false
	o.release()
}

func (o *outlet) release() {
	if len(o.held) > 0 {
		o.write(o.held)
		o.held = o.held[:0]
	}
}

func (o *outlet) write(p []byte) {
	if o.gone || o.err != nil || len(p) == 0 {
		return
	}
	if _, err := o.w.Write(p); err != nil {
		if o.gone = errors.Is(err, syscall.EPIPE) || errors.Is(err, errStuck); !o.gone {
			o.err = err
		}
	}
}

// lost returns why something could not be written, although someone may read it.
func (o *outlet) lost() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.release()
	return o.err
}

// colored decides for one stream whether to colour it. It looks at the
// environment and at the stream, and never asks the terminal.
func colored(when string, w io.Writer, getenv func(string) string) bool {
	force := getenv("CLICOLOR_FORCE")
	switch {
	case when != "auto":
		return when == "always"
	case getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	case getenv("TERM") == "dumb":
		return false
	}
	return terminal(w)
}

func terminal(w io.Writer) bool {
	f, ok := file(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// console is standard error: log lines, and the output of commands as it comes.
type console struct {
	*log.Logger
	*outlet
	color    bool
	quiet    bool
	watched  bool    // it is a terminal
	progress bool    // tell of each resource: somebody watches
	screen   *screen // where somebody watches; else nil
}

// newConsole makes the one logger over the one writer. The logger is given a
// writer that is no file and a fixed palette, so that it has nothing to ask a
// terminal for.
func newConsole(w io.Writer, g *grammar) *console {
	c := &console{outlet: &outlet{w: w}, color: colored(g.Color, w, os.Getenv), quiet: g.Quiet, watched: terminal(w)}
	if c.color { // who wants no colour wants no other control sequences either
		c.screen = newScreen(w)
	}
	if c.screen != nil && !g.Quiet {
		c.w = c.screen.over(w)
	}
	c.progress = g.Verbose || c.watched && !g.Quiet
	level := log.InfoLevel
	switch {
	case g.Quiet:
		level = log.ErrorLevel
	case g.Verbose:
		level = log.DebugLevel
	}
	c.Logger = log.NewWithOptions(c.outlet, log.Options{Level: level, TimeFunction: log.NowUTC, TimeFormat: time.TimeOnly})
	palette := termenv.Ascii
	if c.color {
		palette = termenv.ANSI
	}
	c.SetColorProfile(palette)
	return c
}

// complain says what is wrong, one line for each line of the message, whatever
// the level of the log is.
func (c *console) complain(message string) {
	for line := range strings.Lines(message) {
		_, _ = io.WriteString(c.outlet, "settle: "+render.Escape(strings.TrimSuffix(line, "\n"))+"\n") // an outlet never fails
	}
}

// plain writes a text as it is, whatever the level of the log is.
func (c *console) plain(text string) {
	_, _ = io.WriteString(c.outlet, text+"\n") // an outlet never fails
}

// mark writes what belongs to the output of commands and is none of theirs, in
// its place among that.
func (c *console) mark(text string) {
	c.hold(func(held []byte) []byte { return append(held, text...) })
}

// front is what stands before each line of a resource's output.
func (c *console) front(id string) string {
	front := render.Escape(id) + " | "
	if c.color {
		front = "\x1b[2m" + front + "\x1b[0m"
	}
	return front
}

// output shows one line of a command's output.
func (c *console) output(front string, line []byte) {
	if c.quiet {
		return
	}
	c.hold(func(held []byte) []byte {
		return append(render.AppendLine(append(held, front...), line), '\n')
	})
}
