package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/settle-cm/settle/model"
)

// shells are those of this machine, each with the words that a text is appended to.
func shells(t testing.TB) [][]string {
	t.Helper()
	var found [][]string
	for _, words := range [][]string{{"sh", "-c"}, {"dash", "-c"}, {"bash", "-c"}, {"zsh", "-c"}, {"ksh", "-c"}, {"busybox", "sh", "-c"}} {
		if _, err := exec.LookPath(words[0]); err == nil {
			found = append(found, words)
		}
	}
	if len(found) == 0 {
		t.Skip("no shell")
	}
	return found
}

// run gives a text to a shell, and returns all that it prints to standard output.
func run(t *testing.T, shell []string, text string) string {
	t.Helper()
	cmd := exec.Command(shell[0], append(slices.Clone(shell[1:]), text)...)
	cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=" + os.Getenv("PATH"), "HOME=/home/me"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q %q: %v", shell, text, err)
	}
	return string(out)
}

// hostile are values that a careless quoting takes for something else.
var hostile = []string{
	"", " ", "a", "it's", `"`, `\`, `'\''`, "a\nb", "\n", "$(touch pwned)", "`touch pwned`", "; touch pwned", "| touch pwned", "&& touch pwned #",
	"$HOME", "${HOME}", "!!", "!x", "*", "~", "-n", "#", "a=b", "é😀", "\xff\xfe", "\r\n", "\t", "{a,b}", "[0]", ":h", ")", "}", "EOF", "';touch pwned;'",
	`";touch pwned;"`, "\\\n", "$'x'", "${var.x}", "$", "\x01\x7f", "a[$(touch pwned)]", "esac", "done", strings.Repeat("'\"$`\\", 50),
}

// The two values of a template, and harmless stand-ins for them.
const (
	first, second = "¹", "²"
	one, two      = "+1+", "+2+"
)

// templates are texts that print the values in them.
var templates = []string{
	`printf '%s\0' ¹`, `printf '%s\0' "¹"`, `printf '%s\0' '¹'`, `printf '%s\0' a¹b "a²b" 'a¹b'`,
	`x=¹; printf '%s\0' "$x"`, `x="¹" y='²'; printf '%s\0' "$x" "$y"`, `x=a; printf '%s\0' $x¹ "$x¹" "${x}²" "$x.²" '$x¹' "$x:¹" "$x.$x:²" $x:¹`,
	`printf '%s\0' "$(printf '%s.' ¹)" "$(printf '%s.' "¹" '²')"`, `set a; printf '%s\0' "${#}¹" "$?²" "$1¹" $1² "$*¹"`,
	`if test "x¹" = x'¹'; then printf '%s\0' "¹"; fi`, `for i in ¹ "²"; do printf '%s\0' "$i"; done`, `case ¹ in ¹) printf '%s\0' ¹;; esac`,
	`f() { printf '%s\0' "$1¹" "$1"; }; f ²`, `(printf '%s\0' ¹) && { printf '%s\0' "²"; } || printf 'no\0'`,
	`export A=¹; sh -c 'printf "%s\0" "$A" "$1"' sh ²`, "printf '%s\\0' \\\n  ¹ \\\n  a\\\n² # why\nprintf '%s\\0' \"\\$¹\" \\$² \\\\¹ \"\\\\²\"",
	`printf '%s\0' "¹²¹" ¹²¹ '¹²¹' "$*¹²"`, `set -- ¹ ²; printf '%s\0' "$@" "¹"`, `printf '%s\0' ¹#² "#¹" {¹,b} "{²}"`,
	`printf '%s\0' "a$(printf %s "b$(printf %s. '¹' "²")c")d¹"`,
}

