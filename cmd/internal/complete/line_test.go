package complete

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestParseLine(t *testing.T) {
	for _, row := range []struct {
		line  string
		words []string
		word  string
	}{
		{"", nil, ""},
		{"settle", nil, "settle"},
		{"settle ", []string{"settle"}, ""},
		{"settle  apply\t-", []string{"settle", "apply"}, "-"},
		{`settle apply --only exec#a\ b`, []string{"settle", "apply", "--only"}, "exec#a b"},
		{`settle apply --only 'exec#a b`, []string{"settle", "apply", "--only"}, "exec#a b"},
		{`settle apply --only "exec#a \"b\" \x`, []string{"settle", "apply", "--only"}, `exec#a "b" \x`},
		{`settle apply ''`, []string{"settle", "apply"}, ""},
		{`settle apply '' `, []string{"settle", "apply", ""}, ""},
		{`settle apply a\`, []string{"settle", "apply"}, "a"},
		{"settle apply a\\\nb", []string{"settle", "apply"}, "ab"},
		{`settle 'it'"'"'s' x`, []string{"settle", "it's"}, "x"},
		{"cd x && settle pl", []string{"settle"}, "pl"},
		{"settle plan | settle a", []string{"settle"}, "a"},
		{"settle plan 2>/dev/null si", []string{"settle", "plan"}, "si"},
		{"settle plan >out -", []string{"settle", "plan"}, "-"},
		{"settle plan &> out -", []string{"settle", "plan"}, "-"},
		{"settle plan 2>&1 -", []string{"settle", "plan"}, "-"},
	} {
		l := ParseLine(row.line)
		if !slices.Equal(l.Words, row.words) || l.Word != row.word || l.Redirect {
			t.Errorf("%q is %q and %q, redirect %v", row.line, l.Words, l.Word, l.Redirect)
		}
	}
	for _, line := range []string{"settle plan > ou", "settle plan >", "settle plan 2>>", "settle plan &>x"} {
		if l := ParseLine(line); !l.Redirect || !slices.Equal(l.Words, []string{"settle", "plan"}) {
			t.Errorf("%q: %q, redirect %v", line, l.Words, l.Redirect)
		}
	}
}

// hostile are values that a shell would rather take for something else.
var hostile = []string{
	"exec#plain", "exec#two words", "exec#it's", `exec#a "quoted" b`, "exec#a:b=c", "exec#$HOME `id` $(id)", `exec#back\slash`,
	"exec#a#b", "#front", "~front", "~", "exec#a;b|c&d<e>f(g)h", "exec#*?[x]{a,b}", "exec#hey!you", "exec#ü ß", "exec#a  b", `\`, "'", `"`, "!", "a\tb",
}

// Whatever was typed of a word, and however it was quoted: bash takes what comes
// of it as the word that was meant.
func TestBashTakesItAsOneWord(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash here")
	}
	var script strings.Builder
	var want, lines []string
	for _, value := range hostile {
		for n := range len(value) + 1 {
			for _, typed := range typings(value[:n]) {
				line := "settle apply " + typed
				l := ParseLine(line)
				if l.Word != value[:n] {
					t.Fatalf("%q is read as %q, not %q", line, l.Word, value[:n])
				}
				for _, cut := range cuts(typed) {
					whole := line[:len(line)-cut] + l.Continue(value, cut, false)
					whole += open(whole)
					script.WriteString("set -- " + strings.TrimPrefix(whole, "settle ") + "\nprintf '%s\\0' \"$#\" \"$2\"\n")
					want = append(want, "2", value)
					lines = append(lines, line)
				}
			}
		}
	}
	out, err := exec.Command("bash", "--norc", "-c", script.String()).Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(got) != len(want) {
		t.Fatalf("%d words of %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%q becomes %q, want %q", lines[i/2], got[i], want[i])
		}
	}
	if len(want) < 1000 {
		t.Errorf("only %d", len(want))
	}
}

// typings are ways to type the beginning of a word.
func typings(text string) []string {
	list := []string{"'" + strings.ReplaceAll(text, "'", `'\''`)}
	if !strings.Contains(text, "!") {
		list = append(list, `"`+doubleQuoted.Replace(text))
	}
	if text != "" {
		list = append(list, ParseLine("").Continue(text, 0, false), "'"+strings.ReplaceAll(text, "'", `'\''`)+"'", `""`+ParseLine(`""`).Continue(text, 0, false))
	}
	return list
}

// cuts are how much of a word bash may replace: all of it, nothing, or what is
// behind its last break or quote.
func cuts(typed string) []int {
	list := []int{0}
	quote := byte(0)
	for i := 0; i < len(typed); i++ {
		c := typed[i]
		switch {
		case quote == 0 && c == '\\', quote == '"' && c == '\\':
			i++
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
			list = append(list, len(typed)-i-1)
		case c == quote:
			quote = 0
		case quote == 0 && (c == ':' || c == '='):
			list = append(list, len(typed)-i-1)
		}
	}
	if l := ParseLine(typed); l.states[len(l.states)-1].quote == 0 {
		list = append(list, len(typed))
	}
	return list
}

// open is the quote that bash closes by itself.
func open(line string) string {
	l := ParseLine(line)
	if q := l.states[len(l.states)-1].quote; q != 0 {
		return string(q)
	}
	return ""
}

func TestHomeKeepsItsMeaning(t *testing.T) {
	if got := ParseLine("settle apply ~/s").Continue("~/site one.yaml", 3, true); got != `~/site\ one.yaml` {
		t.Errorf("%s", got)
	}
	if got := ParseLine("settle apply ").Continue("~/x", 0, false); got != `\~/x` {
		t.Errorf("%s", got)
	}
}

// Whatever stands in a line: what comes of it is read as the value, and as one word.
func FuzzContinue(f *testing.F) {
	f.Add("settle apply --only exec#a", "exec#a b", 3)
	f.Add(`settle 'it`, "it's", 2)
	f.Add("settle \"a!\\\"", `a!"b`, 0)
	f.Add("x > a\\ ", "a b", 0)
	f.Fuzz(func(t *testing.T, line, more string, cut int) {
		l := ParseLine(line)
		if strings.HasSuffix(line, `\`) || strings.Contains(l.Word+more, "\n") {
			return // half a character; what Continue does not promise
		}
		value := l.Word + more
		cut = max(cut, 0) % len(l.states)
		whole := line[:len(line)-cut]
		if half := ParseLine(whole); strings.HasSuffix(whole, `\`) || half.start != l.start || !strings.HasPrefix(value, half.Word) {
			return // bash breaks no word there
		}
		again := ParseLine(whole + l.Continue(value, cut, false))
		if again.Word != value || !slices.Equal(again.Words, l.Words) || again.Redirect != l.Redirect {
			t.Errorf("%q with %q, %d bytes replaced, is read as %q and %q", line, value, cut, again.Words, again.Word)
		}
	})
}
