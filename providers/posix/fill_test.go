package posix

import (
	"errors"
	"fmt"
	"slices"
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

// A line is written with % for its marks.
func marked(line string) string { return strings.ReplaceAll(line, "%", model.PlaceholderByte) }

func TestArgvInsertsValues(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, line string
		values     []string
		want       []string
	}{
		{"a word of its own", "echo %", []string{"a b"}, []string{"echo", "a b"}},
		{"within a word", "curl --url=http://%/x", []string{"h; rm -rf /"}, []string{"curl", "--url=http://h; rm -rf //x"}},
		{"an empty value is a word", "echo % x", []string{""}, []string{"echo", "", "x"}},
		{"several in a word and in others", "a%b% % c%", []string{"1", "2", "3", "4"}, []string{"a1b2", "3", "c4"}},
		{"in every quoting", `echo '%' "%" \% '"%"' "a\%"`, []string{`'`, `"`, `\`, "$x", " "}, []string{"echo", `'`, `"`, `\`, `"$x"`, `a\ `}},
		{"the program", "% a", []string{"/opt/my app/bin"}, []string{"/opt/my app/bin", "a"}},
		{"all there is", "%", []string{"echo a"}, []string{"echo a"}},
		{"operators, globs and substitutions", "echo % % %", []string{"&&", "*", "$(date)`date`"}, []string{"echo", "&&", "*", "$(date)`date`"}},
		{"newlines", "echo %\n", []string{"a\nb\n\r\n"}, []string{"echo", "a\nb\n\r\n"}},
		{"what looks like a mark or an expression is not filled again", "echo % %", []string{model.PlaceholderByte + "${var.v1}", "b"}, []string{"echo", model.PlaceholderByte + "${var.v1}", "b"}},
		{"bytes that are no text", "echo %", []string{"\xff\xfe'"}, []string{"echo", "\xff\xfe'"}},
		{"a continued line", "echo \\\n% a\\\n%", []string{"1", "2"}, []string{"echo", "1", "a2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Argv(marked(tt.line), placeholders(tt.values...))
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("Argv(%q) = %q, %v; want %q", tt.line, got, err, tt.want)
			}
		})
	}
}

func TestArgvRefusesSyntaxBesideValues(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, line string
		values     []string
		want       string
	}{
		{"no program", "%", []string{""}, "command is empty"},
		{"no program, but arguments", "% a", []string{""}, "command is empty"},
		{"a redirection", "echo >%", []string{"/etc/passwd"}, `">${var.v0}" would be an argument: no shell reads this command`},
		{"a substitution", "echo % $(cat %) %", []string{"a", "b", "c"}, `"$(cat" would be an argument: no shell reads this command`},
		{"a substitution around a value", "echo % `%`", []string{"a", "b"}, "\"`${var.v1}`\" would be an argument: no shell reads this command"},
		{"an open quote", "echo '%", []string{"'"}, "a single quote is not closed"},
		{"several lines", "echo %\necho %", []string{"a", "b"}, "several lines need a shell"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			argv, err := Argv(marked(tt.line), placeholders(tt.values...))
			if got := fmt.Sprint(err); got != tt.want {
				t.Errorf("Argv(%q) = %q, %s; want %s", tt.line, argv, got, tt.want)
			}
		})
	}
}

func TestArgvRefusesRaw(t *testing.T) {
	t.Parallel()
	_, err := Argv(marked("echo %"), []model.Placeholder{{Text: "a", Expr: "${raw.var.x}", Raw: true}})
	var refused *model.AdviceError
	if !errors.As(err, &refused) || !strings.HasPrefix(refused.Message, "${raw.var.x} ") || !strings.Contains(refused.Suggestion, "write ${var.x}:") {
		t.Errorf("raw in a posix command: %+v", err)
	}
}

// A value never raises a warning; the text around it does, and shows the expression.
func TestValuesRaiseNoWarnings(t *testing.T) {
	t.Parallel()
	if got := Warnings(marked("echo % '%' \"%\" x%"), placeholders("~/x", "*", "$HOME", "`a`")); got != nil {
		t.Errorf("values raise warnings: %q", got)
	}
	got := Warnings(marked("ls % %/*.go"), placeholders("a", "b"))
	if len(got) != 1 || !strings.HasPrefix(got[0].Message, `"${var.v1}/*.go" matches no files`) {
		t.Errorf("the warning of a glob beside a value: %q", got)
	}
}

// FuzzFill takes letters of the line for values: where the letter stood, in
// whatever quoting, the value must stand, and nothing else may change.
func FuzzFill(f *testing.F) {
	for _, seed := range [][2]string{{`a@ '@' "@" \@ "\@"`, "' $(x)"}, {"@", "\n"}, {"x\\\n@ '\n'@", `\`}, {`"a\$@"'@`, `"`}, {"@@ @", "\xff"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, line, value string) {
		if len(line) > 1000 || strings.Contains(line, model.PlaceholderByte) || strings.Contains(line+value, "\ue000") {
			t.Skip()
		}
		values := make([]string, strings.Count(line, "@"))
		for i := range values {
			values[i] = fmt.Sprint(i, value)
		}
		// a letter that nothing else in a line can be taken for
		plain, err := Argv(strings.ReplaceAll(line, "@", "\ue000"), nil)
		got, fillErr := Argv(strings.ReplaceAll(line, "@", model.PlaceholderByte), placeholders(values...))
		if (err == nil) != (fillErr == nil) {
			t.Fatalf("%q with letters: %v, with values: %v", line, err, fillErr)
		}
		for i, n := 0, 0; i < len(plain); i++ {
			for strings.Contains(plain[i], "\ue000") {
				plain[i] = strings.Replace(plain[i], "\ue000", values[n], 1)
				n++
			}
		}
		if !slices.Equal(got, plain) {
			t.Errorf("%q with %q = %q, want %q", line, value, got, plain)
		}
	})
}
