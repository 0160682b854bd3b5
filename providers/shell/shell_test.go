package shell

import (
	"slices"
	"testing"
)

func TestArgv(t *testing.T) {
	t.Parallel()
	const text = "echo \"$HOME\" | cat\n"
	got, err := Argv(text, nil)
	if want := []string{"/bin/sh", "-c", text}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Argv(%q) = %q, %v; want the text as it stands", text, got, err)
	}
	for _, text := range []string{"", " ", "\n\t\n"} {
		if _, err := Argv(text, nil); err == nil {
			t.Errorf("Argv(%q) gave no error", text)
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"one command", "touch a\n", 0},
		{"one command and a comment", "# why\ntouch a\n\n", 0},
		{"two lines", "touch a\ntouch b\n", 1},
		{"a line that goes on", "touch a \\\n  b &&\ntouch c\n", 0},
		{"several lines in quotes", "awk '\n/a|b/ { print }\n' x \"\na | b\n\"\n", 0},
		{"quotes in a comment", "# it's\ntouch a # isn't it\ntouch b\n", 1},
		{"a pipe in a comment", "touch a # | b\n", 0},
		{"a # in a word", "touch a#'b'\ntouch b", 1},
		{"two lines with set -e", "set -eu\ntouch a\ntouch b\n", 0},
		{"two lines with set -u -e", "set -u -e\ntouch a\n", 0},
		{"two lines with set -o errexit", "set -o errexit\ntouch a\n", 0},
		{"set without e", "set -u\ntouch a\n", 1},
		{"reset -e is not set -e", "tput reset\nrm -e\n", 1},
		{"a pipe", "false | cat", 1},
		{"a pipe without spaces", "false|cat", 1},
		{"a pipe at the end of a line", "false |\ncat", 1},
		{"a pipe with pipefail", "set -o pipefail; false | cat", 0},
		{"or is no pipe", "false || true", 0},
		{"a forced redirection is no pipe", "echo a >| b", 0},
		{"a quoted pipe", `grep 'a|b' "c|d" e\|f`, 0},
		{"both", "false | cat\ntrue", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Warnings(tt.text, nil); len(got) != tt.want {
				t.Errorf("Warnings(%q) = %q, want %d", tt.text, got, tt.want)
			}
		})
	}
}
