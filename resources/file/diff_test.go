package file

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestUnifiedShowsABoundedDiff(t *testing.T) {
	const head = "--- a\n+++ b\n"
	numbers := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintln(&b, i+1)
		}
		return b.String()
	}
	for _, tt := range []struct{ name, before, after, want string }{
		{"equal", "x\n", "x\n", ""},
		{"both empty", "", "", ""},
		{"from nothing", "", "a\nb\n", head + "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"to nothing", "a\n", "", head + "@@ -1 +0,0 @@\n-a\n"},
		{"one line of three", "a\nb\nc\n", "a\nB\nc\n", head + "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"no newline at the end", "a", "a\n", head + "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"far apart", numbers(20), strings.Replace(strings.Replace(numbers(20), "2\n", "two\n", 1), "19\n", "", 1),
			head + "@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n@@ -16,5 +16,4 @@\n 16\n 17\n 18\n-19\n 20\n"},
		{"binary", "a\x00", "b", head + "binary: 2 → 1 bytes\n"},
		{"not UTF-8", "caf\xe9\n", "café\n", head + "@@ -1 +1 @@\n-caf\uFFFD\n+café\n"},
		{"a long line", "", strings.Repeat("é", 400) + "\n", head + "@@ -0,0 +1 @@\n+" + strings.Repeat("é", 250) + "… 300 more bytes\n"},
		{"many lines", "", numbers(250), head + "@@ -0,0 +1,250 @@\n+" + strings.Join(strings.Split(numbers(200), "\n")[:200], "\n+") + "\n… 50 more lines\n"},
	} {
		if diff := cmp.Diff(tt.want, Unified("a", "b", []byte(tt.before), []byte(tt.after))); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// random returns a text of a few different lines, so that two texts have much in common.
func random(r *rand.Rand, n int) string {
	var b strings.Builder
	for range r.IntN(n + 1) {
		b.WriteString(string(rune('a' + r.IntN(5))))
		if r.IntN(20) > 0 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// patch accepts every diff that Unified writes.
func TestPatchAppliesADiff(t *testing.T) {
	if _, err := exec.LookPath("patch"); err != nil {
		t.Skip("no patch here")
	}
	r := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	for range 30 {
		before, after := random(r, 40), random(r, 40)
		diff := Unified("a", "a", []byte(before), []byte(after))
		if diff == "" {
			continue
		}
		path := filepath.Join(dir, "a")
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("patch", "--silent", path)
		cmd.Stdin = strings.NewReader(diff)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, diff)
		}
		got, err := os.ReadFile(path)
		if err != nil && after != "" { // patch removes what becomes empty
			t.Fatal(err)
		}
		if string(got) != after {
			t.Fatalf("got %q; want %q\n%s", got, after, diff)
		}
	}
}

func FuzzUnified(f *testing.F) {
	f.Add("a\nb\n", "a\nc")
	f.Add("\x00", "\xff\xfe")
	f.Fuzz(func(t *testing.T, before, after string) {
		diff := Unified("a", "b", []byte(before), []byte(after))
		if (diff == "") != (before == after) {
			t.Errorf("equal: %v, diff %q", before == after, diff)
		}
		if !utf8.ValidString(diff) || strings.Contains(diff, "\x00") {
			t.Errorf("unfit for a report: %q", diff)
		}
		if most := (diffLines + 10) * (diffWidth + 100); len(diff) > most {
			t.Errorf("%d bytes", len(diff))
		}
	})
}

func TestSuggestionForASymbolicModeIsOctal(t *testing.T) {
	for text, want := range map[string]string{
		"u=rwx,go=rx": `write "0755"`, "ugo=r": `write "0444"`, "=rw": `write "0666"`, "u=rw,g=,o=": `write "0600"`,
		"rw-rw----": `write "0660"`, "u=rws,go=": "", "u+x": "", "u=rw,g=r": "", "x=r": "", "rwsr-xr-x": "",
	} {
		got := suggestOctal(text)
		if want != "" && got != want || want == "" && !strings.HasPrefix(got, "write the whole mode") {
			t.Errorf("%s: %s; want %s", text, got, want)
		}
	}
}
