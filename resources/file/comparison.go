package file

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
)

// comparison is the state of one path beside its declaration, and the changes
// that are due.
type comparison struct {
	desired
	have          disk.State
	replace       bool // a new entry takes the place of this one
	remove        bool
	showsContent  bool    // the content changes, or all of it: it deserves a diff and a backup
	uid, gid      *uint32 // declared; nil: not declared, or not known yet
	differences   []difference
	warnings      []string
	unknownOwners error // declared users or groups that do not exist
}

// differs reports whether the path has to change.
func (c *comparison) differs() bool { return len(c.differences) > 0 }

// action returns the kind of the change.
func (c *comparison) action() model.Action {
	switch {
	case c.remove:
		return model.ActionRemove
	case c.have.Kind == disk.Missing && c.kind != disk.Missing:
		return model.ActionCreate
	}
	return model.ActionChange
}

func (c *comparison) add(property, text string) {
	c.differences = append(c.differences, difference{property, text})
}

// addChange adds a difference that is described as a change from have to want.
func (c *comparison) addChange(property, have, want string) {
	c.add(property, property+" "+have+" → "+want)
}

// addKind adds the difference that the path has another kind than declared.
func (c *comparison) addKind(text string) {
	c.add(propKind, text)
}

// compare reads the state of one path and compares it with its declaration.
func (f *file) compare(ctx context.Context, p desired) (*comparison, error) {
	have, err := f.look(&p)
	if err != nil {
		return nil, err
	}
	c := &comparison{desired: p, have: have}
	if have.Remains != "" {
		c.add("", "a killed run left "+have.Remains)
	}
	switch {
	case p.mustExist && have.Kind == disk.Directory:
		return c, nil
	case p.kind == disk.Missing:
		err = f.compareMissing(c)
	case have.Kind != disk.Missing && f.onlyCreate && have.Kind != p.kind:
		// replace: false accepts every kind of entry
	case have.Kind != p.kind:
		err = f.compareKind(c)
	case p.kind == disk.Regular:
		err = f.compareContent(ctx, c)
	case p.kind == disk.Link && have.Target != p.target && !f.onlyCreate:
		c.replace, c.showsContent = true, true
		c.addChange(propTarget, have.Target, p.target)
	}
	if err != nil {
		return nil, err
	}
	if p.kind != disk.Missing && (have.Kind == p.kind || c.replace) {
		f.compareAttributes(c)
	}
	return c, nil
}

// look returns the state of a path. It adapts the declaration to the entry there:
// attributes alone apply to every kind, and to the entry that a link leads to.
func (f *file) look(p *desired) (disk.State, error) {
	have, err := f.w.Disk.Look(p.path)
	if err != nil {
		return have, err
	}
	if have.Kind == disk.Link && (p.keepKind || p.kind == disk.Directory && p.path == f.path) {
		if have, err = f.followLink(p, have); err != nil {
			return have, err
		}
	}
	if p.keepKind && have.Kind != disk.Missing && have.Kind != disk.Link {
		p.kind = have.Kind
	}
	return have, nil
}

// followLink makes a declaration apply to the entry that its link leads to, and
// returns the state of that entry. A link that should be a directory, and does not
// lead to one, stays the entry to replace.
func (f *file) followLink(p *desired, link disk.State) (disk.State, error) {
	path, err := f.w.Disk.Follow(p.path)
	if err != nil && !p.keepKind {
		return link, nil
	}
	if err != nil {
		return link, fmt.Errorf("%w: declare content or target to replace it", err)
	}
	have, err := f.w.Disk.Look(path)
	if err != nil || !p.keepKind && have.Kind != disk.Directory {
		return link, err
	}
	p.path = path
	return have, nil
}

// isEmptyForCCM reports whether a path is an empty directory that a CCM manifest
// removes without force, as CCM does.
func (f *file) isEmptyForCCM(path string) bool {
	if !f.base.CCM {
		return false
	}
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}

