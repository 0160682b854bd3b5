//go:build linux || darwin

package files

import (
	"fmt"

	"github.com/settle-cm/settle/model/disk"
)

// Adjust sets the owner, group and mode of a path where they are not nil. It does
// not follow a link, and a link has no mode.
func Adjust(path string, mode, uid, gid *uint32) error {
	p, base, err := openParent(path)
	if err != nil {
		return err
	}
	defer p.close()
	i, err := openEntry(p.fd, base)
	if err != nil {
		return fail("look at", path, err)
	}
	defer i.close()
	if p.hasForeignNames(&i.stat) {
		return fail("change", path, errForeignNames)
	}
	if err := p.set(i, base, mode, uid, gid); err != nil {
		return p.describe("change", base, err)
	}
	return nil
}

// setAttributes sets the owner, group and mode of a new entry where n has them.
func (p *parent) setAttributes(made *newEntry, name string, n *disk.NewFile) error {
	i, err := openEntry(p.fd, name)
	if err != nil {
		return err
	}
	defer i.close()
	if !made.is(&i.stat) {
		return fmt.Errorf("another process has replaced %s", p.join(name))
	}
	if n.Mode == nil && made.added != 0 {
		if err := i.chmod(p.fd, name, uint32(i.stat.Mode)&permissions&^made.added); err != nil {
			return err
		}
	}
	return p.set(i, name, n.Mode, n.UID, n.GID)
}

// set changes the attributes that differ. The owner goes first, because the kernel
// clears setuid when the owner changes.
func (p *parent) set(i *entry, name string, mode, uid, gid *uint32) error {
	toUID, toGID := -1, -1
	if uid != nil && *uid != i.stat.Uid {
		toUID = int(*uid)
	}
	if gid != nil && *gid != i.stat.Gid {
		toGID = int(*gid)
	}
	chowned := toUID >= 0 || toGID >= 0
	if chowned {
		if err := i.chown(p.fd, name, toUID, toGID); err != nil {
			return fmt.Errorf("give it to %s: %w", ids(toUID, toGID), err)
		}
	}
	isLink := kind(&i.stat) == disk.Link
	if mode == nil || isLink || !chowned && *mode == uint32(i.stat.Mode)&permissions {
		return nil
	}
	if err := i.chmod(p.fd, name, *mode); err != nil {
		return fmt.Errorf("set mode %04o: %w", *mode, err)
	}
	if now, err := p.stat(name); err == nil && uint32(now.Mode)&permissions != *mode {
		return fmt.Errorf("set mode %04o: the system makes it %04o", *mode, now.Mode&permissions)
	}
	return nil
}

func ids(uid, gid int) string {
	switch {
	case gid < 0:
		return fmt.Sprintf("uid %d", uid)
	case uid < 0:
		return fmt.Sprintf("gid %d", gid)
	}
	return fmt.Sprintf("uid %d and gid %d", uid, gid)
}
