package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Lines of many writers stay whole, whichever logger they come through (SC-100).
func TestConsoleNeverMixesLines(t *testing.T) {
	var b bytes.Buffer
	c := NewConsole(&b, Options{Color: "never"})
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			derived := c.With("n", i)
			for range 20 {
				derived.Info("told")
			}
		})
	}
	for i := range 10 {
		wg.Go(func() {
			for range 100 {
				c.PrintOutput(c.LinePrefix(fmt.Sprintf("exec#%d", i)), []byte(strings.Repeat("x", 200)))
			}
		})
	}
	wg.Wait()
	c.Flush()
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if want := 50*20 + 10*100; len(lines) != want {
		t.Errorf("%d lines, want %d", len(lines), want)
	}
	whole := regexp.MustCompile(`^(INFO told n=\d+|exec#\d \| x{200})$`)
	for _, line := range lines {
		if !whole.MatchString(line) {
			t.Fatalf("mixed: %q", line)
		}
	}
}

func TestUseColor(t *testing.T) {
	for _, row := range []struct {
		when string
		env  map[string]string
		want bool
	}{
		{"auto", nil, false}, // a buffer is no terminal
		{"always", nil, true},
		{"never", map[string]string{"CLICOLOR_FORCE": "1"}, false},
		{"auto", map[string]string{"CLICOLOR_FORCE": "1"}, true},
		{"auto", map[string]string{"CLICOLOR_FORCE": "0"}, false},
		{"auto", map[string]string{"CLICOLOR_FORCE": "1", "TERM": "dumb"}, true},
		{"auto", map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, false},
		{"always", map[string]string{"NO_COLOR": "1", "TERM": "dumb"}, true},
	} {
		if got := UseColor(row.when, &bytes.Buffer{}, func(name string) string { return row.env[name] }); got != row.want {
			t.Errorf("--color %s with %v: %v", row.when, row.env, got)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestStreamKeepsErrorsButNoReaderThatWentAway(t *testing.T) {
	gone := Stream{w: failing{syscall.EPIPE}}
	full := Stream{w: failing{syscall.ENOSPC}}
	for _, o := range []*Stream{&gone, &full} {
		for range 2 {
			if n, err := o.Write([]byte("abc")); n != 3 || err != nil {
				t.Errorf("Write = %d, %v", n, err)
			}
		}
	}
	if err := gone.Err(); err != nil {
		t.Errorf("a reader that went away is not an error: %v", err)
	}
	if err := full.Err(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk is an error: %v", err)
	}
}
