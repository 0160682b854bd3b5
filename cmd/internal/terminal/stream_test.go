package terminal

import (
	"bytes"
	"sync"
	"testing"
	"time"
)

// counting is a writer that several goroutines may use and read.
type counting struct {
	mu     sync.Mutex
	text   bytes.Buffer
	writes int
}

func (c *counting) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes++
	return c.text.Write(p)
}

func (c *counting) now() (string, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String(), c.writes
}

func TestStreamBuffersLinesForAMoment(t *testing.T) {
	var w counting
	o := NewStream(&w)
	for range 10_000 {
		o.Buffer(func(held []byte) []byte { return append(held, "a line\n"...) })
	}
	_, _ = o.Write([]byte("after them\n"))
	text, writes := w.now()
	if lines := bytes.Count([]byte(text), []byte("a line\n")); lines != 10_000 || text[len(text)-11:] != "after them\n" {
		t.Errorf("%d lines, then %q", lines, text[max(0, len(text)-11):])
	}
	if writes > 1000 {
		t.Errorf("%d writes for 10,000 lines", writes)
	}
	o.Buffer(func(held []byte) []byte { return append(held, "by itself\n"...) })
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if text, _ := w.now(); text[len(text)-10:] == "by itself\n" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a line was never written")
		}
	}
}
