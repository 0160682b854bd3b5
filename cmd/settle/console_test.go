package main

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
	c := newConsole(&b, &grammar{Color: "never"})
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
				c.output(c.front(fmt.Sprintf("exec#%d", i)), []byte(strings.Repeat("x", 200)))
			}
		})
	}
	wg.Wait()
	c.flush()
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

func TestColored(t *testing.T) {
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
		if got := colored(row.when, &bytes.Buffer{}, func(name string) string { return row.env[name] }); got != row.want {
			t.Errorf("--color %s with %v: %v", row.when, row.env, got)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestOutlet(t *testing.T) {
	gone := outlet{w: failing{syscall.EPIPE}}
	full := outlet{w: failing{syscall.ENOSPC}}
	for _, o := range []*outlet{&gone, &full} {
		for range 2 {
			if n, err := o.Write([]byte("abc")); n != 3 || err != nil {
				t.Errorf("Write = %d, %v", n, err)
			}
		}
	}
	if err := gone.lost(); err != nil {
		t.Errorf("a reader that went away is no loss: %v", err)
	}
	if err := full.lost(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk is a loss: %v", err)
	}
}

func TestWanted(t *testing.T) {
	for line, want := range map[string]bool{
		"apply -o json m.yaml --nope": true,
		"apply -ojson --nope":         true,
		"apply --output=json --nope":  true,
		"apply --output json --nope":  true,
		"apply -o=json --nope":        true,
		"apply -o text --nope":        false,
		"apply --nope -- -o json":     false,
		"apply -o":                    false,
		"apply json --nope":           false,
		"apply --output jsonl --nope": false,
	} {
		if got := wanted(strings.Fields(line), "json"); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}
