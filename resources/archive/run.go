package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
	"github.com/settle-cm/settle/model/download"
)

// attempt is one Run of an archive.
type attempt struct {
	*archive
	stage  model.Stage
	view   view
	effect model.Effect
	sum    download.Checksum // of the archive that was fetched or read
}

// Run looks again and makes the changes that are due.
func (a *archive) Run(ctx context.Context, stage model.Stage) (model.Effect, error) {
	if a.timeout > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, a.timeout, fmt.Errorf("timed out after %s", a.timeout))
		defer cancel()
		ctx = limited
	}
	t := &attempt{archive: a, stage: stage}
	err := t.run(ctx)
	if err == nil && stage.RemembersState && !a.absent {
		t.effect.LastState = t.remember()
	}
	return t.effect, t.describe(ctx, err)
}

func (t *attempt) run(ctx context.Context) error {
	var err error
	// the decision to act was made by Check, so an unfinished unpacking looks due again
	if t.view, err = t.look(ctx, t.stage.LastState, ""); err != nil {
		return err
	}
	v := &t.view
	if v.unknown != nil {
		return v.unknown
	}
	if v.remove {
		done, err := t.Disk.Remove(t.path, false)
		t.effect.Began = done
		return err
	}
	if t.extract != "" && !v.fetch && !v.unpack && !v.adjust {
		v.unpack = true // Check knew of an unfinished unpacking
	}
	if t.path != "" {
		err = t.runKept(ctx)
	} else if v.unpack {
		err = t.unpackTo(ctx, t.fetchInto)
	}
	if err != nil {
		return err
	}
	if !t.effect.Began {
		t.effect.Unchanged = true
	}
	return t.verify()
}

// runKept brings the archive to path, and unpacks it from there.
func (t *attempt) runKept(ctx context.Context) error {
	v := &t.view
	if v.fetch || v.unpack && !t.hasVerified(ctx) {
		if err := t.fetchToPath(ctx); err != nil {
			return err
		}
		if t.extract != "" && (v.last == nil || v.last.unpacked != t.sum.String()) {
			v.unpack = true
		}
	} else if v.adjust {
		if err := t.Disk.Adjust(t.path, nil, v.uid, v.gid); err != nil {
			return err
		}
		t.effect.Began = true
	}
	if !v.unpack {
		return nil
	}
	if err := t.unpackTo(ctx, t.openKept); err != nil {
		return err
	}
	if !t.cleanup {
		return nil
	}
	_, err := t.Disk.Remove(t.path, false)
	return err
}

// hasVerified reports whether the archive at path has the declared checksum. An
// archive without one is fetched anew.
func (t *attempt) hasVerified(ctx context.Context) bool {
	declared := t.request.Checksum
	if t.view.kept.Kind != disk.Regular || declared.Hex == "" {
		return false
	}
	sum, err := t.archive.sum(ctx, t.path, declared) // the archive has to be read in any case
	if err != nil || sum != declared {
		return false
	}
	t.sum = sum
	return true
}

// fetchToPath downloads the archive beside its place and moves it there when it is
// complete and verified.
func (t *attempt) fetchToPath(ctx context.Context) error {
	mode := uint32(0o644)
	if t.isPrivate() {
		mode = 0o600
	}
	var failed error // of the transfer: worth another attempt
	done, _, err := t.Disk.Put(t.path, disk.NewFile{
		Kind: disk.Regular, Mode: &mode, UID: t.view.uid, GID: t.view.gid, Parents: true, Was: &t.view.kept,
		Content: func(w io.Writer) error {
			failed = t.get(ctx, w)
			return failed
		},
	})
	t.effect.Began = t.effect.Began || done
	if failed != nil {
		return failed
	}
	return err
}

// get downloads the archive.
func (t *attempt) get(ctx context.Context, w io.Writer) error {
	request := t.request
	if t.stage.Output != nil {
		request.Progress = func(done, length int64) {
			text := "downloaded " + size(done)
			if length > 0 {
				text += " of " + size(length)
			}
			t.stage.Output([]byte(text))
		}
	}
	sum, err := t.Download.Get(ctx, request, w)
	t.sum = sum
	t.effect.Again = err != nil
	return err
}

