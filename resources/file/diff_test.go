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

func TestUnified(t *testing.T) {
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
		if diff := cmp.Diff(tt.want, unified("a", "b", []byte(tt.before), []byte(tt.after))); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// random is a text of a few different lines, so that much of two of them is equal.
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

// Edits make one text of the other, and are as few as there can be.
func TestEditsAreShortest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		before, after := lines([]byte(random(r, 12))), lines([]byte(random(r, 12)))
		var from, to []string
		changes := 0
		for _, e := range edits(before, after) {
			if e.op != '+' {
				from = append(from, e.line)
			}
			if e.op != '-' {
				to = append(to, e.line)
			}
			if e.op != ' ' {
				changes++
			}
		}
		if !cmp.Equal(from, before) || !cmp.Equal(to, after) {
			t.Fatalf("%q, %q became %q, %q", before, after, from, to)
		}
		if want := len(before) + len(after) - 2*common(before, after); changes != want {
			t.Fatalf("%q, %q: %d edits; want %d", before, after, changes, want)
		}
	}
}

// common is the length of the longest common subsequence, the slow way.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

func TestEditsAreBounded(t *testing.T) {
	before, after := make([]string, 3000), make([]string, 3000)
	for i := range before {
		before[i], after[i] = fmt.Sprint("before ", i), fmt.Sprint("after ", i)
	}
	before[0], after[0] = "same", "same"
	all := edits(before, after)
	if len(all) != 1+2*2999 || all[0].op != ' ' || all[1].op != '-' || all[3000].op != '+' {
		t.Errorf("%d edits", len(all))
	}
}

// patch reads what unified writes.
func TestPatchReadsIt(t *testing.T) {
	if _, err := exec.LookPath("patch"); err != nil {
		t.Skip("no patch here")
	}
	r := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	for range 30 {
		before, after := random(r, 40), random(r, 40)
		diff := unified("a", "a", []byte(before), []byte(after))
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
		diff := unified("a", "b", []byte(before), []byte(after))
		if (diff == "") != (before == after) {
			t.Errorf("equal: %v, diff %q", before == after, diff)
		}
		if !utf8.ValidString(diff) || strings.Contains(diff, "\x00") {
			t.Errorf("not for a report: %q", diff)
		}
		if most := (diffLines + 10) * (diffWidth + 100); len(diff) > most {
			t.Errorf("%d bytes", len(diff))
		}
	})
}

func TestOctalFor(t *testing.T) {
	for text, want := range map[string]string{
		"u=rwx,go=rx": `write "0755"`, "ugo=r": `write "0444"`, "=rw": `write "0666"`, "u=rw,g=,o=": `write "0600"`,
		"rw-rw----": `write "0660"`, "u=rws,go=": "", "u+x": "", "u=rw,g=r": "", "x=r": "", "rwsr-xr-x": "",
	} {
		got := octalFor(text)
		if want != "" && got != want || want == "" && !strings.HasPrefix(got, "write the whole mode") {
			t.Errorf("%s: %s; want %s", text, got, want)
		}
	}
}
