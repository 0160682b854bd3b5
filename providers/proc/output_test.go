//go:build linux || darwin

package proc

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/settle-cm/settle/model/secret"
)

// lines splits text that is written in pieces cut where the bits of cuts say.
func lines(text string, cuts uint64) []string {
	var told []string
	s := splitter{emit: func(line []byte) { told = append(told, string(line)) }}
	from := 0
	for i := range len(text) {
		if cuts>>(i%64)&1 == 1 {
			s.write([]byte(text[from:i]))
			from = i
		}
	}
	s.write([]byte(text[from:]))
	s.close()
	return told
}

func TestSplitterEmitsLines(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", lineLimit/16)
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"none", "", nil},
		{"two", "a\nb\n", []string{"a", "b"}},
		{"the last without its end", "a\nb", []string{"a", "b"}},
		{"empty ones", "\n\na\n\n", []string{"", "", "a", ""}},
		{"CRLF", "a\r\nb\r\r\n\r\n", []string{"a", "b", ""}},
		{"a progress bar", "1%\r50%\r100%\ndone\n", []string{"100%", "done"}},
		{"a progress bar that ends the stream", "1%\r50%\r", []string{"50%"}},
		{"a shorter state after a longer one", "downloading\rok\n", []string{"ok"}},
		{"control bytes", "a\x1b[31m\x00\x07\tb\x7f", []string{`a\x1b[31m\x00\x07` + "\t" + `b\x7f`}},
		{"no UTF-8", "caf\xe9 \xff\xc3", []string{`caf\xe9 \xff\xc3`}},
		{"C1 controls, which terminals obey", "a\u009b31mb\u0080", []string{`a\u009b31mb\u0080`}},
		{"any other text", "é 世界 \u00a0 \U0001F600 \uFFFD", []string{"é 世界 \u00a0 \U0001F600 \uFFFD"}},
		{"as long as may be", long + "\n", []string{long}},
		{"as long as may be, replaced", long + "\rnew\n", []string{"new"}},
		{"longer", long + "x\n", []string{long + "...", "...x"}},
		{"much longer", long + long + "xyz", []string{long + "...", "..." + long + "...", "...xyz"}},
		{"longer, then replaced", long + "x\rnew\n", []string{long + "...", "new"}},
		{"a rune across the cut", long[1:] + "é\n", []string{long[1:] + "...", "...é"}},
		{"half a rune before the cut", long[1:] + "\xc3x\n", []string{long[1:] + "...", `...\xc3x`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, cuts := range []uint64{0, 1<<64 - 1, 0x5555555555555555, 0x8888888888888888} {
				got, want := fmt.Sprintf("%q", lines(tt.text, cuts)), fmt.Sprintf("%q", tt.want)
				if got != want {
					brief := strings.NewReplacer(long, "LONG", long[1:], "ONG")
					t.Errorf("cut at %x:\ngot  %s\nwant %s", cuts, brief.Replace(got), brief.Replace(want))
				}
			}
		})
	}
}

