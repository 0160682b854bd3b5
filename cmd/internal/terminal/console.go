// Package terminal writes to the two output streams of settle: whole lines from
// any goroutine, log messages, and a line at the bottom of a terminal that says
// which resources are being run. It knows no manifest and no report.
package terminal

import (
	"cmp"
	"io"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/log"
	"github.com/muesli/termenv"
	"golang.org/x/term"

	"github.com/settle-cm/settle/cmd/internal/render"
)

// UseColor decides whether to write colours to w. when is the value of --color.
// The decision looks at the environment and at the stream, and never asks the
// terminal.
func UseColor(when string, w io.Writer, getenv func(string) string) bool {
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
	return IsTerminal(w)
}

// IsASCII reports whether the locale says that text is not UTF-8. Without a
// locale it is false, because most terminals show UTF-8.
func IsASCII(getenv func(string) string) bool {
	locale := strings.ToUpper(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	return locale != "" && !strings.Contains(locale, "UTF-8") && !strings.Contains(locale, "UTF8")
}

// IsTerminal reports whether w writes to a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := fileOf(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Options are the flags that decide how much a console says, and how.
type Options struct {
	Color   string // auto, always or never
	Quiet   bool   // errors only
	Verbose bool   // debug messages too
}

// Console is standard error: log messages, errors, and the output of commands
// while they run.
type Console struct {
	*log.Logger
	*Stream
	Color      bool        // write colours
	Terminal   bool        // it is a terminal
	Progress   bool        // write a line for each resource that changed or failed
	StatusLine *StatusLine // nil when the stream has none
	quiet      bool
}

// NewConsole returns a console that writes to w. The logger gets a fixed palette
// and a writer that is not a file, so that it never asks the terminal anything.
func NewConsole(w io.Writer, o Options) *Console {
	c := &Console{Stream: NewStream(w), Color: UseColor(o.Color, w, os.Getenv), Terminal: IsTerminal(w), quiet: o.Quiet}
	if c.Color { // without colours a user expects no other control sequences either
		c.StatusLine = newStatusLine(w)
	}
	if c.StatusLine != nil && !o.Quiet {
		c.ShowAbove(c.StatusLine)
	}
	c.Progress = o.Verbose || c.Terminal && !o.Quiet
	level := log.InfoLevel
	switch {
	case o.Quiet:
		level = log.ErrorLevel
	case o.Verbose:
		level = log.DebugLevel
	}
	c.Logger = log.NewWithOptions(c.Stream, log.Options{Level: level, TimeFunction: log.NowUTC, TimeFormat: time.TimeOnly})
	palette := termenv.Ascii
	if c.Color {
		palette = termenv.ANSI
	}
	c.SetColorProfile(palette)
	return c
}

// PrintError writes each line of a message with the name of the program before
// it, also when the console is quiet.
func (c *Console) PrintError(message string) {
	for line := range strings.Lines(message) {
		_, _ = io.WriteString(c.Stream, "settle: "+render.Escape(strings.TrimSuffix(line, "\n"))+"\n") // a Stream never fails
	}
}

// PrintText writes a text and a newline, also when the console is quiet.
func (c *Console) PrintText(text string) {
	_, _ = io.WriteString(c.Stream, text+"\n") // a Stream never fails
}

// PrintMark writes a text of settle between lines of the commands' output, in order.
func (c *Console) PrintMark(text string) {
	c.Buffer(func(buffered []byte) []byte { return append(buffered, text...) })
}

// LinePrefix returns the text before each line of a resource's output.
func (c *Console) LinePrefix(id string) string {
	prefix := render.Escape(id) + " | "
	if c.Color {
		prefix = "\x1b[2m" + prefix + "\x1b[0m"
	}
	return prefix
}

// PrintOutput writes one line of a command's output, unless the console is quiet.
func (c *Console) PrintOutput(prefix string, line []byte) {
	if c.quiet {
		return
	}
	c.Buffer(func(buffered []byte) []byte {
		return append(render.AppendLine(append(buffered, prefix...), line), '\n')
	})
}
