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

// The bounds of what is told of a tree.
const (
	named    = 2        // differing paths that the reason names
	treeDiff = 32 << 10 // bytes of diffs after which no further one is shown
)

// Check compares what is there with what is declared. A refresh makes no
// difference: an equal file is as fresh as it can be.
func (f *file) Check(ctx context.Context, ask model.Ask) (model.Decision, error) {
	looked := f.looks()
	d := model.Decision{Read: []string{looked}}
	s := survey{last: ask.LastState}
	err := f.parts(func(p part) error {
		g, err := f.compare(ctx, p)
		if err == nil && g.differs() {
			err = f.add(&s, g)
		}
		return err
	})
	switch {
	case errors.Is(err, model.ErrNotPermitted):
		// it may differ: whoever acts will find out, and whoever only looks has to say so
		d.Act, d.Reason = true, err.Error()
		d.Read, d.Unread = nil, []string{fmt.Sprintf("%s (%s)", looked, d.Reason)}
		return d, nil
	case err != nil:
		return d, err
	case s.count == 0:
		d.Reason = "as declared"
		return d, nil
	}
	d.Act, d.Reason, d.Warnings, d.Obstacles, d.Diff = true, s.reason(), s.notes, s.doubts, s.diff.String()
	return d, nil
}

// looks names the property that a decision rests on.
func (f *file) looks() string {
	switch {
	case f.source != "":
		return "source"
	case f.content != nil:
		return "content"
	}
	return "ensure"
}

// survey is what of a resource differs, as far as it is told.
type survey struct {
	last   string   // what is remembered of the resource
	by     *witness // made for the first difference
	count  int
	says   []string
	notes  []string
	doubts []string
	diff   strings.Builder
}

func (f *file) add(s *survey, g *gap) error {
	s.count++
	s.notes = append(s.notes, g.notes...)
	if s.by == nil {
		s.by = f.witness(s.last)
	}
	if s.count <= named {
		says := s.by.tell(g)
		if f.recurse {
			rel, err := filepath.Rel(f.path, g.path)
			if err != nil {
				return err
			}
			says = rel + ": " + says
		}
		s.says = append(s.says, says)
	}
	if s.count == 1 {
		s.doubts = f.doubts(g)
	}
	switch {
	case !g.content || s.diff.Len() > treeDiff:
		return nil
	case f.sensitive: // not even read
		s.diff.Reset()
		s.diff.WriteString("***")
		return nil
	}
	diff, err := f.diff(g)
	s.diff.WriteString(diff)
	return err
}

func (s *survey) reason() string {
	reason := strings.Join(s.says, "; ")
	if s.count > len(s.says) {
		reason += fmt.Sprintf("; and %d more", s.count-len(s.says))
	}
	return reason
}

// doubts says what would keep the gap from being mended if it were now.
func (f *file) doubts(g *gap) []string {
	var doubts []string
	if err := f.w.Disk.Obstacle(g.path); err != nil && !(errors.Is(err, fs.ErrNotExist) && f.w.makes(g.path)) {
		doubts = append(doubts, err.Error())
	}
	if g.unknown != nil {
		doubts = append(doubts, g.unknown.Error())
	}
	if f.backup && f.w.BackupDir == "" {
		doubts = append(doubts, errNoBackup.Error())
	}
	if len(f.validate) > 0 && g.replace {
		if err := f.findValidator(); err != nil {
			doubts = append(doubts, "validate: "+err.Error())
		}
	}
	return doubts
}

// diff shows how the text at a path would change. Where one side is neither a
// file nor missing, the reason says it all.
func (f *file) diff(g *gap) (string, error) {
	from, to := g.path, g.path
	var before, after string
	var err error
	switch g.have.Kind {
	case disk.Regular:
		if before, err = f.was(g); err != nil {
			return "", err
		}
	case disk.Missing:
		from = "/dev/null"
	default:
		return "", nil
	}
	switch g.kind {
	case disk.Regular:
		if after, err = f.becomes(g); err != nil {
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
	return unified(from, to, []byte(before), []byte(after)), nil
}

func (f *file) was(g *gap) (string, error) {
	r, err := f.w.Disk.Open(g.path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	return read(r)
}

func (f *file) becomes(g *gap) (string, error) {
	r, _, err := g.reader()
	if err != nil {
		return "", f.sourceError(g.source, err)
	}
	defer r.Close()
	return read(r)
}

// read reads as much as is needed to know that it is too much.
func read(r io.Reader) (string, error) {
	var b strings.Builder
	_, err := io.CopyN(&b, r, diffBytes+1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b.String(), err
}