// fetchInto downloads an archive that is not kept into the staging directory.
func (t *attempt) fetchInto(ctx context.Context, root *os.Root) (*os.File, error) {
	f, err := root.OpenFile("archive", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := t.get(ctx, f); err != nil {
		_ = f.Close() // it goes with the staging directory
		return nil, err
	}
	return f, nil
}

// openKept opens the archive at path.
func (t *attempt) openKept(context.Context, *os.Root) (*os.File, error) {
	r, err := t.Disk.Open(t.path)
	if err != nil {
		return nil, err
	}
	f, ok := r.(*os.File)
	if !ok {
		_ = r.Close() // nothing was read
		return nil, fmt.Errorf("open %s: it is no file", t.path)
	}
	return f, nil
}

// unpackTo unpacks the archive that open returns, beside the target, and moves the
// tree to its place.
func (t *attempt) unpackTo(ctx context.Context, open func(context.Context, *os.Root) (*os.File, error)) (err error) {
	staging, err := t.Stage(t.extract, t.purge)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, staging.Close()) }()
	file, err := open(ctx, staging.Root)
	if err != nil {
		return err
	}
	defer file.Close() // it was read
	tree, err := staging.Root.OpenRoot(Tree)
	if err != nil {
		return err
	}
	defer tree.Close() // a handle only
	done, err := t.Unpack(ctx, file, tree, Unpacking{Format: t.format, Strip: t.strip, UID: t.view.uid, GID: t.view.gid})
	if err != nil {
		return fmt.Errorf("%s: %w", t.archiveName(), err)
	}
	began, err := staging.Place(ctx, Placement{Purge: t.purge, UID: t.view.uid, GID: t.view.gid})
	t.effect.Began = t.effect.Began || began
	if err != nil {
		return err
	}
	t.effect.Began = true
	t.effect.Warnings = append(t.effect.Warnings, done.Warnings...)
	t.effect.Output += fmt.Sprintf("unpacked %d entries, %s, into %s\n", done.Entries, size(done.Bytes), t.extract)
	return nil
}

// archiveName returns the last element of the archive's path or URL.
func (t *attempt) archiveName() string {
	if t.path != "" {
		return path.Base(t.path)
	}
	address, _, _ := strings.Cut(t.request.URL, "?")
	return path.Base(address)
}

// verify looks whether unpacking has made what it should make.
func (t *attempt) verify() error {
	if !t.view.unpack {
		return nil
	}
	missing, err := t.missing()
	if err == nil && missing != "" {
		err = fmt.Errorf("%s is unpacked, and creates %s is still missing: compare it with the names in the archive, and with strip", t.archiveName(), missing)
	}
	return err
}

// remember returns the text for the next Check.
func (t *attempt) remember() string {
	l := lastState{}
	if t.view.last != nil {
		l = *t.view.last
	}
	if t.view.unpack {
		l.unpacked = t.sum.String()
		l.place = t.placeTag()
	}
	if t.extract == "" {
		l.place, l.unpacked = "", ""
	}
	l.kept, l.version = "", ""
	if t.keeps() {
		if s, err := t.Disk.Look(t.path); err == nil && s.Kind == disk.Regular {
			l.version = fileVersion(t.path, s)
			l.kept = t.sum.String()
			if t.sum.Hex == "" {
				l.kept = t.view.keptSum
			}
		}
	}
	return l.String()
}

// address matches the URLs in a message.
var address = regexp.MustCompile(`[a-z]+://\S+`)

// describe returns an error without the address of a sensitive resource.
func (t *attempt) describe(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return err
	}
	if !t.sensitive {
		return err
	}
	text := address.ReplaceAllString(err.Error(), "***")
	if _, rest, ok := strings.Cut(t.request.URL, "://"); ok {
		host, _, _ := strings.Cut(rest, "/")
		name, _, _ := strings.Cut(host, ":")
		text = strings.NewReplacer(host, "***", name, "***").Replace(text)
	}
	if errors.Is(err, model.ErrNotPermitted) {
		return fmt.Errorf("%s: %w", text, model.ErrNotPermitted)
	}
	return errors.New(text)
}

// size returns a number of bytes for people.
func size(n int64) string {
	const unit = 1024
	switch {
	case n < unit:
		return fmt.Sprintf("%d bytes", n)
	case n < unit*unit:
		return fmt.Sprintf("%d KiB", n/unit)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/unit/unit)
}