// FuzzFill has shells print values: byte for byte what they are, where harmless
// ones are printed.
func FuzzFill(f *testing.F) {
	for i := range max(len(templates), len(hostile)) {
		f.Add(uint(i), hostile[i%len(hostile)], hostile[(i*7+3)%len(hostile)])
	}
	all := shells(f)
	f.Fuzz(func(t *testing.T, n uint, a, b string) {
		if strings.Contains(a+b, model.PlaceholderByte) || len(a)+len(b) > 10_000 {
			t.Skip()
		}
		template := templates[n%uint(len(templates))]
		var list []model.Placeholder
		for _, c := range template {
			switch string(c) {
			case first:
				list = append(list, model.Placeholder{Text: a, Expr: "${var.a}"})
			case second:
				list = append(list, model.Placeholder{Text: b, Expr: "${var.b}"})
			}
		}
		for _, shell := range all {
			text, err := Fill(shell, strings.NewReplacer(first, model.PlaceholderByte, second, model.PlaceholderByte).Replace(template), list)
			if err != nil {
				t.Fatalf("%q: %v", shell, err)
			}
			printed := run(t, shell, strings.NewReplacer(first, one, second, two).Replace(template))
			want := strings.NewReplacer(one, a, two, b).Replace(printed)
			if got := run(t, shell, text); got != want {
				t.Errorf("%q %q\nprints %q\nwant   %q", shell, text, got, want)
			}
		}
	})
}

// pieces are what texts are put together of at random: all that opens, closes or
// ends something, and values.
var pieces = []string{
	"¹", "¹", "¹", "¹", " ", " ", " ", "a", "x=", "echo ", ": ", "'", "'", `"`, `"`, `\`, "$", "$x", "${x", "${x:-", "}", "$(", "$((", "(", ")", "))", "`",
	"\n", ";", "|", "&", "<<EOF\n", "\nEOF\n", "#", "[[ ", " ]]", "[ ", " ]", "$'", `$"`, "$[", "]", "{", "if :; then ", "; fi", "case a in ", ") ", ";; esac",
	"~", "*", "<", ">", "=", "!", "<(", "f() { ", "; }", "-eq ", "1", ",", "((", "@(", "\r", "\t", "é", "a[", "export ",
}

// escapes are values of which a shell that sees anything in them makes a file
// that is called pwned. They need no program for it.
var escapes = []string{
	"$(:>pwned)", "`:>pwned`", ";:>pwned;", "'\n:>pwned\n'", "\"\n:>pwned\n\"", "\n:>pwned\n", "'$(:>pwned)'", "\"$(:>pwned)\"", "a[$(:>pwned)]", ")\n:>pwned\n",
	"\\\n:>pwned\n", "EOF\n:>pwned\n", "}\n:>pwned\n", "\nEOF\n:>pwned\n", "`\n:>pwned\n`", "))\n:>pwned\n", "]]\n:>pwned\n", "'\"`\n:>pwned\n", ";;esac\n:>pwned\n", "\\'\n:>pwned\n",
}

// FuzzFillAnywhere puts texts together that hardly ever make sense. Where a value
// is accepted in one, no shell interprets its bytes.
func FuzzFillAnywhere(f *testing.F) {
	for i := range pieces {
		f.Add([]byte{byte(i), 0, byte(i), 9, 0, byte(i), 12, 0, byte(i)}, uint(i))
	}
	all := shells(f)
	f.Fuzz(func(t *testing.T, recipe []byte, n uint) {
		if len(recipe) > 60 {
			t.Skip()
		}
		var text strings.Builder
		for _, c := range recipe {
			text.WriteString(pieces[int(c)%len(pieces)])
		}
		count := strings.Count(text.String(), first)
		marked := strings.ReplaceAll(text.String(), first, model.PlaceholderByte)
		list := make([]model.Placeholder, count)
		for i := range list {
			list[i] = model.Placeholder{Text: escapes[(n+uint(i))%uint(len(escapes))], Expr: "${var.x}"}
		}
		if count == 0 {
			t.Skip()
		}
		for _, shell := range all {
			filled, err := Fill(shell, marked, list)
			if err != nil {
				continue
			}
			cmd := exec.Command(mustFind(t, shell[0]), append(slices.Clone(shell[1:]), filled)...)
			cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=/nonexistent"}
			_ = cmd.Run() // it hardly ever ends well
			if _, err := os.Lstat(filepath.Join(cmd.Dir, "pwned")); err == nil {
				t.Errorf("%q acted on a value in %q", shell, filled)
			}
		}
	})
}

func mustFind(t *testing.T, name string) string {
	t.Helper()
	file, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
