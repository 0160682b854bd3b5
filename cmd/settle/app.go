package main

import (
	"io"
	"os"
	"sync/atomic"

	"github.com/alecthomas/kong"

	"github.com/settle-cm/settle/cmd/internal/exit"
	"github.com/settle-cm/settle/cmd/internal/terminal"
)

// generalFlags are the flags of every command.
type generalFlags struct {
	Color   string `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Colour: auto (on a terminal, unless NO_COLOR or TERM=dumb), always or never."`
	Verbose bool   `short:"v" help:"List every resource with details. Report progress while running."`
	Quiet   bool   `short:"q" help:"Print nothing unless something failed."`
}

// app is the environment of a command: its general flags and its streams. It does
// not know the commands themselves, so that each of them can use it.
type app struct {
	generalFlags
	in      io.Reader
	out     *terminal.Stream
	err     *terminal.Console
	color   bool // write colour to out
	watched bool // out is a terminal

	onInterrupt atomic.Pointer[func(by os.Signal) (announce func())] // set while manifests run

	stopWaiting func()                         // for readers of out and err that read nothing
	host        func() (map[string]any, error) // the facts of this machine, found once
	commands    func() *kong.Node              // the whole grammar, for man and completion
}

// command is implemented by every command of the grammar.
type command interface {
	run(a *app) []exit.Ending
}

// print writes a result to standard output. It flushes standard error first,
// because both may be the same terminal.
func (a *app) print(result []byte) {
	a.err.Flush()
	_, _ = a.out.Write(result) // a Stream never fails
}