func FuzzLines(f *testing.F) {
	f.Add("a\rb\r\nc\n\xffd\u009b", uint64(0x5a5a), 3)
	f.Add("é世\r", uint64(7), lineLimit)
	f.Add("0123456789\x7f0123\x1f456789\t0123456\x80", uint64(0), 0)
	f.Fuzz(func(t *testing.T, text string, cuts uint64, repeat int) {
		if n := len(text); n > 0 && n < 1000 { // long lines are where it is hard
			text = strings.Repeat(text, 1+min(max(repeat, 0), 3*lineLimit/n))
		}
		n := 0
		for n < len(text) && (text[n] >= ' ' && text[n] <= '~' || text[n] == '\t') {
			n++
		}
		if got := countPrintable([]byte(text)); got != n {
			t.Fatalf("%d bytes are printable, got %d", n, got)
		}
		whole := lines(text, 0)
		pieces := lines(text, cuts)
		if !slices.Equal(whole, pieces) {
			t.Fatalf("whole: %q\npieces: %q", whole, pieces)
		}
		for _, line := range whole {
			if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 }) {
				t.Fatalf("not safe to print: %q", line)
			}
		}
		if !strings.Contains(text, "\r") && len(text) < lineLimit { // nothing is lost
			want := appendSafe(nil, []byte(strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\a")))
			if got := strings.Join(whole, `\x07`); got != string(want) {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
	})
}

// kept returns the kept part of a text that is written in chunks of n bytes.
func kept(text string, n int) (string, bool) {
	var c capture
	for len(text) > n {
		c.write([]byte(text[:n]))
		text = text[n:]
	}
	c.write([]byte(text))
	return c.text()
}

func TestCaptureKeepsHeadAndTail(t *testing.T) {
	head, tail := strings.Repeat("h", keptBytes), strings.Repeat("t", keptBytes)
	for _, tt := range []struct {
		name, text, want string
		truncated        bool
	}{
		{"nothing", "", "", false},
		{"all", head + tail, head + tail, false},
		{"all but a byte", head + "x" + tail, head + "\n... 1 bytes dropped ...\n" + tail, true},
		{"much", head + strings.Repeat("x", 10*keptBytes) + tail, head + "\n... 327680 bytes dropped ...\n" + tail, true},
		{"cut at a line end", head[1:] + "\nx" + tail, head[1:] + "\n... 1 bytes dropped ...\n" + tail, true},
		{"cut in runes", head[1:] + "é世" + tail[1:], head[1:] + "\n... 5 bytes dropped ...\n" + tail[1:], true},
		{"no UTF-8", "caf\xe9\x00\xff\n", "caf\uFFFD\x00\uFFFD\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, n := range []int{1, 3, 1000, keptBytes - 1, keptBytes, 2*keptBytes + 1, 1 << 20} {
				got, truncated := kept(tt.text, n)
				if got != tt.want || truncated != tt.truncated {
					t.Errorf("in pieces of %d: %d bytes, truncated %v, around the cut %q", n, len(got), truncated, got[max(0, min(len(got), keptBytes)-10):min(len(got), keptBytes+40)])
				}
			}
		})
	}
}

// TestLongLinesAreCutIntoPieces: a line of any length passes, and what follows it is told.
func TestLongLinesAreCutIntoPieces(t *testing.T) {
	t.Parallel()
	c := sh("head -c 5000000 /dev/zero | tr '\\0' a; echo; echo END")
	total, longest, last := 0, 0, ""
	c.Output = func(line []byte) {
		total += bytes.Count(line, []byte("a"))
		longest = max(longest, len(line))
		last = string(line)
	}
	e, err := Run(t.Context(), c)
	if err != nil || total != 5000000 || longest > lineLimit+2*len(cutMark) || last != "END" || !e.Truncated || !strings.HasSuffix(e.Output, "aaa\nEND\n") {
		t.Errorf("%v, %d bytes, the longest line %d, the last %q", err, total, longest, last)
	}
}

// TestLinesComeAsTheyAreWritten: the command waits for its listener to have had the first.
func TestLinesComeAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := sh("echo first; while ! test -e %s/heard; do sleep 0.01; done; echo second", dir)
	c.Timeout = 20 * time.Second
	var told []string
	c.Output = func(line []byte) {
		if told = append(told, string(line)); string(line) == "first" {
			copyFile(t, "/dev/null", dir+"/heard")
		}
	}
	if e, err := Run(t.Context(), c); err != nil || e.Code != 0 || fmt.Sprint(told) != "[first second]" {
		t.Errorf("%v, %v, %q", e, err, told)
	}
}

// Secrets are redacted across writes, in lines and in the kept output.
func TestOutputIsRedacted(t *testing.T) {
	t.Parallel()
	pem := "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\n-----END KEY-----\n"
	mask, _ := secret.New([]string{"s3cr3t-value", pem})
	c := sh(`echo start; printf 'https://s3cr3t-'; sleep 0.1; printf 'value@host/\n'
		echo '  -----BEGIN KEY-----'; echo '  MIIEvQIBADANBgkqhkiG'; printf '  -----END KEY-----\ns3cr3t-valu'; exit 3`)
	c.Redact = mask.Stream
	var told []string
	c.Output = func(line []byte) { told = append(told, string(line)) }
	e, err := Run(t.Context(), c)
	want := "start\nhttps://***@host/\n  ***\n  ***\n  ***\ns3cr3t-valu"
	if err != nil || e.Code != 3 || e.Output != want || strings.Join(told, "\n") != want {
		t.Errorf("%v, %v\nkept %q\ntold %q", e, err, e.Output, told)
	}
}
