package shell

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/settle-cm/settle/model"
)

// placeholders are values written as ${var.v0}, ${var.v1}, …
func placeholders(values ...string) []model.Placeholder {
	var list []model.Placeholder
	for i, text := range values {
		list = append(list, model.Placeholder{Text: text, Expr: fmt.Sprintf("${var.v%d}", i)})
	}
	return list
}

// marked is a text that is written with % for its marks.
func marked(text string) string { return strings.ReplaceAll(text, "%", model.PlaceholderByte) }

// bash is what the text is for in the tests of what only bash has.
var bash = []string{"/bin/bash", "-c"}

// Judging a value looks at the text before it, so their number is bounded.
func TestFillBoundsTheNumberOfValues(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{256: "", 257: "more than 256 values in one shell text", 100_000: "more than 256 values in one shell text"} {
		_, err := Fill(nil, "echo"+strings.Repeat(" "+model.PlaceholderByte, n), placeholders(make([]string, n)...))
		if got := fmt.Sprint(err); got != want && (want != "" || err != nil) {
			t.Errorf("%d: %s", n, got)
		}
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		values     []string
		want       string
	}{
		{"a word", "echo %", []string{"a b"}, "echo 'a b'"},
		{"an empty word", "echo %", []string{""}, "echo ''"},
		{"a quote", "echo %", []string{"it's"}, `echo 'it'\''s'`},
		{"part of a word", "echo a%b", []string{"$x"}, "echo a'$x'b"},
		{"the program", "% -v", []string{"/opt/my app"}, "'/opt/my app' -v"},
		{"in double quotes", `echo "a % b"`, []string{"\\ $x \" `y` '"}, "echo \"a \\\\ \\$x \\\" \\`y\\` ' b\""},
		{"in single quotes", `echo 'a % b'`, []string{"it's $x"}, `echo 'a it'\''s $x b'`},
		{"in a substitution", `echo $(cat %)`, []string{"a b"}, `echo $(cat 'a b')`},
		{"in a substitution in double quotes", `echo "$(cat % "%" '%')"`, []string{"a'", `b"`, "c'"}, `echo "$(cat 'a'\''' "b\"" 'c'\''')"`},
		{"behind a variable", `echo $HOME%/x`, []string{"y"}, `echo $HOME'y'/x`},
		{"behind a variable in double quotes", `echo "$HOME%/x" "$1%" "${HOME}%" "$HOME/%"`, []string{"a", "b", "c", "d"}, `echo "$HOME""a/x" "$1""b" "${HOME}c" "$HOME/d"`},
		{"behind $#", `echo $#% "$#%"`, []string{"x", "y"}, `echo $#'x' "$#""y"`},
		{"behind $$", `echo $$%`, []string{"x"}, `echo $$'x'`},
		{"behind an escaped dollar", `echo \$% "\$%"`, []string{"x", "y"}, `echo \$'x' "\$y"`},
		{"behind an escaped backslash", `echo \\% "\\%"`, []string{"x", "y"}, `echo \\'x' "\\y"`},
		{"behind a continued line", "echo \\\n%", []string{"x"}, "echo \\\n'x'"},
		{"an assignment", `A=% B="%" cmd`, []string{"x y", "z"}, `A='x y' B="z" cmd`},
		{"export", `export A=% B`, []string{"x y"}, `export A='x y' B`},
		{"a redirection", `cat < % > "%"`, []string{"a b", "c"}, `cat < 'a b' > "c"`},
		{"a number before a redirection is none", `echo %>x`, []string{"2"}, `echo '2'>x`},
		{"compound commands", "for i in % b; do if test \"$i\" = %; then echo '%' | tr a b && (echo %); fi; done", []string{"1", "2", "3", "4"},
			"for i in '1' b; do if test \"$i\" = '2'; then echo '3' | tr a b && (echo '4'); fi; done"},
		{"case", "case % in %|b) f() { echo %; }; f;; esac", []string{"*", "*", "x"}, "case '*' in '*'|b) f() { echo 'x'; }; f;; esac"},
		{"a hash is no comment within a word", "echo a#% \"#%\" # why\n", []string{"x", "y"}, "echo a#'x' \"#y\" # why\n"},
		{"sh -c with arguments", `sh -c 'echo "$1"' sh %`, []string{"x"}, `sh -c 'echo "$1"' sh 'x'`},
		{"what a substitution prints may be text", `eval "$(ssh-agent -a %)"`, []string{"x"}, `eval "$(ssh-agent -a 'x')"`},
		{"a value with marks and expressions", "echo % %", []string{"${var.v1} %", "x"}, "echo '${var.v1} %' 'x'"},
		{"invalid UTF-8", "echo %", []string{"\xff'\xfe"}, "echo '\xff'\\''\xfe'"},
		{"no placeholders, no shell text", "echo ' ${", nil, "echo ' ${"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Fill(nil, marked(tt.text), placeholders(tt.values...))
			if err != nil || got != marked(tt.want) && got != tt.want {
				t.Errorf("Fill(%q, %q)\n= %s, %v\nwant %s", tt.text, tt.values, got, err, tt.want)
			}
		})
	}
}

func TestFillRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, where, way string }{
		{"a comment", "true # %", "in a comment", "take it out"},
		{"a here-document", "cat <<EOF\n%\nEOF\n", "in a here-document", "set environment: {NAME: ${var.v0}} and write it as \"$NAME\" there"},
		{"a quoted here-document", "cat <<'EOF'\n%\nEOF\n", "in a here-document", "environment"},
		{"its delimiter", "cat <<%\nx\nVALUE\n", "in a here-document", "environment"},
		{"backquotes", "echo `cat %`", "in backquotes", "$(…)"},
		{"backquotes in double quotes", "echo \"`cat '%'`\"", "in backquotes", "$(…)"},
		{"arithmetic", "echo $((% + 1))", "in arithmetic", "write ${raw.var.v0}"},
		{"double parentheses, arithmetic to bash", "((% + 1))", "", ""},
		{"brackets, arithmetic to bash", "echo $[%]", "in arithmetic", "write ${raw.var.v0}"},
		{"a parameter expansion", `echo "${A:-%}"`, "in a parameter expansion", "environment"},
		{"a parameter's name", `echo $%`, "in a parameter expansion", "environment"},
		{"a parameter's name in braces", `echo ${%}`, "in a parameter expansion", "environment"},
		{"a variable's name", `%=1`, "in a name", "write ${raw.var.v0}"},
		{"part of a variable's name", `A%=1 cmd`, "in a name", "write ${raw.var.v0}"},
		{"a loop's variable", `for % in a; do :; done`, "in a name", "write ${raw.var.v0}"},
		{"a function's name", `%() { :; }`, "in a name", "write ${raw.var.v0}"},
		{"an exported name", `export %`, "in a name", "write ${raw.var.v0}"},
		{"an exported name with a value", `export A%=1`, "in a name", "write ${raw.var.v0}"},
		{"escaped", `echo \%`, `behind a \`, "write $${var.v0} for the text itself"},
		{"escaped in double quotes", `echo "\%"`, `behind a \`, "write $${var.v0} for the text itself"},
		{"escaped behind an escape", `echo "\\\%"`, `behind a \`, "write $${var.v0} for the text itself"},
		{"a user's home", `ls ~%`, "behind a ~", "write the home directory out"},
		{"dollar quotes to bash", `echo $'%'`, "", ""},
		{"dollar double quotes", `echo $"%"`, "", ""},
		{"a duplicated descriptor", `echo a >&%`, "behind >& or <&", "write > ${var.v0} 2>&1 for a file, ${raw.var.v0} for a number"},
		{"eval", `eval echo %`, "read as a command again", "sh -c 'echo \"$1\"' sh ${var.v0}"},
		{"eval in other words", `command \eval "echo '%'"`, "read as a command again", ""},
		{"trap", `trap "rm %" EXIT`, "read as a command again", ""},
		{"sh -c", `sudo sh -ec "echo %"`, "read as a command again", "sh -c 'echo \"$1\"' sh ${var.v0}"},
		{"bash -c with options", `/bin/bash -o pipefail -c 'echo %'`, "read as a command again", ""},
		{"declare", `declare -i x=%`, "declare may evaluate", "assign it first, as NAME=${var.v0}"},
		{"unset", `unset %`, "in a name", ""},
		{"test -v", `[ -v % ]`, "in a name", ""},
		{"the operator of a test", `test "$OP" %`, "in a test behind", "write the operator out"},
		{"the format of printf", `printf "%"`, "where printf reads its format", "write printf '%s' ${var.v0}"},
		{"printf -v", `printf -v % x`, "in a name", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text, err := Fill(nil, marked(tt.text), placeholders("x"))
			var refused *model.AdviceError
			if !errors.As(err, &refused) {
				t.Fatalf("Fill(%q) = %s, %v; want an error of ours", tt.text, text, err)
			}
			if !strings.Contains(refused.Message, tt.where) || !strings.Contains(refused.Suggestion, tt.way) || refused.Suggestion == "" {
				t.Errorf("Fill(%q): %s; %s\nwant %q and %q", tt.text, refused.Message, refused.Suggestion, tt.where, tt.way)
			}
			if tt.where != "" && !strings.HasPrefix(refused.Message, "${var.v0} stands ") {
				t.Errorf("%s: it does not begin with the expression", refused.Message)
			}
		})
	}
}

func TestFillRefusesInBash(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, where string }{
		{"((x = %))", "in arithmetic"},
		{"for ((i = %; i; i++)); do :; done", "in arithmetic"},
		{"[[ x -eq % ]]", "in arithmetic"},
		{"[[ -v % ]]", "in a name"},
		{"a[%]=1", "in "},
		{"a=([%]=1)", "in "},
		{"echo $'%'", "with a $ in front"},
		{`echo $"%"`, "with a $ in front"},
		{"echo @(a|%)", "in an extended glob"},
		{"let x=%", "in arithmetic"},
		{"local -a x=%", "declare may evaluate"},
		{"declare x=%", "declare may evaluate"},
		{"echo ${a[%]}", "in "},
		{"exec {%}>x", "in a name"},
		{"coproc % { :; }", "in a name"},
		{"function % { :; }", "in a name"},
	} {
		_, err := Fill(bash, marked(tt.text), placeholders("x"))
		var refused *model.AdviceError
		if !errors.As(err, &refused) || !strings.Contains(refused.Message, tt.where) || refused.Suggestion == "" {
			t.Errorf("Fill(%q): %v; want %q", tt.text, err, tt.where)
		}
	}
	if _, err := Fill([]string{"zsh", "-c"}, marked("echo $#%"), placeholders("x")); err == nil {
		t.Error("in zsh $#x is the length of x")
	}
	for text, want := range map[string]string{
		"[[ $x == % && % =~ ^a ]]":       "[[ $x == 'v' && 'v' =~ ^a ]]",
		"a=(% \"%\"); cat <<< % <(ls %)": "a=('v' \"v\"); cat <<< 'v' <(ls 'v')",
		"f() { local x=%; }":             "f() { local x='v'; }",
	} {
		if got, err := Fill(bash, marked(text), placeholders("v", "v", "v", "v")[:strings.Count(text, "%")]); err != nil || got != want {
			t.Errorf("Fill(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestFillRaw(t *testing.T) {
	t.Parallel()
	raw := func(text string) model.Placeholder {
		return model.Placeholder{Text: text, Expr: "${raw.var.r}", Raw: true}
	}
	got, err := Fill(nil, marked("% % | %"), []model.Placeholder{raw("grep -v"), {Text: "a b", Expr: "${var.x}"}, raw("tr '%' x")})
	if want := "grep -v 'a b' | tr '%' x"; err != nil || got != want {
		t.Errorf("raw beside a value = %s, %v; want %s", got, err, want)
	}
	// raw values are inserted before the place of a value is judged
	got, err = Fill(nil, marked("echo %a % b%"), []model.Placeholder{raw(`"`), {Text: "$x", Expr: "${var.x}"}, raw(`"`)})
	if want := `echo "a \$x b"`; err != nil || got != want {
		t.Errorf("a value in raw quotes = %s, %v; want %s", got, err, want)
	}
	// nothing is to be quoted: nothing has to be understood
	if got, err := Fill([]string{"fish", "-c"}, marked("echo (% '"), []model.Placeholder{raw("ls")}); err != nil || got != "echo (ls '" {
		t.Errorf("raw alone = %s, %v", got, err)
	}
}

func TestFillReportsTheSyntaxErrorsPlace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"echo %\necho % 'x", "line 2, column 16: "},
		{"echo %\r\n", "a carriage return in the shell text"},
		{"echo % )", "line 1, column 16: "},
		{"é % )", "line 1, column 14: "},
		{"a=(%)", "arrays are a bash"},
	} {
		_, err := Fill(nil, marked(tt.text), placeholders("some text", "y")[:strings.Count(tt.text, "%")])
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), standIn) {
			t.Errorf("Fill(%q): %v, want %q", tt.text, err, tt.want)
		}
	}
	if _, err := Fill(nil, marked("echo %"), placeholders("a\x00b")); err == nil || !strings.Contains(err.Error(), "zero byte") {
		t.Errorf("a zero byte: %v", err)
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		words string
		want  string // "" is known
	}{
		{"", ""},
		{"/bin/sh -c", ""},
		{"/bin/bash -euo pipefail -c", ""},
		{"/bin/bash --norc -O extglob -ec", ""},
		{"bash --rcfile /x -c --", ""},
		{"/usr/bin/env zsh -c", ""},
		{"busybox sh -c", ""},
		{"fish -c", "settle does not know how fish quotes, and so cannot put a value into its text"},
		{"python3 -c", "settle does not know how python3 quotes, and so cannot put a value into its text"},
		{"busybox awk", "settle does not know how busybox quotes, and so cannot put a value into its text"},
		{"sh", "sh does not read the command as shell text: its words do not end with -c"},
		{"sh -c -o", "sh does not read the command as shell text: its words do not end with -c"},
		{"sh -c echo", "sh does not read the command as shell text: its words do not end with -c"},
	} {
		_, err := Fill(strings.Fields(tt.words), marked("echo %"), placeholders("x"))
		switch {
		case tt.want == "" && err != nil, tt.want != "" && (err == nil || err.Error() != tt.want):
			t.Errorf("%s: %v, want %q", tt.words, err, tt.want)
		}
	}
}

// The parser is recursive: without a bound a hostile text overflows the stack,
// which no program can recover from.
func TestFillBoundsLengthAndDepth(t *testing.T) {
	value := model.PlaceholderByte
	for name, text := range map[string]string{
		"unclosed arithmetic":     "echo " + value + strings.Repeat(`"$((`, 100_000),
		"balanced substitutions":  "echo " + value + strings.Repeat("$(", 200_000) + strings.Repeat(")", 200_000),
		"a short, deep text":      "echo " + value + strings.Repeat("(", 2_000),
		"no brackets, but length": "echo " + value + strings.Repeat("if ", 100_000),
	} {
		_, err := Fill(nil, text, []model.Placeholder{{Text: "x", Expr: "${var.x}"}})
		if err == nil || !strings.Contains(err.Error(), "a shell text with values is") {
			t.Errorf("%s: %.200v", name, err)
		}
	}
	// as long as allowed, whatever its form: an answer, and no overflow
	for _, form := range []string{`"$((#)))` + "\n", "$(#)\n", "`#`\n", "if ", "{ ", "! ", "a|", "a&&", "x=", "[[ ! ", "case a in a) ", "\"${a:-", "f() "} {
		text := "echo " + value + "\n" + strings.Repeat(form, (maxText-100)/len(form))
		if _, err := Fill(nil, text, []model.Placeholder{{Text: "x", Expr: "${var.x}"}}); err != nil && err.Error() == "" {
			t.Error(form)
		}
	}
}
