package terminal

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/settle-cm/settle/cmd/internal/render"
)

func TestStatusTextFitsTheColumns(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p := &Progress{total: 120, done: 7}
	for i, id := range []string{"exec#build", "exec#日本語のテスト", "exec#x\x1b]0;y"} {
		p.running = append(p.running, runningResource{n: i, id: id, since: start.Add(time.Duration(-i) * 40 * time.Second)})
	}
	now := start.Add(12 * time.Second)
	for columns, want := range map[int]string{
		100: `7/120 exec#build 12s, exec#日本語のテスト 52s, exec#x\x1b]0;y 1m32s`,
		50:  `7/120 exec#build 12s, exec#日本語のテスト 52s +1`,
		40:  `7/120 exec#build 12s +2`,
		25:  `7/120 exec#build 12s +2`,
		20:  `7/120 exec#… 12s +2`,
		16:  `7/120 12s +2`,
		8:   `7/120 …`,
		1:   `…`,
	} {
		got := p.statusText(now, columns)
		if got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
		if columns > 1 && render.Cells(got) >= columns {
			t.Errorf("%d columns: %q is too wide", columns, got)
		}
	}
	p.running = nil
	if got := p.statusText(now, 80); got != "" {
		t.Errorf("nothing runs, and it says %q", got)
	}
}

func TestSilentCommandsAreLoggedEveryHalfMinute(t *testing.T) {
	p := NewProgress(NewConsole(&bytes.Buffer{}, Options{Color: "never", Quiet: true}))
	p.Begin(2) // quiet: nothing is shown
	if p.stop != nil {
		t.Fatal("a quiet console shows progress")
	}
	p = NewProgress(NewConsole(&bytes.Buffer{}, Options{Color: "never"}))
	p.Begin(2)
	p.End() // from here on the test is the clock
	p.Started(0, "exec#talks")
	p.Started(1, "exec#silent")
	start := time.Now()
	var said []string
	for second := 1; second <= 125; second++ {
		if second%20 == 0 {
			p.HadOutput(0)
		}
		if second == 100 {
			p.Finished(0)
		}
		for _, beat := range p.silentLines(start.Add(time.Duration(second) * time.Second)) {
			said = append(said, fmt.Sprintf("%d: %s", second, beat))
		}
	}
	want := []string{
		"30: exec#silent still runs after 30s, silent for 30s",
		"60: exec#silent still runs after 1m00s, silent for 30s",
		"90: exec#silent still runs after 1m30s, silent for 30s",
		"120: exec#silent still runs after 2m00s, silent for 30s",
	}
	if strings.Join(said, "\n") != strings.Join(want, "\n") {
		t.Errorf("it said\n%s\nwant\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
}

func TestInterruptNamesWhatTheRunWaitsFor(t *testing.T) {
	var b bytes.Buffer
	c := NewConsole(&b, Options{Color: "never"})
	p := NewProgress(c)
	p.AnnounceInterrupt("press Ctrl-C again", 10*time.Second)()
	p.Begin(9)
	for n, id := range []string{"exec#a", "exec#b", "exec#c", "exec#d", "exec#e"} {
		p.Started(n, id)
	}
	p.AnnounceInterrupt("press Ctrl-C again", 10*time.Second)()
	for n := range 4 {
		p.Finished(n)
	}
	p.AnnounceInterrupt("send the signal again", 90*time.Second)()
	p.Finished(4)
	p.End()
	p.AnnounceInterrupt("send the signal again", time.Second)()
	c.Flush()
	want := "WARN interrupted: waiting up to 10s for exec#a, exec#b, exec#c and 2 more to end; press Ctrl-C again to kill them\n" +
		"WARN interrupted: waiting up to 1m30s for exec#e to end; send the signal again to kill it\n"
	if b.String() != want {
		t.Errorf("it said\n%s\nwant\n%s", b.String(), want)
	}
}

func TestStatusLineStaysBelowTheText(t *testing.T) {
	var b bytes.Buffer
	s := &StatusLine{w: &b}
	out := s.above(&b)
	write := func(text string) {
		if _, err := out.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write("one\n")
	s.Show("1/2 x")
	write("two\n")
	s.Show("")
	s.Show("")
	write("three\n")
	if want := "one\n" + eraseLine + wrapOff + "1/2 x" + wrapOn + eraseLine + "two\n" + wrapOff + "1/2 x" + wrapOn + eraseLine + "three\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	(*StatusLine)(nil).Show("no terminal")
}
