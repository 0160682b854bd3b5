//go:build linux || darwin

package proc

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
)

// asked is a shell command whose standard output is kept apart.
func asked(limit int, format string, args ...any) model.Command {
	c := sh(format, args...)
	c.Reply = limit
	return c
}

func TestReplyIsKeptApart(t *testing.T) {
	c := asked(100, `printf 'out\377'; echo log >&2; printf '\n'`)
	var heard []string
	c.Output = func(line []byte) { heard = append(heard, string(line)) }
	exit, err := Run(t.Context(), c)
	if err != nil || string(exit.Reply) != "out\xff\n" || exit.Output != "log\n" || strings.Join(heard, "|") != "log" {
		t.Errorf("reply %q, output %q, heard %q, error %v", exit.Reply, exit.Output, heard, err)
	}
}

func TestReplyIsReadWhileInputIsWritten(t *testing.T) {
	c := asked(2<<20, `cat; cat >&2 </dev/null`)
	c.Stdin = bytes.Repeat([]byte("x"), 1<<20)
	exit, err := Run(t.Context(), c)
	if err != nil || !bytes.Equal(exit.Reply, c.Stdin) {
		t.Errorf("%d bytes came back of %d, error %v", len(exit.Reply), len(c.Stdin), err)
	}
}

func TestReplyOfExactlyTheLimit(t *testing.T) {
	exit, err := Run(t.Context(), asked(100_000, `head -c 100000 /dev/zero`))
	if err != nil || len(exit.Reply) != 100_000 {
		t.Errorf("%d bytes, error %v", len(exit.Reply), err)
	}
}

// One that writes too much is killed, whether or not it is still there to be.
func TestReplyOverTheLimitKillsTheCommand(t *testing.T) {
	for name, script := range map[string]string{
		"for ever":            `trap '' TERM; yes`,
		"and exits":           `head -c 100001 /dev/zero; exit 3`,
		"from a grandchild":   `yes & exit 0`,
		"and ignores SIGPIPE": `trap '' PIPE TERM; while :; do head -c 65536 /dev/zero; done`,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			exit, err := Run(ctx, asked(100_000, "%s", script))
			var much *ReplyTooLong
			if !errors.As(err, &much) || err.Error() != "wrote more than 100000 bytes to standard output" || !exit.Began {
				t.Errorf("error %v", err)
			}
			if len(exit.Reply) > 100_000 {
				t.Errorf("%d bytes were kept", len(exit.Reply))
			}
		})
	}
}

// A reply that is there is there, whatever a background child does with the pipe.
func TestReplyBesideAChildThatHoldsThePipe(t *testing.T) {
	pid := t.TempDir() + "/pid"
	exit, err := Run(t.Context(), asked(100, `sleep 600 & echo $! >%s; echo reply`, pid))
	child := pidIn(t, pid)
	defer func() { _ = syscall.Kill(child, syscall.SIGKILL) }()
	if err != nil || string(exit.Reply) != "reply\n" {
		t.Errorf("reply %q, error %v", exit.Reply, err)
	}
	if len(exit.Warnings) != 1 || !strings.Contains(exit.Warnings[0], "sleep (pid ") {
		t.Errorf("warnings %q", exit.Warnings)
	}
	if p, err := os.FindProcess(child); err != nil || p.Signal(syscall.Signal(0)) != nil {
		t.Errorf("the child is gone: %v", err)
	}
}

func TestReplyIsKeptAtATimeout(t *testing.T) {
	c := asked(100, `echo part; sleep 600`)
	c.Timeout = 200 * time.Millisecond
	exit, err := Run(t.Context(), c)
	if err == nil || err.Error() != "timed out after 200ms" || string(exit.Reply) != "part\n" {
		t.Errorf("reply %q, error %v", exit.Reply, err)
	}
}
