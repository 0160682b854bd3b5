package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/secret"
)

// guardTimeout is the limit of a guard whose resource has no timeout.
const guardTimeout = 5 * time.Minute

// Check decides by creates and guards, after the table in docs/deciding.md.
func (c *command) Check(ctx context.Context, ask model.Ask) (model.Decision, error) {
	who, err := c.account()
	if err != nil && len(c.guards.Commands)+len(c.guards.Creates) == 0 {
		who, err = account{}, nil // the account matters only when the command runs
	}
	if err != nil {
		return model.Decision{}, err
	}
	guards := c.guards
	dir := c.dir(who)
	guards.Creates = c.creates(dir)
	guards.Exists = exists
	guards.RunGuard = func(ctx context.Context, g model.Guard) (int, error) { return c.runGuard(ctx, who, g) }
	d, err := guards.Decide(ctx, ask)
	if err != nil {
		return d, c.redactError(err)
	}
	if d.Act && len(c.argv) > 0 {
		var path []string
		if !strings.Contains(c.argv[0], "/") { // a path with a slash is not searched
			_, path = c.environment(who, dir, "")
		}
		if _, err := c.w.LookPath(c.argv[0], dir, path); err != nil {
			d.Obstacles = append(d.Obstacles, c.redactError(err).Error())
		}
	}
	return d, nil
}

// dir returns the working directory: cwd, else the user's home, else the manifest's
// directory.
func (c *command) dir(who account) string {
	switch {
	case c.cwd != "":
		return c.cwd
	case who.home != "":
		if info, err := os.Stat(who.home); err == nil && info.IsDir() {
			return who.home
		}
		return "/"
	}
	return c.base.Dir
}

func (c *command) creates(dir string) []string {
	paths := slices.Clone(c.guards.Creates)
	for i, path := range paths {
		if !filepath.IsAbs(path) {
			paths[i] = filepath.Join(dir, path)
		}
	}
	return paths
}

// exists reports whether a creates path exists. A link exists whatever its target is;
// the warning names a dangling one.
func exists(path string) (there bool, warning string, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return false, "", nil
	case err != nil:
		return false, "", fmt.Errorf("read creates %s: %w", path, withoutPath(err))
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			warning = "creates " + path + " is a link to nothing"
		}
	}
	return true, warning, nil
}

// withoutPath returns the cause of a PathError, whose operation and path the caller
// names already.
func withoutPath(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// runGuard runs a guard and returns its exit code. The error says why the guard has
// answered neither yes nor no.
func (c *command) runGuard(ctx context.Context, who account, g model.Guard) (int, error) {
	if err := c.requireRoot(); err != nil {
		return 0, err
	}
	cmd := c.process(who, g.Argv, c.w.Commands.nextTag())
	cmd.Stdin = nil
	if cmd.Timeout == 0 {
		cmd.Timeout = guardTimeout
	}
	exit, err := c.w.Run(ctx, cmd)
	switch {
	case err != nil:
		return 0, err
	case exit.Signal != "":
		return 0, errors.New("killed by " + exit.Signal)
	case c.shell && (exit.Code == 126 || exit.Code == 127):
		return exit.Code, fmt.Errorf("exit %d: %s", exit.Code, lastLine(exit.Output, "the shell could not run it"))
	}
	return exit.Code, nil
}

func lastLine(output, otherwise string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if line := strings.TrimSpace(lines[len(lines)-1]); line != "" {
		return line
	}
	return otherwise
}

// process builds the child command for the resource's command or one of its guards.
func (c *command) process(who account, argv []string, tag string) model.Command {
	dir := c.dir(who)
	env, path := c.environment(who, dir, tag)
	return model.Command{
		Argv: argv, Dir: dir, Env: env, Path: path, Stdin: c.stdin,
		Timeout: c.timeout, Grace: c.w.Commands.Grace, ProcessTag: tag,
		User: who.credential, Umask: c.umask, Redact: c.w.Commands.Redact, Sensitive: c.sensitive,
	}
}

// Run runs the command once.
func (c *command) Run(ctx context.Context, stage model.Stage) (model.Effect, error) {
	who, err := c.account()
	if err != nil {
		return model.Effect{}, err
	}
	if err := c.requireRoot(); err != nil {
		return model.Effect{}, err
	}
	cmd := c.process(who, c.argv, cmp.Or(stage.ProcessTag, c.w.Commands.nextCommandTag()))
	creates := c.creates(cmd.Dir)
	absent := listMissing(creates)
	cmd.Started = stage.Started
	if c.log == "true" {
		cmd.Output = stage.Output
	}
	exit, err := c.w.Run(ctx, cmd)
	effect := model.Effect{
		Began: exit.Began, Signal: exit.Signal, Output: exit.Output,
		Truncated: exit.Truncated, Warnings: exit.Warnings,
	}
	if exit.Began && exit.Signal == "" && err == nil {
		effect.Exit = &exit.Code
	}
	if err = c.verdict(exit, err); err != nil {
		if len(absent) > 0 && len(listMissing(creates)) == 0 {
			effect.Appeared = absent[0]
		}
		return effect, err
	}
	effect.Unchanged = slices.Contains(c.unchanged, exit.Code)
	if c.log != "true" {
		effect.Output, effect.Truncated = "", false
	}
	if absent := listMissing(creates); len(absent) > 0 {
		effect.Warnings = append(effect.Warnings, "did not create "+model.ListPaths(absent)+": it will run again")
	}
	return effect, nil
}

// verdict returns why a command did not succeed, or nil.
func (c *command) verdict(exit model.Exit, err error) error {
	switch {
	case err != nil:
		return c.redactError(err)
	case exit.Signal != "":
		return errors.New("killed by " + exit.Signal)
	case !slices.Contains(c.returns, exit.Code):
		return fmt.Errorf("exit %d", exit.Code)
	}
	return nil
}

// listMissing returns the paths that do not exist. A path that cannot be read may exist.
func listMissing(paths []string) (absent []string) {
	for _, path := range paths {
		if there, _, err := exists(path); err == nil && !there {
			absent = append(absent, path)
		}
	}
	return absent
}

// redactError removes the words of a sensitive command from an error.
func (c *command) redactError(err error) error {
	if !c.sensitive || err == nil {
		return err
	}
	words := slices.Clone(c.argv)
	for _, g := range c.guards.Commands {
		words = append(words, g.Argv...)
	}
	for _, p := range c.env {
		words = append(words, p.value)
	}
	redactor, _ := secret.New(append(words, string(c.stdin)))
	return redactedError{redactor.Redact(err.Error()), err}
}

// redactedError is an error with a redacted text.
type redactedError struct {
	text string
	err  error
}

func (e redactedError) Error() string { return e.text }
func (e redactedError) Unwrap() error { return e.err }

// About returns the facts that need no look at the machine.
func (c *command) About() model.About {
	check := len(c.unchanged) > 0 && !slices.ContainsFunc(c.returns, func(code int) bool { return !slices.Contains(c.unchanged, code) })
	about := model.About{
		Command:   c.text,
		Cwd:       c.cwd,
		Expects:   "returns " + joinCodes(c.returns),
		User:      c.otherUser(),
		Quiet:     c.log == "false",
		Creates:   len(c.guards.Creates) > 0,
		Check:     check,
		MayChange: len(c.unchanged) > 0 && !check,
		Journaled: true, // so that a later run finds its process
	}
	return about
}

func joinCodes(list []int) string {
	texts := make([]string, len(list))
	for i, code := range list {
		texts[i] = strconv.Itoa(code)
	}
	return strings.Join(texts, ", ")
}