// compareMissing compares a path that is declared absent.
func (f *file) compareMissing(c *comparison) error {
	switch {
	case c.have.Kind == disk.Missing:
		return nil
	case c.have.Kind == disk.Directory && !f.force && !f.isEmptyForCCM(c.path):
		return fmt.Errorf("%s is a directory: only force: true removes it with all that is in it", c.path)
	}
	c.remove, c.showsContent = true, true
	c.addKind(c.have.Kind.String() + " is there")
	return nil
}

// compareKind compares a path that is missing or has another kind than declared.
func (f *file) compareKind(c *comparison) error {
	c.replace, c.showsContent = true, true
	switch {
	case c.have.Kind == disk.Missing:
		c.addKind(c.have.Kind.String())
		return nil
	case c.have.Kind == disk.Special:
		return fmt.Errorf("%s is a device, a pipe or a socket, which settle never replaces: remove it first", c.path)
	case c.have.Kind == disk.Directory && !f.force:
		return fmt.Errorf("%s is a directory: only force: true replaces it with all that is in it", c.path)
	case c.kind == disk.Directory && !f.force:
		return fmt.Errorf("%s is %s: only force: true replaces it by a directory", c.path, c.have.Kind)
	case c.have.Kind == disk.Link:
		c.addKind(fmt.Sprintf("a link to %s → %s", c.have.Target, c.kind))
	default:
		c.addKind(fmt.Sprintf("%s → %s", c.have.Kind, c.kind))
	}
	return nil
}

// compareContent compares the content of a regular file.
func (f *file) compareContent(ctx context.Context, c *comparison) error {
	if !c.hasContent() || f.onlyCreate {
		return nil
	}
	same, err := f.sameContent(ctx, c)
	if err != nil || same {
		return err
	}
	c.replace, c.showsContent = true, true
	c.add(propContent, "content differs")
	return nil
}

// compareAttributes compares owner, group and mode. For a new entry it only
// resolves the declared owner and group.
func (f *file) compareAttributes(c *comparison) {
	isNew := c.have.Kind != c.kind
	c.uid = c.compareID(propOwner, f.owner, c.have.UID, f.w.uid, userName)
	c.gid = c.compareID(propGroup, f.group, c.have.GID, f.w.gid, groupName)
	if !isNew && c.mode != nil && *c.mode != c.have.Mode {
		c.addChange(propMode, fmt.Sprintf("%04o", c.have.Mode), fmt.Sprintf("%04o", *c.mode))
	}
	if c.kind == disk.Regular && c.have.Kind == disk.Regular && c.have.Names > 1 && c.differs() && !f.inPlace {
		c.replace = true // the other hard links may belong to another owner: they must not change
		c.warnings = append(c.warnings, c.path+" has other names (hard links): they keep what they have")
	}
}

// compareID compares an owner or a group and returns the declared id. It
// returns nil when no id is declared, and when the name does not exist.
func (c *comparison) compareID(property, declared string, have uint32, lookUp func(name string) (uint32, error), name func(id uint32) string) *uint32 {
	if declared == "" {
		return nil
	}
	id, err := lookUp(declared)
	if c.have.Kind == c.kind && (err != nil || id != have) {
		c.addChange(property, name(have), declared)
	}
	if err != nil {
		c.unknownOwners = errors.Join(c.unknownOwners, err)
		return nil
	}
	return &id
}

// newFile returns the entry that takes the path's place. When it replaces an
// entry of its own kind, it keeps the owner and mode that are not declared. A file
// that is written in place keeps them by itself.
func (c *comparison) newFile(inPlace bool) disk.NewFile {
	n := disk.NewFile{Kind: c.kind, Target: c.target, Mode: c.mode, Bits: c.bits, InPlace: inPlace, UID: c.uid, GID: c.gid}
	if n.Mode == nil && !(inPlace && c.have.Kind == c.kind) {
		n.Mode = c.defaultMode
	}
	n.Was = &c.have
	if c.have.Kind != c.kind || n.InPlace {
		return n
	}
	if c.mode == nil {
		n.Mode = &c.have.Mode
	}
	if n.UID == nil {
		n.UID = &c.have.UID
	}
	if n.GID == nil {
		n.GID = &c.have.GID
	}
	return n
}
