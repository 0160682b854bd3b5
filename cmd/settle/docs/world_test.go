//go:build unix

package docs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/settle-cm/settle/cmd/internal/settletest"
)

// docWorld is what the blocks of one scene run in: a machine of their own below
// root, where a home, the state directory and programs that stand in for others are.
type docWorld struct {
	root   string
	python string // what runs python3; "" when there is none
}

func (w *docWorld) dir() string { return filepath.Join(w.root, "home", "you", "site") }
func (w *docWorld) bin() string { return filepath.Join(w.root, "bin") }

// entry is in the environment of all processes of this scene, and of no other.
func (w *docWorld) entry() string { return "BIN=" + w.bin() }

// newDocWorld makes the world of one scene.
func newDocWorld(root string) (*docWorld, error) {
	w := &docWorld{root: root}
	for _, dir := range []string{w.dir(), w.bin(), filepath.Join(root, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return w, nil // no Python here
	}
	w.python = strings.TrimSpace(string(out)) // not a shim that needs its home
	return w, os.WriteFile(filepath.Join(w.bin(), "python3"), []byte("#!/bin/sh\nexec "+w.python+" \"$@\"\n"), 0o755)
}

// command is a program of the scene, with nothing of our own environment.
func (w *docWorld) command(name string, args ...string) *exec.Cmd {
	repository, _ := filepath.Abs(top)   // else it is empty, and a setup fails
	settle, _ := exec.LookPath("settle") // TestMain puts it there
	cmd := exec.Command(name, args...)
	cmd.Dir = w.dir()
	cmd.Env = []string{
		"PATH=" + w.bin() + ":" + filepath.Dir(settle) + ":/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin", "HOME=" + filepath.Join(w.root, "home", "you"),
		w.entry(), "TOP=" + repository, "TMPDIR=" + filepath.Join(w.root, "tmp"), "TERM=dumb", "TZ=UTC", "LC_ALL=C.UTF-8",
		"SETTLE_STATE_DIR=" + filepath.Join(w.root, "var", "lib", "settle"),
	}
	return cmd
}

// do does what a block is for, and says what is wrong with it.
func (w *docWorld) do(b *docBlock) error {
	why, leave := b.mark("not run")
	reason, syntax := b.mark("syntax only")
	switch {
	case (leave || syntax) && len(strings.Fields(why+reason)) < 3:
		return errors.New("why is it not run?")
	case leave:
		return nil
	}
	for _, m := range b.marks {
		if m.key == "setup" {
			cmd := w.command("sh", "-eu")
			cmd.Stdin = strings.NewReader(m.rest)
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("setup: %w\n%s", err, out)
			}
		}
	}
	name, isFile := b.mark("file")
	if isFile {
		if err := w.put(name, b.text); err != nil {
			return err
		}
	}
	if _, applied := b.mark("applied"); !syntax && b.lang != "json" && (b.lang != "yaml" || isFile || applied) {
		if err := tame(b); err != nil {
			return err
		}
	}
	switch {
	case b.lang == "yaml" && syntax:
		return parses(yaml.NewDecoder(strings.NewReader(b.text)).Decode)
	case b.lang == "json":
		return parses(json.NewDecoder(strings.NewReader(b.text)).Decode)
	case b.lang == "sh" && syntax:
		return w.ends("sh", "-n", "-c", b.text)
	case b.lang == "yaml":
		return w.manifest(b, name)
	case b.lang == "console":
		return w.console(b)
	case isFile:
		return nil // a console below uses it
	case b.lang == "sh":
		return w.ends("sh", "-eu", "-c", b.text)
	}
	return fmt.Errorf("nothing is known of how to try a block of %q: say why it is not run", b.lang)
}

func parses(decode func(any) error) error {
	for {
		var value any
		if err := decode(&value); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// put writes a block into the scene; what begins like a program can be run.
func (w *docWorld) put(name, text string) error {
	path, mode := filepath.Join(w.dir(), name), os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), mode)
}

