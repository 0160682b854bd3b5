package exec

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/secret"
)

// guardTimeout is the limit of a guard whose resource has none.
const guardTimeout = 5 * time.Minute

// Check reads creates and guards, by the decision table.
func (c *command) Check(ctx context.Context, ask model.Ask) (model.Decision, error) {
	who, err := c.account()
	if err != nil && len(c.cond.Commands)+len(c.cond.Creates) == 0 {
		who, err = account{}, nil // it matters only when it runs
	}
	if err != nil {
		return model.Decision{}, err
	}
	cond := c.cond
	dir := c.dir(who)
	cond.Creates = c.creates(dir)
	cond.Exists = exists
	cond.RunGuard = func(ctx context.Context, g model.Guard) (int, error) { return c.ask(ctx, who, g) }
	d, err := cond.Decide(ctx, ask)
	if err != nil {
		return d, c.veil(err)
	}
	if d.Act && len(c.argv) > 0 {
		var path []string
		if !strings.Contains(c.argv[0], "/") { // else nothing is searched
			_, path = c.environment(who, dir, "")
		}
		if _, err := c.w.LookPath(c.argv[0], dir, path); err != nil {
			d.Obstacles = append(d.Obstacles, c.veil(err).Error())
		}
	}
	return d, nil
}

// dir is the working directory: as written, else the user's home, else the manifest's.
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
	paths := slices.Clone(c.cond.Creates)
	for i, path := range paths {
		if !filepath.IsAbs(path) {
			paths[i] = filepath.Join(dir, path)
		}
	}
	return paths
}

// exists looks at a creates path itself, not at what a link points to.
func exists(path string) (there bool, note string, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return false, "", nil
	case err != nil:
		return false, "", fmt.Errorf("read creates %s: %w", path, cause(err))
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			note = "creates " + path + " is a link to nothing"
		}
	}
	return true, note, nil
}

// cause drops the operation and path that a PathError repeats.
func cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// ask runs a guard. What is neither yes nor no is an error.
func (c *command) ask(ctx context.Context, who account, g model.Guard) (int, error) {
	if err := c.permitted(); err != nil {
		return 0, err
	}
	cmd := c.process(who, g.Argv)
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

// process is a command or a guard, ready to be run.
func (c *command) process(who account, argv []string) model.Command {
	tag := c.w.Commands.nextTag()
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
	if err := c.permitted(); err != nil {
		return model.Effect{}, err
	}
	cmd := c.process(who, c.argv)
	creates := c.creates(cmd.Dir)
	absent := missing(creates)
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
		if absent != "" && missing(creates) == "" {
			effect.Appeared = absent
		}
		return effect, err
	}
	effect.Unchanged = slices.Contains(c.unchanged, exit.Code)
	if c.log != "true" {
		effect.Output, effect.Truncated = "", false
	}
	if path := missing(creates); path != "" {
		effect.Warnings = append(effect.Warnings, "did not create "+path+": it will run again")
	}
	return effect, nil
}

// verdict says why a command did not succeed, nil when it did.
func (c *command) verdict(exit model.Exit, err error) error {
	switch {
	case err != nil:
		return c.veil(err)
	case exit.Signal != "":
		return errors.New("killed by " + exit.Signal)
	case !slices.Contains(c.returns, exit.Code):
		return fmt.Errorf("exit %d", exit.Code)
	}
	return nil
}

// missing returns the first path that is not there; one that cannot be looked
// at is not known to be missing.
func missing(paths []string) string {
	for _, path := range paths {
		if there, _, err := exists(path); err == nil && !there {
			return path
		}
	}
	return ""
}

// veil takes a sensitive command's words out of an error.
func (c *command) veil(err error) error {
	if !c.sensitive || err == nil {
		return err
	}
	words := slices.Clone(c.argv)
	for _, g := range c.cond.Commands {
		words = append(words, g.Argv...)
	}
	for _, p := range c.env {
		words = append(words, p.value)
	}
	mask, _ := secret.New(append(words, string(c.stdin)))
	return veiled{mask.Redact(err.Error()), err}
}

// veiled is an error whose text has been gone over.
type veiled struct {
	text string
	err  error
}

func (v veiled) Error() string { return v.text }
func (v veiled) Unwrap() error { return v.err }
