package exec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/providers/posix"
	"github.com/settle-cm/settle/providers/shell"
)

// filled is a text with a value in place of each %, as the loader hands it over.
func filled(s string, values ...string) model.Value {
	v := model.Value{Text: strings.ReplaceAll(s, "%", model.PlaceholderByte), Placeholders: &model.Placeholders{}}
	for _, value := range values {
		v.Placeholders.Items = append(v.Placeholders.Items, model.Placeholder{Text: value, Expr: "${var.x}"})
	}
	return v
}

// real are options with the providers that split and quote.
func real(r *runner) Options {
	opts := options(r)
	opts.Posix = Provider{Argv: posix.Argv, Warnings: posix.Warnings}
	opts.Shell = Provider{Argv: shell.Argv, Warnings: shell.Warnings}
	opts.Fill, opts.Join = shell.Fill, posix.Join
	return opts
}

// What runs has the values in it, as data, and what is shown can be pasted.
func TestValuesInCommandsAreFilled(t *testing.T) {
	const hostile = "it's; rm -rf $HOME"
	for _, tt := range []struct {
		name   string
		values map[string]model.Value
		argv   []string
		shown  string
	}{
		{"posix", map[string]model.Value{"command": filled("echo -n=%", hostile)}, []string{"echo", "-n=" + hostile}, `echo '-n=it'\''s; rm -rf $HOME'`},
		{"shell", map[string]model.Value{"command": filled("echo \"%\" | cat\n", hostile), "provider": text("shell")},
			[]string{"/bin/sh", "-c", "echo \"it's; rm -rf \\$HOME\" | cat\n"}, `echo "it's; rm -rf \$HOME" | cat`},
		{"another shell", map[string]model.Value{"command": filled("[[ $A == % ]]", "*"), "shell": list("/bin/bash", "-ec")},
			[]string{"/bin/bash", "-ec", "[[ $A == '*' ]]"}, "[[ $A == '*' ]]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &runner{ends: exits(0)}
			guard := filled("test %", hostile)
			tt.values["unless"] = model.Value{Shape: model.List, Items: []model.Value{guard}}
			spec := declare(t, real(r), tt.values)
			if _, err := spec.Run(t.Context(), model.Stage{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.argv, r.commands[0].Argv); diff != "" {
				t.Errorf("it runs\n%s", diff)
			}
			if got := spec.About().Command; got != tt.shown {
				t.Errorf("it shows %s, want %s", got, tt.shown)
			}
			if got := strings.TrimSuffix(tt.values["command"].Placeholders.Filled, "\n"); got != tt.shown {
				t.Errorf("the placeholders show %s, want %s", got, tt.shown)
			}
			if want := `test 'it'\''s; rm -rf $HOME'`; guard.Placeholders.Filled != want {
				t.Errorf("the guard leaves %s, want %s", guard.Placeholders.Filled, want)
			}
		})
	}
}

func TestValuesThatAreNotSafeAreRefused(t *testing.T) {
	raw := filled("echo %", "x")
	raw.Placeholders.Items[0].Raw, raw.Placeholders.Items[0].Expr = true, "${raw.var.x}"
	for _, tt := range []struct {
		name   string
		values map[string]model.Value
		want   string
	}{
		{"empty", map[string]model.Value{"command": filled("%", "")}, "command: command is empty"},
		{"raw", map[string]model.Value{"command": raw}, "command: ${raw.var.x} is for the text of a shell, and no shell reads this command; write ${var.x}: it is one word, or part of one, whatever it holds"},
		{"a shell that quotes in its own way", map[string]model.Value{"command": filled("echo %", "x"), "shell": list("fish", "-c")},
			`command: settle does not know how fish quotes, and so cannot put a value into its text; set environment: {NAME: ${var.x}} and write it in the command, as that program reads its variables`},
		{"arithmetic", map[string]model.Value{"command": filled("echo $((%))", "x"), "provider": text("shell")},
			`command: ${var.x} stands in arithmetic, where a text can be made to run commands: its value cannot be kept as data there; write ${raw.var.x} where it is a number and nothing else: declare it with type: int`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := body(t, tt.values)
			Type(real(&runner{})).Decode(b)
			var got []string
			for _, p := range b.Problems {
				got = append(got, p.Property+": "+p.Message+"; "+p.Suggestion)
			}
			if text := strings.TrimSuffix(strings.Join(got, " | "), "; "); text != tt.want {
				t.Errorf("problems\n%s\nwant\n%s", text, tt.want)
			}
		})
	}
}