func (w *docWorld) ends(program string, args ...string) error {
	if out, err := w.command(program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// manifest holds a block to be one without a doubt, and one that is marked as
// applied to do what it is there for: it is applied, and then there is nothing to do.
func (w *docWorld) manifest(b *docBlock, name string) error {
	if name == "" {
		name = fmt.Sprintf("block-%d.yaml", b.line)
		if err := w.put(name, b.text); err != nil {
			return err
		}
	}
	if err := w.ends("settle", "validate", "--strict", name); err != nil {
		return err
	}
	if _, applied := b.mark("applied"); !applied {
		return nil
	}
	for n, want := range []int{2, 0} {
		for _, command := range []string{"plan", "apply"} {
			cmd := w.command("settle", command, "--detailed-exitcode", name)
			out, _ := cmd.CombinedOutput() // its code is looked at
			if code := cmd.ProcessState.ExitCode(); code != want {
				return fmt.Errorf("settle %s exits %d the %d. time, not %d\n%s", command, code, n+1, want, out)
			}
		}
	}
	return nil
}

// console runs the commands of a block in one shell and holds each to what is
// shown of it.
func (w *docWorld) console(b *docBlock) error {
	commands, err := parseConsole(b.text)
	if err != nil {
		return err
	}
	const end = "\x01end of a command\x01"
	var script strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&script, "%s\n(s=$?; printf '%s%%d\\n' $s; exit $s)\n", strings.TrimSuffix(c.command, "\n"), end)
	}
	cmd := w.command("sh", "-c", script.String())
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); cmd.ProcessState == nil {
		return err
	}
	rest := out.String()
	var wrong []error
	var is strings.Builder
	for _, c := range commands {
		got, after, ended := strings.Cut(rest, end)
		if !ended {
			return errors.Join(append(wrong, fmt.Errorf("$ %s did not come to its end:\n%s", c.command, rest))...)
		}
		var code int
		fmt.Sscan(after, &code) // we wrote it
		_, rest, _ = strings.Cut(after, "\n")
		if code != c.exit {
			wrong = append(wrong, fmt.Errorf("$ %sexits %d, not %d", c.command, code, c.exit))
		}
		is.WriteString("$ " + strings.ReplaceAll(strings.TrimSuffix(c.command, "\n"), "\n", "\n> ") + "\n")
		if got = w.plain(got); !looksLike(c.output, got) {
			wrong = append(wrong, fmt.Errorf("$ %s-- shown\n%s-- is\n%s", c.command, c.output, got))
			c.output = got
		}
		is.WriteString(c.output)
	}
	b.is = is.String()
	return errors.Join(wrong...)
}

// others is said where the root of the machine under the test has used settle.
var others = regexp.MustCompile(`(?m)^warning: .*: root may have state of this manifest in .*\n`)

// plain is an output as a page shows it: the scene's root is the machine's, and
// who runs it is you.
func (w *docWorld) plain(text string) string {
	text = strings.ReplaceAll(others.ReplaceAllString(text, ""), w.root, "")
	if me, err := user.Current(); err == nil {
		text = regexp.MustCompile(`\b`+regexp.QuoteMeta(me.Username)+`\b`).ReplaceAllString(text, "you")
	}
	return text
}

// sceneLimit bounds the commands of one scene: the longest take some seconds on an
// idle machine.
const sceneLimit = 4 * time.Minute

// limit kills the processes of the scene when they take too long. The function that
// it returns kills those that are left at the end.
func (w *docWorld) limit() (end func()) {
	timer := time.AfterFunc(sceneLimit, func() { settletest.EndProcesses(w.entry()) })
	return func() {
		timer.Stop()
		settletest.EndProcesses(w.entry())
	}
}

// tryPage runs the blocks of a page in their order, and says what is wrong with
// which. A scene begins with an empty machine. It returns how many blocks were
// tried, and the page as it would be right but for what only a person can mend.
func tryPage(text string, root func() string) (tried int, right string, wrong []error) {
	blocks, err := parsePage(text)
	if err != nil {
		return 0, text, []error{err}
	}
	right = text
	end := func() {}
	defer func() { end() }()
	var w *docWorld
	for i := range blocks {
		b := &blocks[i]
		if slices.ContainsFunc(b.marks, func(m docMark) bool { return m.key == "scene" }) || w == nil {
			if w, err = newDocWorld(root()); err != nil {
				return tried, right, append(wrong, err)
			}
			end()
			end = w.limit()
		}
		if _, not := b.mark("not run"); !not {
			tried++
		}
		if err := w.do(b); err != nil {
			wrong = append(wrong, fmt.Errorf("line %d: %w", b.line, err))
		}
		if b.is != "" {
			right = strings.Replace(right, "```console\n"+b.text+"```", "```console\n"+b.is+"```", 1)
		}
	}
	return tried, right, wrong
}
