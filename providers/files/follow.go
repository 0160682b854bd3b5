//go:build linux || darwin

package files

import (
	"errors"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/settle-cm/settle/model/disk"
)

// errDangling reports a link whose target is missing.
var errDangling = errors.New("it is a link to nothing")

// Follow returns the path that the link at a path leads to, over any number of
// links. It fails for a dangling link, and for a link in a directory in which
// another user may have planted it.
func Follow(path string) (string, error) {
	at := path
	for range maxLinks {
		target, err := followOnce(at)
		if errors.Is(err, unix.ENOENT) {
			return "", fail("follow", path, errDangling)
		}
		if err != nil || target == "" {
			return at, err
		}
		at = target
	}
	return "", fail("follow", path, unix.ELOOP)
}

// followOnce returns the path that one link leads to, and "" when the entry at
// the path is no link.
func followOnce(path string) (string, error) {
	p, base, err := openParent(path)
	if err != nil {
		return "", err
	}
	defer p.close()
	link, err := openEntry(p.fd, base)
	if err != nil {
		return "", fail("look at", path, err)
	}
	defer link.close()
	if kind(&link.stat) != disk.Link {
		return "", nil
	}
	if !isTrustedLink(p.fd, &link.stat) {
		return "", fail("follow", path, errForeignLink)
	}
	if filepath.IsAbs(link.target) {
		return filepath.Clean(link.target), nil
	}
	// Clean would take dir/link/.. for dir, wherever the link leads
	dir, err := filepath.EvalSymlinks(p.path)
	if err != nil {
		return "", fail("follow", path, err)
	}
	return filepath.Join(dir, link.target), nil
}
