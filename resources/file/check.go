package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
)

// The bounds of a decision about a tree.
const (
	maxNamed    = 2        // differing paths that the reason names
	maxTreeDiff = 32 << 10 // bytes of diffs after which no further diff is added
)

// Check compares every declared path with the machine. A refresh makes no
// difference: a file that is as declared has nothing to refresh.
func (f *file) Check(ctx context.Context, ask model.Ask) (model.Decision, error) {
	property := f.comparedProperty()
	d := model.Decision{Read: []string{property}}
	s := summary{lastState: ask.LastState}
	err := f.visit(func(p desired) error {
		c, err := f.compare(ctx, p)
		if err == nil && c.differs() {
			err = f.summarize(&s, c)
		}
		return err
	})
	switch {
	case errors.Is(err, model.ErrNotPermitted):
		// it may differ: apply will find out, and plan has to say that it could not read it
		d.Act, d.Reason = true, err.Error()
		d.Read, d.Unread = nil, []string{fmt.Sprintf("%s (%s)", property, d.Reason)}
		return d, nil
	case err != nil:
		return d, err
	case s.count == 0:
		d.Reason = "as declared"
		return d, nil
	}
	d.Act, d.Action, d.Reason = true, s.action, s.reason()
	d.Warnings, d.Obstacles, d.Diff = s.warnings, s.obstacles, s.losses.diff()+s.diff.String()
	return d, nil
}

// comparedProperty returns the name of the property that the decision rests on.
func (f *file) comparedProperty() string {
	switch {
	case f.source != "":
		return "source"
	case f.content != nil:
		return "content"
	}
	return "ensure"
}

// summary collects the differences of all paths of a resource, within bounds.
type summary struct {
	lastState string
	causes    *causes // nil until the first difference
	count     int
	action    model.Action // of all differing paths together
	texts     []string
	warnings  []string
	obstacles []string
	losses    losses
	diff      strings.Builder
}

// summarize adds one differing path.
func (f *file) summarize(s *summary, c *comparison) error {
	s.count++
	if err := f.addLoss(&s.losses, c); err != nil {
		return err
	}
	s.addAction(c.action())
	s.warnings = append(s.warnings, c.warnings...)
	if s.causes == nil {
		s.causes = f.causes(s.lastState)
	}
	if s.count <= maxNamed {
		text := s.causes.describe(c)
		if f.recurse {
			rel, err := filepath.Rel(f.path, c.path)
			if err != nil {
				return err
			}
			if !filepath.IsLocal(rel) { // the tree's own path is a link
				rel = "."
			}
			text = rel + ": " + text
		}
		s.texts = append(s.texts, text)
	}
	if s.count == 1 {
		s.obstacles = f.obstacles(c)
	}
	switch {
	case !c.showsContent || s.diff.Len() > maxTreeDiff:
		return nil
	case f.sensitive: // do not even read the content
		s.diff.Reset()
		s.diff.WriteString("***")
		return nil
	}
	diff, err := f.diff(c)
	s.diff.WriteString(diff)
	return err
}

// addAction adds the action for one path. Different actions are together a change.
func (s *summary) addAction(action model.Action) {
	if s.count > 1 && s.action != action {
		action = model.ActionChange
	}
	s.action = action
}

func (s *summary) reason() string {
	reason := strings.Join(s.texts, "; ")
	if lost := s.losses.reason(); lost != "" {
		reason = lost + "; " + reason
	}
	if s.count > len(s.texts) {
		reason += fmt.Sprintf("; and %d more", s.count-len(s.texts))
	}
	return reason
}

// obstacles returns the reasons why the change would fail if it were made now.
func (f *file) obstacles(c *comparison) []string {
	var list []string
	// a file that is written in place needs no right to its directory
	if !f.inPlace || c.have.Kind != disk.Regular {
		err := f.w.Disk.Obstacle(c.path)
		if err != nil && !(errors.Is(err, fs.ErrNotExist) && (f.parents || f.w.declaresParent(c.path))) {
			list = append(list, err.Error())
		}
	}
	if c.unknownOwners != nil {
		list = append(list, c.unknownOwners.Error())
	}
	if f.backup && f.w.BackupDir == "" {
		list = append(list, errNoBackup.Error())
	}
	if len(f.validate) > 0 && c.replace {
		if err := f.findValidator(); err != nil {
			list = append(list, "validate: "+err.Error())
		}
	}
	return list
}

// diff returns how the content at a path would change. It returns "" when one
// side is a directory or a link: the reason says everything then.
func (f *file) diff(c *comparison) (string, error) {
	from, to := c.path, c.path
	var before, after string
	var err error
	switch c.have.Kind {
	case disk.Regular:
		if before, err = f.currentText(c); err != nil {
			return "", err
		}
	case disk.Missing:
		from = "/dev/null"
	case disk.Link:
		from += " (a link to " + c.have.Target + ")"
	default:
		return "", nil
	}
	switch c.kind {
	case disk.Regular:
		if after, err = f.declaredText(c); err != nil {
			return "", err
		}
	case disk.Missing:
		to = "/dev/null"
	default:
		return "", nil
	}
	if max(len(before), len(after)) > diffBytes {
		return fmt.Sprintf("--- %s\n+++ %s\ntoo large to be shown line by line\n", from, to), nil
	}
	return Unified(from, to, []byte(before), []byte(after)), nil
}

func (f *file) currentText(c *comparison) (string, error) {
	r, err := f.w.Disk.Open(c.path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	return readBounded(r)
}

func (f *file) declaredText(c *comparison) (string, error) {
	r, _, err := c.open()
	if err != nil {
		return "", f.sourceError(c.source, err)
	}
	defer r.Close()
	return readBounded(r)
}

// readBounded reads at most one byte more than a diff shows.
func readBounded(r io.Reader) (string, error) {
	var b strings.Builder
	_, err := io.CopyN(&b, r, diffBytes+1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b.String(), err
}
