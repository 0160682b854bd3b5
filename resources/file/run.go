package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
)

// validateTimeout is the limit of a validator whose resource has no timeout.
const validateTimeout = 5 * time.Minute

var errNoBackup = errors.New("backup: there is no state directory to keep the old file in")

// Run compares every declared path again and changes those that differ.
func (f *file) Run(ctx context.Context, stage model.Stage) (model.Effect, error) {
	effect := model.Effect{Unchanged: true}
	err := f.visit(func(p desired) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c, err := f.compare(ctx, p)
		if err != nil || !c.differs() {
			return err
		}
		effect.Unchanged = false
		return f.change(ctx, c, &effect)
	})
	if err == nil && stage.RemembersState {
		effect.LastState = f.lastStateText(ctx)
	}
	return effect, err
}

// change makes one path as declared. It sets Began as soon as the path was changed.
func (f *file) change(ctx context.Context, c *comparison, effect *model.Effect) error {
	if c.unknownOwners != nil {
		return c.unknownOwners
	}
	if c.have.Remains != "" {
		if err := f.w.Disk.Sweep(c.path); err != nil {
			return err
		}
	}
	if f.backup && c.showsContent && c.have.Kind != disk.Missing {
		if err := f.backUp(c, effect); err != nil {
			return err
		}
	}
	switch {
	case c.remove && c.have.Kind == disk.Directory && !f.force: // an empty one: os.Remove removes no other
		err := os.Remove(c.path)
		effect.Began = effect.Began || err == nil
		return err
	case c.remove:
		done, err := f.w.Disk.Remove(c.path, f.force)
		effect.Began = effect.Began || done
		return err
	case c.replace:
		return f.replace(ctx, c, effect)
	case c.kind == disk.Missing || c.have.Kind != c.kind: // only remains were there
		return nil
	}
	err := f.w.Disk.Adjust(c.path, c.mode, c.uid, c.gid)
	// look again: an error after the change of the owner leaves a changed file
	now, lookErr := f.w.Disk.Look(c.path)
	effect.Began = effect.Began || lookErr != nil || now != c.have
	return err
}

// backUp copies the entry that is about to go to the state directory.
func (f *file) backUp(c *comparison, effect *model.Effect) error {
	if f.w.BackupDir == "" {
		return errNoBackup
	}
	if err := f.w.Disk.Backup(c.path, f.w.BackupDir); err != nil {
		return err
	}
	effect.Output += "kept as " + filepath.Join(f.w.BackupDir, c.path) + "\n"
	return nil
}

// replace creates the new entry and moves it to its place.
func (f *file) replace(ctx context.Context, c *comparison, effect *model.Effect) error {
	n := c.newFile(f.inPlace)
	n.Force, n.Parents = f.force, f.parents
	if c.kind == disk.Regular {
		r, err := f.openNewContent(c)
		if err != nil {
			return err
		}
		defer r.Close()
		n.Content = copyFrom(ctx, r)
	}
	if len(f.validate) > 0 && c.showsContent {
		n.Ready = func(path string) error { return f.runValidator(ctx, path, effect) }
	}
	done, lost, err := f.w.Disk.Put(c.path, n)
	effect.Began = effect.Began || done
	for _, attribute := range lost {
		effect.Warnings = append(effect.Warnings, fmt.Sprintf("%s lost an attribute: %s", c.path, attribute))
	}
	return err
}

// openNewContent opens the declared content, or the current content when only
// owner or mode differ.
func (f *file) openNewContent(c *comparison) (io.ReadCloser, error) {
	if !c.showsContent {
		return f.w.Disk.Open(c.path)
	}
	r, _, err := c.open()
	if err != nil {
		return nil, f.sourceError(c.source, err)
	}
	return r, nil
}

// runValidator runs the validator on a new file.
func (f *file) runValidator(ctx context.Context, path string, effect *model.Effect) error {
	exit, err := f.w.Run(ctx, f.validatorCommand(path))
	if err == nil && exit.Signal == "" && exit.Code == 0 {
		return nil // its output is of no interest, as that of a command that succeeded
	}
	effect.Output += exit.Output
	effect.Truncated = exit.Truncated
	text := f.w.Join(f.validate)
	switch {
	case err != nil:
		return fmt.Errorf("validate with %s: %w", text, err)
	case exit.Signal != "":
		return fmt.Errorf("validate with %s: killed by %s", text, exit.Signal)
	}
	effect.Exit = &exit.Code
	return fmt.Errorf("validate with %s: exit %d", text, exit.Code)
}

// validatorCommand returns the command that checks the new file at a path.
func (f *file) validatorCommand(path string) model.Command {
	argv := slices.Clone(f.validate)
	replacer := strings.NewReplacer(percent, pathMarker, pathMarker, path)
	for i, word := range argv {
		argv[i] = replacer.Replace(word)
	}
	cmd := f.w.Command(f.base, argv)
	cmd.Timeout, cmd.Sensitive = f.timeout, f.sensitive
	if cmd.Timeout == 0 {
		cmd.Timeout = validateTimeout
	}
	return cmd
}

// findValidator returns why the validator's program cannot be found, or nil.
func (f *file) findValidator() error {
	_, err := f.w.LookPath(f.validate[0], f.base.Dir, f.w.SearchPath(f.base))
	return err
}
