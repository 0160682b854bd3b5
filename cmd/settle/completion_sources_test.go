package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/settle-cm/settle/cmd/internal/complete"
	"github.com/settle-cm/settle/cmd/internal/exit"
)

// asked returns what settle answers to a script, a line each.
func asked(t *testing.T, args ...string) []string {
	t.Helper()
	var out, log bytes.Buffer
	stdin, w := io.Pipe() // whoever reads it would wait for ever
	defer func() { _ = w.Close() }()
	if code := run(append([]string{complete.Command}, args...), stdin, &out, &log); code != exit.OK || log.Len() > 0 {
		t.Errorf("%q: exit %d, said %q", args, code, &log)
	}
	return slices.Collect(strings.Lines(out.String()))
}

// Whatever takes a value is known: what may stand there is offered, or it is
// said that nobody but the user knows.
func TestEveryValueHasASource(t *testing.T) {
	sources := completionSources(&app{})
	k := commandModel()
	var check func(node *kong.Node)
	check = func(node *kong.Node) {
		for _, v := range node.Values() {
			if v.Enum == "" && !v.IsBool() && sources[complete.SourceName(v)] == nil {
				t.Errorf("%s: what may stand for %s of %q?", node.Path(), v.Summary(), complete.SourceName(v))
			}
		}
		for _, c := range node.Children {
			check(c)
		}
	}
	check(k)
}

// All commands and flags are offered, and what they do.
func TestAllCommandsAndFlagsAreOffered(t *testing.T) {
	k := commandModel()
	var check func(node *kong.Node)
	check = func(node *kong.Node) {
		words := strings.Fields("settle " + node.Path())
		n := fmt.Sprint(len(words))
		given := asked(t, append([]string{"zsh", n, ""}, words...)...)
		for _, c := range node.Children {
			if !slices.Contains(given, c.Name+"\t"+c.Help+"\n") {
				t.Errorf("%q: no %s in %q", words, c.Name, given)
			}
			check(c)
		}
		given = asked(t, append([]string{"fish", n, "-"}, words...)...)
		for _, group := range node.AllFlags(true) {
			for _, f := range group {
				if !slices.Contains(given, "--"+f.Name+"\t"+f.Help+"\n") {
					t.Errorf("%q: no --%s in %q", words, f.Name, given)
				}
			}
		}
	}
	check(k)
}

// A flag that was given is not offered again, unless it may be repeated.
func TestFlagsAreOfferedOnce(t *testing.T) {
	given := strings.Join(asked(t, "zsh", "7", "--", "settle", "apply", "--fail-fast", "--parallel", "2", "--only=exec#a", "-v", "--", "m.yaml"), "")
	for flag, want := range map[string]bool{"--fail-fast": false, "--parallel": false, "--only": true, "--no-state": true} {
		if strings.Contains(given, "\n"+flag+"\t") != want {
			t.Errorf("%s is offered: %v", flag, !want)
		}
	}
}

// Completion runs no guard, waits for no input, and leaves no trace, not even a
// directory for the state.
func TestCompletionChangesNothing(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("SETTLE_STATE_DIR", filepath.Join(dir, "state"))
	manifest := "name: x\nresources:\n  - exec:\n      - a: {command: touch ran, onlyif: touch guarded, tags: [t]}\n"
	if err := os.WriteFile("settle.yaml", []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"settle ", "settle apply ", "settle apply --only ", "settle apply --tags ", "settle show ", "settle forget ", "settle plan --run ", "settle apply - --only ",
		"settle show last - ", "settle graph --run ", "settle pause ", "settle init ", "settle apply --out x ", "settle apply --report json=", "settle \x00\xff", "settle apply --only='",
	} {
		asked(t, "bash", "", line, "")
		words := strings.Split(line, " ")
		last := len(words) - 1
		asked(t, append([]string{"zsh", fmt.Sprint(last), words[last]}, words...)...)
		asked(t, append([]string{"fish", fmt.Sprint(last), words[last]}, words...)...)
	}
	var found []string
	if err := fs.WalkDir(os.DirFS(dir), ".", func(name string, _ fs.DirEntry, err error) error {
		found = append(found, name)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{".", "settle.yaml"}; !slices.Equal(found, want) {
		t.Errorf("%q is there, want %q", found, want)
	}
}

// What makes no sense is answered with nothing, in silence.
func TestQuestionsThatMakeNoSense(t *testing.T) {
	for _, args := range [][]string{
		{},
		{"bash"},
		{"bash", "", "settle "},
		{"bash", "", "", ""},
		{"zsh"},
		{"zsh", "1"},
		{"zsh", "x", "", "settle"},
		{"zsh", "-1", "", "settle"},
		{"zsh", "0", "", "settle"},
		{"fish", "9", "", "settle"},
		{"fish", "1", "", "A=b"},
		{"tcsh", "1", "", "settle"},
	} {
		if got := asked(t, args...); len(got) > 0 {
			t.Errorf("%q is answered with %q", args, got)
		}
	}
}

func TestRunsAreOffered(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("SETTLE_STATE_DIR", "")
	if err := os.WriteFile("settle.yaml", []byte("name: x\nresources:\n  - exec: {name: a, command: 'true'}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := run([]string{"apply", "--state-dir", "kept"}, strings.NewReader(""), io.Discard, io.Discard); code != exit.OK {
		t.Fatalf("exit %d", code)
	}
	got := asked(t, "fish", "4", "", "settle", "show", "--state-dir", "kept", "")
	if len(got) != 3 || got[1] != "last\tthe last run\n" || !strings.Contains(got[2], "Z-") || !strings.Contains(got[2], "\tapply by ") || !strings.HasSuffix(got[2], ", exit 0\n") {
		t.Errorf("%q", got)
	}
}

func TestAThousandResourcesAreOffered(t *testing.T) {
	t.Chdir(t.TempDir())
	var b strings.Builder
	b.WriteString("name: x\nresources:\n  - exec:\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "      - resource %d: {command: /bin/true, description: number %d, tags: [a, t%d]}\n", i, i, i%10)
	}
	if err := os.WriteFile("settle.yaml", []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := asked(t, "bash", "", "settle apply --only ", ""); len(got) != 1000 || got[7] != "exec#resource\\ 7\n" {
		t.Errorf("%d are offered", len(got))
	}
}
