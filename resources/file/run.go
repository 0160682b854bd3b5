package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
)

// validateTimeout is the limit of a validator whose resource has none.
const validateTimeout = 5 * time.Minute

var errNoBackup = errors.New("backup: there is no state directory to keep the old file in")

// Run compares again and mends what differs, one path after the other.
func (f *file) Run(ctx context.Context, stage model.Stage) (model.Effect, error) {
	effect := model.Effect{Unchanged: true}
	err := f.parts(func(p part) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		g, err := f.compare(ctx, p)
		if err != nil || !g.differs() {
			return err
		}
		effect.Unchanged = false
		return f.mend(ctx, g, &effect)
	})
	if err == nil && stage.RemembersState {
		effect.LastState = f.leave(ctx)
	}
	return effect, err
}

// mend closes one gap. Began is set as soon as anything was replaced.
func (f *file) mend(ctx context.Context, g *gap, effect *model.Effect) error {
	if g.unknown != nil {
		return g.unknown
	}
	if g.have.Remains != "" {
		if err := f.w.Disk.Sweep(g.path); err != nil {
			return err
		}
	}
	if f.backup && g.content && g.have.Kind != disk.Missing {
		if err := f.keep(g, effect); err != nil {
			return err
		}
	}
	switch {
	case g.remove:
		done, err := f.w.Disk.Remove(g.path, f.force)
		effect.Began = effect.Began || done
		return err
	case g.replace:
		return f.put(ctx, g, effect)
	case g.kind == disk.Missing || g.have.Kind != g.kind: // there was nothing but remains
		return nil
	}
	err := f.w.Disk.Adjust(g.path, g.mode, g.uid, g.gid)
	now, lookErr := f.w.Disk.Look(g.path) // the owner may have changed, and not the mode
	effect.Began = effect.Began || lookErr != nil || now != g.have
	return err
}

// keep copies what is about to go to the state directory, by run, and says where.
func (f *file) keep(g *gap, effect *model.Effect) error {
	if f.w.BackupDir == "" {
		return errNoBackup
	}
	if err := f.w.Disk.Backup(g.path, f.w.BackupDir); err != nil {
		return err
	}
	effect.Output += "kept as " + filepath.Join(f.w.BackupDir, g.path) + "\n"
	return nil
}

// put makes the new file and lets it take its place.
func (f *file) put(ctx context.Context, g *gap, effect *model.Effect) error {
	n := g.made()
	n.Force = f.force
	if g.kind == disk.Regular {
		r, err := f.contents(g)
		if err != nil {
			return err
		}
		defer r.Close()
		n.Content = copyTo(ctx, r)
	}
	if len(f.validate) > 0 && g.content {
		n.Ready = func(path string) error { return f.ask(ctx, path, effect) }
	}
	done, lost, err := f.w.Disk.Put(g.path, n)
	effect.Began = effect.Began || done
	for _, attribute := range lost {
		effect.Warnings = append(effect.Warnings, fmt.Sprintf("%s lost an attribute: %s", g.path, attribute))
	}
	return err
}

// contents opens what is to be in the new file: what is declared, or where only
// owner or mode differ, what is in it.
func (f *file) contents(g *gap) (io.ReadCloser, error) {
	if !g.content {
		return f.w.Disk.Open(g.path)
	}
	r, _, err := g.reader()
	if err != nil {
		return nil, f.sourceError(g.source, err)
	}
	return r, nil
}

// ask runs the validator on a new file.
func (f *file) ask(ctx context.Context, path string, effect *model.Effect) error {
	cmd := f.validator(path)
	exit, err := f.w.Run(ctx, cmd)
	if err == nil && exit.Signal == "" && exit.Code == 0 {
		return nil // as after a command, what it said does not matter then
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

// validator is the command that looks at a new file.
func (f *file) validator(path string) model.Command {
	argv := slices.Clone(f.validate)
	put := strings.NewReplacer(percent, placeholder, placeholder, path)
	for i, word := range argv {
		argv[i] = put.Replace(word)
	}
	cmd := f.w.Command(f.base, argv)
	cmd.Timeout, cmd.Sensitive = f.timeout, f.sensitive
	if cmd.Timeout == 0 {
		cmd.Timeout = validateTimeout
	}
	return cmd
}

// findValidator says why the validator's program cannot be found.
func (f *file) findValidator() error {
	_, err := f.w.LookPath(f.validate[0], f.base.Dir, f.w.SearchPath(f.base))
	return err
}
