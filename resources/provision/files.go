package provision

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/settle-cm/settle/model/disk"
)

// change is a target whose file differs.
type change struct {
	target
	have     disk.State
	before   string
	replace  bool // the content differs, or the whole entry
	uid, gid *uint32
}

// compare returns a change for each target that differs, in the order of the targets.
func (s *server) compare(targets []target) ([]change, error) {
	uid, gid, err := s.owners()
	if err != nil {
		return nil, err
	}
	var list []change
	for _, t := range targets {
		c := change{target: t, uid: uid, gid: gid}
		differs, err := s.differs(&c)
		if err != nil {
			return nil, err
		}
		if differs {
			list = append(list, c)
		}
	}
	return list, nil
}

// owners returns the ids of the declared owner and group, nil for undeclared ones.
func (s *server) owners() (uid, gid *uint32, err error) {
	if s.owner != "" {
		id, err := s.w.UID(s.owner)
		if err != nil {
			return nil, nil, err
		}
		uid = &id
	}
	if s.group != "" {
		id, err := s.w.GID(s.group)
		if err != nil {
			return nil, nil, err
		}
		gid = &id
	}
	return uid, gid, nil
}

// differs looks at the path of a change and reports whether anything has to be done.
func (s *server) differs(c *change) (bool, error) {
	var err error
	if c.have, err = s.w.Disk.Look(c.path); err != nil {
		return false, err
	}
	switch {
	case c.dir:
		return c.directoryDiffers()
	case c.gone:
		return c.have.Kind != disk.Missing, nil
	case c.have.Kind == disk.Directory, c.have.Kind == disk.Special:
		return false, fmt.Errorf("%s is %s, not a file", c.path, c.have.Kind)
	case c.have.Kind != disk.Regular:
		c.replace = true
		return true, nil
	}
	if c.before, _, err = s.readIfThere(c.path); err != nil {
		return false, err
	}
	c.replace = c.before != c.text
	if c.replace && c.good != nil {
		good, err := c.good(c.before)
		if err != nil {
			return false, err
		}
		c.replace = !good
	}
	owned := (c.uid == nil || *c.uid == c.have.UID) && (c.gid == nil || *c.gid == c.have.GID)
	return c.replace || c.have.Mode != c.mode || !owned || c.have.Remains != "", nil
}

// directoryDiffers reports whether a directory is missing. Another kind of entry in
// its place is an error, except for a link to a directory.
func (c *change) directoryDiffers() (bool, error) {
	if c.have.Kind == disk.Link { // to wherever the directory really is
		info, err := os.Stat(c.path)
		if err == nil && info.IsDir() {
			return false, nil
		}
	}
	if c.have.Kind != disk.Missing && c.have.Kind != disk.Directory {
		return false, fmt.Errorf("%s is %s, not a directory", c.path, c.have.Kind)
	}
	return c.have.Kind == disk.Missing, nil
}

// write makes one change. done reports whether something changed on the disk; lost
// names attributes of the old file that the new one could not keep.
func (s *server) write(c *change) (done bool, lost []string, err error) {
	if c.have.Remains != "" {
		if err := s.w.Disk.Sweep(c.path); err != nil {
			return false, nil, err
		}
	}
	switch {
	case c.gone:
		done, err = s.w.Disk.Remove(c.path, false)
		return done, nil, err
	case c.dir:
		return s.makeDirectory(c)
	case !c.replace:
		err = s.w.Disk.Adjust(c.path, &c.mode, c.uid, c.gid)
		return err == nil, nil, err
	}
	return s.w.Disk.Put(c.path, disk.NewFile{
		Kind: disk.Regular, Mode: &c.mode, UID: c.uid, GID: c.gid,
		Content: func(w io.Writer) error { _, err := io.WriteString(w, c.text); return err },
	})
}

// makeDirectory makes a directory and its missing parents. Several servers may share
// them, so only one makes directories at a time.
func (s *server) makeDirectory(c *change) (done bool, lost []string, err error) {
	s.w.directories.Lock()
	defer s.w.directories.Unlock()
	return s.makeMissing(c)
}

// makeMissing makes a directory and its missing parents. Parents get mode 0755.
func (s *server) makeMissing(c *change) (done bool, lost []string, err error) {
	if _, err := os.Stat(c.path); !errors.Is(err, os.ErrNotExist) {
		return false, nil, err
	}
	above := &change{target: target{path: filepath.Dir(c.path), mode: 0o755}, uid: c.uid, gid: c.gid}
	if done, lost, err = s.makeMissing(above); err != nil {
		return done, lost, err
	}
	made, _, err := s.w.Disk.Put(c.path, disk.NewFile{Kind: disk.Directory, Mode: &c.mode, UID: c.uid, GID: c.gid})
	if err != nil {
		if info, statErr := os.Stat(c.path); statErr == nil && info.IsDir() { // another run was faster
			err = nil
		}
	}
	return done || made, nil, err
}

// confidential matches a line of a configuration, or of its diff, whose value is a
// secret: a password or a token. A key that names a file does not match.
var confidential = regexp.MustCompile(`(?m)^([ +-]?[^=#\n]*(?i:pass|passwd|password|passphrase|secret|token|(?:api|secret|access)[_.-]?key)[ \t]*=[ \t]*)\S.*$`)

// userinfo matches the user part of a URL: a name and a password,
// or a token alone.
var userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s/]*@`)

// redactConfiguration hides the secrets in a configuration, or in its diff.
func redactConfiguration(text string) string {
	text = confidential.ReplaceAllString(text, "${1}"+hidden)
	return userinfo.ReplaceAllString(text, "${1}"+hidden+"@")
}

// renderDiff returns the diff of the changes for people. The content of a secret file
// is left out.
func (s *server) renderDiff(changes []change) string {
	var b strings.Builder
	for i := range changes {
		c := &changes[i]
		from, to, after := c.path, c.path, c.text
		if c.have.Kind == disk.Missing {
			from = "/dev/null"
		}
		if c.gone {
			to, after = "/dev/null", ""
		}
		switch {
		case c.dir:
		case c.secret && (c.replace || c.gone):
			fmt.Fprintf(&b, "--- %s\n+++ %s\n%s\n", from, to, hidden)
		case c.replace || c.gone:
			b.WriteString(redactConfiguration(s.w.Diff(from, to, []byte(c.before), []byte(after))))
		}
	}
	return b.String()
}

// name returns a path for people: relative to the server's directory if it is inside.
func (s *server) name(path string) string {
	if rel, err := filepath.Rel(s.dir, path); err == nil && filepath.IsLocal(rel) && rel != "." {
		return rel
	}
	return path
}

// target is the declared state of a file or a directory.
type target struct {
	path   string
	mode   uint32
	text   string
	dir    bool
	gone   bool // the path has to be missing
	secret bool // its content is never shown
	// good reports whether the present content is acceptable although it differs.
	good func(have string) (bool, error)
}
