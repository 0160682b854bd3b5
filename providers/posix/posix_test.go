package posix

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/settle-cm/settle/model"
)

func TestArgv(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, line string
		want       []string
	}{
		{"words", "/usr/bin/tar -xzf  app.tar.gz", []string{"/usr/bin/tar", "-xzf", "app.tar.gz"}},
		{"quotes join words", `echo 'a b' "c d"e f\ g ''`, []string{"echo", "a b", "c de", "f g", ""}},
		{"variables are text", `echo $USER ${HOME} "$USER"`, []string{"echo", "$USER", "${HOME}", "$USER"}},
		{"globs are text", "ls *.go a?", []string{"ls", "*.go", "a?"}},
		{"quoted operators are text", `echo '&&' "|" \; \> '2>&1'`, []string{"echo", "&&", "|", ";", ">", "2>&1"}},
		{"single operators within a word are text", "a a&b a>b a<b -> =>", []string{"a", "a&b", "a>b", "a<b", "->", "=>"}},
		{"operators within a URL are text", "curl http://x/?a=1&b=2;c|d", []string{"curl", "http://x/?a=1&b=2;c|d"}},
		{"quoted operators within a word are text", `find -exec rm {} \; 'a;b' "a&&b" a\|b`, []string{"find", "-exec", "rm", "{}", ";", "a;b", "a&&b", "a|b"}},
		{"quoted substitutions are text", "echo '$(date)' '`date`' \\$(date)", []string{"echo", "$(date)", "`date`", "$(date)"}},
		{"one newline at the end is dropped", "true a\n", []string{"true", "a"}},
		{"a newline in quotes is data", "printf 'a\nb'", []string{"printf", "a\nb"}},
		{"a continued line goes on", "true \\\n  a\\\nb", []string{"true", "ab"}},
		{"a continued line between words", "true \\\n \\\n b", []string{"true", "b"}},
		{"a hash is text", "echo #a", []string{"echo", "#a"}},
		{"an exclamation mark that negates nothing is text", `test ! -e a!b !c`, []string{"test", "!", "-e", "a!b", "!c"}},
		{"a carriage return in single quotes is data", "printf 'a\rb'", []string{"printf", "a\rb"}},
		{"other letters", "echo é\u00a0ü", []string{"echo", "é\u00a0ü"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, err := Argv(tt.line, nil); err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("Argv(%q) = %q, %v; want %q", tt.line, got, err, tt.want)
			}
		})
	}
}

func TestArgvRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ line, message string }{
		{"echo a && touch b", `"&&" would be an argument: no shell reads this command`},
		{"a || b", `"||" would be an argument: no shell reads this command`},
		{"a | b", `"|" would be an argument: no shell reads this command`},
		{"a |& b", `"|&" would be an argument: no shell reads this command`},
		{"a &", `"&" would be an argument: no shell reads this command`},
		{"a ; b", `";" would be an argument: no shell reads this command`},
		{"a > b", `">" would be an argument: no shell reads this command`},
		{"a >> b", `">>" would be an argument: no shell reads this command`},
		{"a < b", `"<" would be an argument: no shell reads this command`},
		{"a 2>&1", `"2>&1" would be an argument: no shell reads this command`},
		{"a 2>/dev/null", `"2>/dev/null" would be an argument: no shell reads this command`},
		{"a &> b", `"&>" would be an argument: no shell reads this command`},
		{"a <<EOF", `"<<EOF" would be an argument: no shell reads this command`},
		{"rm -rf build;mkdir build", `"build;mkdir" has an operator of a shell in it: no shell reads this command`},
		{"true; touch x", `"true;" has an operator of a shell in it: no shell reads this command`},
		{"stop app ||true", `"||true" has an operator of a shell in it: no shell reads this command`},
		{"a&&b", `"a&&b" has an operator of a shell in it: no shell reads this command`},
		{"ls|wc -l", `"ls|wc" has an operator of a shell in it: no shell reads this command`},
		{"sleep 9&", `"9&" has an operator of a shell in it: no shell reads this command`},
		{"curl http://x/?a=1& b", `"http://x/?a=1&" has an operator of a shell in it: no shell reads this command`},
		{"! test -e x", `"!" would be an argument: no shell reads this command`},
		{"echo $(date)", `"$(date)" would be an argument: no shell reads this command`},
		{"echo a`date`", "\"a`date`\" would be an argument: no shell reads this command"},
		{"touch a\ntouch b\n", "several lines need a shell"},
		{"true\n\n", "several lines need a shell"},
		{"printf \"a\rb\"", "a carriage return in the command"},
		{"touch a\r\ntouch b\r\n", "a carriage return in the command"},
		{"echo it's", "a single quote is not closed"},
		{`echo "a`, "a double quote is not closed"},
		{`echo a\`, `a \ at the end escapes nothing`},
		{"", "command is empty"},
		{" \t", "command is empty"},
		{"''", "command is empty"},
		{`"" a`, "command is empty"},
	} {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			argv, err := Argv(tt.line, nil)
			var refused *model.AdviceError
			if !errors.As(err, &refused) {
				t.Fatalf("Argv(%q) = %q, %v; want an error of ours", tt.line, argv, err)
			}
			if refused.Message != tt.message {
				t.Errorf("Argv(%q): %s, want %s", tt.line, refused.Message, tt.message)
			}
			if refused.Suggestion == "" && tt.message != "command is empty" {
				t.Errorf("Argv(%q) tells no way out", tt.line)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line string
		want []string
	}{
		{"/usr/bin/tar -xzf app.tar.gz", nil},
		{"echo $USER", []string{`"$USER" is not expanded`}},
		{`echo "a$USER" ${HOME}/x`, []string{`"$USER" is not expanded`, `"${HOME}" is not expanded`}},
		{`echo "$(date; echo ${x:-y})"`, []string{`"$(…)" is not expanded`, `"${x}" is not expanded`}},
		{"echo \"`date`\"", []string{"\"`…`\" is not expanded"}},
		{`echo '$USER' \$USER $ $1`, nil},
		{"ls ~/x a~", []string{`"~/x" is not expanded`}},
		{`ls '~' \~`, nil},
		{"ls *.go", []string{`"*.go" matches no files: it is passed on as it stands`}},
		{"ls [ab]c", []string{`"[ab]c" matches no files: it is passed on as it stands`}},
		{`ls '*.go' \*.go "a?"`, nil},
		{"[ -e /x ]", nil},
		{"curl http://x/?a=1&b=<c>", nil},
		{"echo a>b x", []string{`"a>b" is passed on as it stands: no shell reads the >`}},
		{"pip install foo>=1.2 'a<b'", []string{`"foo>=1.2" is passed on as it stands: no shell reads the >`}},
		{"echo a&b", []string{`"a&b" is passed on as it stands: no shell reads the &`}},
		{"LANG=C sort a", []string{`"LANG=C" is taken for the program`}},
		{"env LANG=C sort a", nil},
	} {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, warning := range Warnings(tt.line, nil) {
				if warning.Suggestion == "" {
					t.Errorf("%q tells no way out", warning)
				}
				got = append(got, warning.Message)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("Warnings(%q) = %q, want %q", tt.line, got, tt.want)
			}
		})
	}
}

// shellWords asks a real shell for the words of a text.
func shellWords(t *testing.T, text string) []string {
	t.Helper()
	out, err := exec.Command("/bin/sh", "-c", `printf '%s\0' `+text).Output()
	if err != nil {
		t.Fatalf("sh does not read %q: %v", text, err)
	}
	words := strings.Split(string(out), "\x00")
	return words[:len(words)-1]
}

// FuzzArgv compares the words of a line with those that a real shell sees,
// wherever it would not act on the line in ways that settle does not.
func FuzzArgv(f *testing.F) {
	for _, seed := range []string{`a 'b c' "d"e f\ g ''`, "a \\\n b", `"a\"b\$c\d"`, "a\tb\n", `''"" é`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > 1000 || strings.ContainsRune(line, 0) {
			t.Skip()
		}
		argv, err := Argv(line, nil)
		if err != nil {
			return
		}
		words, _ := splitWords(strings.TrimSuffix(line, "\n"), nil)
		if len(words) != len(argv) {
			t.Fatalf("scan(%q) sees %d words, Argv %q", line, len(words), argv)
		}
		for _, w := range words {
			if strings.ContainsAny(w.bare, "|&;<>()*?[#~") || strings.ContainsAny(w.open, "$`") {
				t.Skip() // a shell acts on it
			}
		}
		if got := shellWords(t, line); !slices.Equal(got, argv) {
			t.Errorf("Argv(%q) = %q, a shell reads %q", line, argv, got)
		}
	})
}

// FuzzJoin pastes what Join wrote into a real shell, and reads it back with Argv
// (SC-105).
func FuzzJoin(f *testing.F) {
	for _, seed := range [][3]string{
		{"#x", "", "a b"}, {"~", "it's", "a\nb"}, {"é", "-n", "*"}, {"!", "a=b", "$HOME"},
		{"if", "{a,b}", "[x]"}, {"A=b", "\\", "`"}, {"\t", "\"", "''"}, {"\xff", "a#b", "~x"}, {"!!", "^", "%1"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		argv := []string{a, b, c}
		text := Join(argv)
		if strings.ContainsRune(text, 0) || len(text) > 10_000 {
			t.Skip()
		}
		if got := shellWords(t, text); !slices.Equal(got, argv) {
			t.Errorf("Join(%q) = %s, a shell reads %q", argv, text, got)
		}
		if a == "" {
			return // no command
		}
		if got, err := Argv(text, nil); err != nil || !slices.Equal(got, argv) {
			t.Errorf("Argv(%s) = %q, %v; want %q", text, got, err, argv)
		}
	})
}

func TestJoinIsReadable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		argv []string
		want string
	}{
		{[]string{"/usr/bin/tar", "-xzf", "app.tar.gz"}, "/usr/bin/tar -xzf app.tar.gz"},
		{[]string{"echo", "a b", ""}, "echo 'a b' ''"},
		{[]string{"env", "A=b"}, "env A=b"},
		{[]string{"A=b"}, "'A=b'"},
		{[]string{"if"}, "'if'"},
		{[]string{"echo", "it's", "#"}, `echo 'it'\''s' '#'`},
		{nil, ""},
	} {
		if got := Join(tt.argv); got != tt.want {
			t.Errorf("Join(%q) = %s, want %s", tt.argv, got, tt.want)
		}
	}
}

// Where the program's name stands, a shell must look for a program, not read a
// keyword or an assignment.
func TestJoinNamesAProgram(t *testing.T) {
	t.Parallel()
	for _, name := range append([]string{"A=b", "!", "{", "}", "[[", "#", "~"}, reserved...) {
		cmd := exec.Command("/bin/sh", "-c", Join([]string{name}))
		cmd.Env = []string{"PATH=/nonexistent"}
		var exit *exec.ExitError
		if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 127 {
			t.Errorf("sh runs %s: %v, want exit 127: not found", Join([]string{name}), err)
		}
	}
}
