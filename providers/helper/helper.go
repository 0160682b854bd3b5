// Package helper carries one exchange with a helper: a fresh process gets one
// JSON text on standard input and answers with another on standard output. It
// says how an exchange failed; what the texts mean is for others. It never shows
// the input, which holds secrets.
package helper

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/settle-cm/settle/model"
)

// MaxReply is how many bytes a helper may write to standard output.
const MaxReply = 16 << 20

// Asker returns a function that runs a helper to its end. The error says why there
// is no reply: not started, timed out, killed, exit code other than 0, nothing
// written or too much written. It ends with the last lines of standard error. The
// exit has the reply in Reply and standard error in Output.
func Asker(run func(context.Context, model.Command) (model.Exit, error)) func(context.Context, model.Command) (model.Exit, error) {
	return func(ctx context.Context, c model.Command) (model.Exit, error) {
		c.Reply = MaxReply
		exit, err := run(ctx, c)
		if err = replyError(&exit, err); err != nil {
			err = &Failure{err, quoteLastLines(exit.Output)}
		}
		return exit, err
	}
}

// Failure is why a helper gave no reply.
type Failure struct {
	Err  error
	Last string // the last lines of its standard error, quoted
}

// Error says why, with the last lines of the helper's standard error.
func (f *Failure) Error() string {
	if f.Last == "" {
		return f.Err.Error()
	}
	return f.Err.Error() + "; its standard error ends with " + f.Last
}

// Brief says why, without any text of the helper.
func (f *Failure) Brief() string { return f.Err.Error() }

// Unwrap returns why.
func (f *Failure) Unwrap() error { return f.Err }

func replyError(exit *model.Exit, err error) error {
	switch {
	case err != nil && !exit.Began:
		return fmt.Errorf("cannot start: %w", err)
	case err != nil:
		return err
	case exit.Signal != "":
		return errors.New("killed by " + exit.Signal)
	case exit.Code != 0:
		return fmt.Errorf("exited %d", exit.Code)
	case len(exit.Reply) == 0:
		return errors.New("zero bytes received: it exited 0 and wrote nothing to standard output")
	}
	return nil
}

// quoteLastLines quotes the last lines of a helper's standard error.
func quoteLastLines(text string) string {
	const most, width = 3, 200
	var last []string
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0 && len(last) < most; i-- {
		line := strings.TrimSpace(lines[i])
		if line == "" {
			continue
		}
		if len(line) > width {
			cut := width
			for !utf8.RuneStart(line[cut]) {
				cut--
			}
			line = line[:cut] + "…"
		}
		last = append([]string{strconv.Quote(line)}, last...)
	}
	return strings.Join(last, ", ")
}
