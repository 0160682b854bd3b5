//go:build unix

// Package docs runs what the pages in this folder, the README and CONTRIBUTING show.
package docs

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/settle-cm/settle/cmd/internal/settletest"
)

const top = "../../.." // of the repository, seen from here

func TestMain(m *testing.M) { settletest.Main(m, top) }

// pages returns the text of each page by its path, seen from the repository's top.
func pages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("*.md")
	if err != nil || len(names) < 6 {
		t.Fatalf("%d pages, %v", len(names), err)
	}
	texts := map[string]string{}
	for i, name := range names {
		names[i] = path.Join("cmd/settle/docs", name)
	}
	for _, name := range append(names, "README.md", "CONTRIBUTING.md") {
		text, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	return texts
}

// Every block of a page is run and has to do what the page shows, or says why not.
func TestPages(t *testing.T) {
	for name, text := range pages(t) {
		t.Run(path.Base(name), func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("python3"); err != nil && strings.Contains(text, "python3") {
				t.Skip("no python3 here")
			}
			tried, right, wrong := tryPage(text, t.TempDir)
			if *settletest.Update && right != text {
				if err := os.WriteFile(filepath.Join(top, name), []byte(right), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for _, err := range wrong {
				t.Errorf("%s: %v", name, err)
			}
			if tried == 0 && name != "CONTRIBUTING.md" {
				t.Errorf("%s: nothing in it was tried", name)
			}
		})
	}
}

// A page that shows something else than what happens fails.
func TestWrongPagesAreDetected(t *testing.T) {
	const hello = "<!-- file: settle.yaml -->\n```yaml\n- exec: {name: touch made, creates: made}\n```\n"
	for name, c := range map[string]struct{ page, want string }{
		"good":             {hello + "```console\n$ settle plan\n+ exec#touch made  would run  creates /home/…/made is missing\n…\n$ settle apply -q\n```\n", ""},
		"another output":   {"```console\n$ echo a\nb\n```\n", "-- is\na"},
		"more output":      {"```console\n$ echo a; echo b\na\n```\n", "-- is\na\nb"},
		"no output":        {"```console\n$ true\na\n```\n", "-- is\n"},
		"fails":            {"```console\n$ false\n```\n", "exits 1, not 0"},
		"does not fail":    {"```console\n$ true   # exit 1\n```\n", "exits 0, not 1"},
		"ends the shell":   {"```console\n$ exit 0\n$ true\n```\n", "did not come to its end"},
		"no command":       {"```console\nsettle plan\n```\n", "does not begin with a command"},
		"bad manifest":     {"```yaml\n- exec: {name: a, cwdd: /}\n```\n", "unknown property"},
		"doubtful":         {"```yaml\n- exec: {name: echo $HOME, creates: /x}\n```\n", "$HOME"},
		"never converges":  {"<!-- applied: -->\n```yaml\n- exec: {name: \"true\"}\n```\n", "settle plan exits 2 the 2. time"},
		"bad YAML":         {"<!-- syntax only: it is theirs -->\n```yaml\na: [\n```\n", "yaml"},
		"bad JSON":         {"```json\n{\n```\n", "EOF"},
		"bad script":       {"```sh\nfalse\n```\n", "exit status 1"},
		"bad syntax":       {"<!-- syntax only: it is theirs -->\n```sh\nif\n```\n", "exit status 2"},
		"bad setup":        {"<!-- setup:\nfalse\n-->\n```sh\ntrue\n```\n", "setup: exit status 1"},
		"writes":           {"```sh\necho a > /usr/share/a\n```\n", "may reach the machine"},
		"applied there":    {"<!-- applied: -->\n```yaml\n- file: {name: /etc/a}\n```\n", "may reach the machine"},
		"installs":         {"```console\n$ true && sudo apt-get install a\n```\n", "may reach the machine"},
		"unknown language": {"```\nwhat\n```\n", "say why it is not run"},
		"no reason":        {"<!-- not run: -->\n```\nwhat\n```\n", "why is it not run?"},
		"no such mark":     {"<!-- aplied: twice -->\n```yaml\n- exec: {name: \"true\"}\n```\n", "line 1: no such mark"},
		"no end":           {"```sh\ntrue\n", "has no end"},
		"no block":         {"<!-- file: a -->\nwords\n", "above no block"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var said []string
			_, _, wrong := tryPage(c.page, t.TempDir)
			for _, err := range wrong {
				said = append(said, err.Error())
			}
			if all := strings.Join(said, "\n"); (all == "") != (c.want == "") || !strings.Contains(all, c.want) {
				t.Errorf("said %q, not %q", all, c.want)
			}
		})
	}
}
