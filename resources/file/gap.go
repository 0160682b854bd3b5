package file

import (
	"context"
	"errors"
	"fmt"

	"github.com/settle-cm/settle/model/disk"
)

// gap is what differs between a path and what is declared of it.
type gap struct {
	part
	have     disk.State
	replace  bool // something new takes its place
	remove   bool
	content  bool    // what is in it changes, or all of it: worth a diff and a backup
	uid, gid *uint32 // declared
	says     []difference
	notes    []string
	unknown  error // a user or group that does not exist
}

// differs says whether anything has to be done.
func (g *gap) differs() bool { return len(g.says) > 0 }

func (g *gap) say(of, have, want, text string) {
	g.says = append(g.says, difference{of, have, want, text})
}

// sayChange says what has to change, and how.
func (g *gap) sayChange(of, have, want string) {
	g.say(of, have, want, of+" "+have+" → "+want)
}

// sayKind says that something else is there than is declared.
func (g *gap) sayKind(text string) { g.say(kindOf, g.have.Kind.String(), g.kind.String(), text) }

// compare looks at one path and says what of it differs.
func (f *file) compare(ctx context.Context, p part) (*gap, error) {
	have, err := f.w.Disk.Look(p.path)
	if err != nil {
		return nil, err
	}
	g := &gap{part: p, have: have}
	if have.Remains != "" {
		g.say("", "", "", "a killed run left "+have.Remains)
	}
	switch {
	case p.kind == disk.Missing:
		err = f.compareMissing(g)
	case have.Kind != disk.Missing && f.create && have.Kind != p.kind:
		// replace: false takes whatever is there
	case have.Kind != p.kind:
		err = f.compareKind(g)
	case p.kind == disk.Regular:
		err = f.compareContent(ctx, g)
	case p.kind == disk.Link && have.Target != p.target && !f.create:
		g.replace, g.content = true, true
		g.sayChange(targetOf, have.Target, p.target)
	}
	if err != nil {
		return nil, err
	}
	if p.kind != disk.Missing && (have.Kind == p.kind || g.replace) {
		f.compareAttributes(g)
	}
	return g, nil
}

func (f *file) compareMissing(g *gap) error {
	switch {
	case g.have.Kind == disk.Missing:
		return nil
	case g.have.Kind == disk.Directory && !f.force:
		return fmt.Errorf("%s is a directory: only force: true removes it with all that is in it", g.path)
	}
	g.remove, g.content = true, true
	g.sayKind(g.have.Kind.String() + " is there")
	return nil
}

// compareKind is for a path where nothing is, or something of another kind.
func (f *file) compareKind(g *gap) error {
	g.replace, g.content = true, true
	switch {
	case g.have.Kind == disk.Missing:
		g.sayKind(g.have.Kind.String())
		return nil
	case g.have.Kind == disk.Special:
		return fmt.Errorf("%s is a device, a pipe or a socket, which settle never replaces: remove it first", g.path)
	case g.have.Kind == disk.Directory && !f.force:
		return fmt.Errorf("%s is a directory: only force: true replaces it with all that is in it", g.path)
	case g.kind == disk.Directory && !f.force:
		return fmt.Errorf("%s is %s: only force: true replaces it by a directory", g.path, g.have.Kind)
	case g.have.Kind == disk.Link:
		g.sayKind(fmt.Sprintf("a link to %s → %s", g.have.Target, g.kind))
	default:
		g.sayKind(fmt.Sprintf("%s → %s", g.have.Kind, g.kind))
	}
	return nil
}

func (f *file) compareContent(ctx context.Context, g *gap) error {
	if !g.declared() || f.create {
		return nil
	}
	same, err := f.sameContent(ctx, g)
	if err != nil || same {
		return err
	}
	g.replace, g.content = true, true
	g.say(contentOf, "", "", "content differs")
	return nil
}

// compareAttributes compares owner, group and mode, of what is there with what
// is declared, and decides what something new gets that is not declared.
func (f *file) compareAttributes(g *gap) {
	isNew := g.have.Kind != g.kind
	g.uid = g.compareID(ownerOf, f.owner, g.have.UID, f.w.uid, userName)
	g.gid = g.compareID(groupOf, f.group, g.have.GID, f.w.gid, groupName)
	if !isNew && g.mode != nil && *g.mode != g.have.Mode {
		g.sayChange(modeOf, fmt.Sprintf("%04o", g.have.Mode), fmt.Sprintf("%04o", *g.mode))
	}
	if g.kind == disk.Regular && g.have.Kind == disk.Regular && g.have.Names > 1 && g.differs() {
		g.replace = true // its other names are not ours to change
		g.notes = append(g.notes, g.path+" has other names (hard links): they keep what they have")
	}
}

// compareID compares an owner or a group, and returns the number of the declared
// one: nil for none, and for one that does not exist.
func (g *gap) compareID(of, declared string, have uint32, number func(name string) (uint32, error), name func(id uint32) string) *uint32 {
	if declared == "" {
		return nil
	}
	id, err := number(declared)
	if g.have.Kind == g.kind && (err != nil || id != have) {
		g.sayChange(of, name(have), declared)
	}
	if err != nil {
		g.unknown = errors.Join(g.unknown, err)
		return nil
	}
	return &id
}

// made is what takes the path's place: with the owner and mode of what is
// there, if that is a file too and nothing else is declared.
func (g *gap) made() disk.NewFile {
	n := disk.NewFile{Kind: g.kind, Target: g.target, Mode: g.mode, UID: g.uid, GID: g.gid}
	if n.Mode == nil {
		n.Mode = g.fresh
	}
	if g.have.Kind != g.kind {
		return n
	}
	if g.mode == nil {
		n.Mode = &g.have.Mode
	}
	if n.UID == nil {
		n.UID = &g.have.UID
	}
	if n.GID == nil {
		n.GID = &g.have.GID
	}
	return n
}
