//go:build linux || darwin

package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/settle-cm/settle/model/disk"
	"golang.org/x/sys/unix"
)

// Backup copies the entry at an absolute path to the same path below dir, a
// private directory of settle: files, links and the contents of directories. It
// keeps a copy that exists, because that one is older.
func Backup(path, dir string) error {
	p, base, err := openParent(path)
	if err != nil {
		return err
	}
	defer p.close()
	to := filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("back up %s: %w", path, err)
	}
	if err := p.backUp(base, to); err != nil {
		return fmt.Errorf("back up %s: %w", path, err)
	}
	for at := filepath.Dir(to); len(at) >= len(filepath.Dir(dir)); at = filepath.Dir(at) {
		if err := syncDirectory(at); err != nil {
			return fmt.Errorf("back up %s: sync directory %s: %w", path, at, err)
		}
	}
	return nil
}

func syncDirectory(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

func (p *parent) backUp(base, to string) error {
	st, err := p.stat(base)
	if err != nil {
		return err
	}
	switch kind(&st) {
	case disk.Regular:
		err = p.backUpFile(base, to)
	case disk.Directory:
		err = p.backUpDirectory(base, to)
	case disk.Link:
		var target string
		if target, err = readlink(p.fd, base); err == nil {
			err = os.Symlink(target, to)
		}
	default: // a pipe, a socket or a device has no content
	}
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

func (p *parent) backUpFile(base, to string) error {
	fd, err := openRetry(p.fd, base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	from := os.NewFile(uintptr(fd), p.join(base))
	defer from.Close()
	copied, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(copied, from)
	err = errors.Join(err, copied.Sync(), copied.Close())
	if err != nil {
		_ = os.Remove(to) // a partial copy is worse than no copy
	}
	return err
}

func (p *parent) backUpDirectory(base, to string) error {
	fd, err := openRetry(p.fd, base, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(fd), p.join(base))
	defer dir.Close()
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	below := &parent{fd, dir.Name()}
	for _, name := range names {
		if err := below.backUp(name, filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return syncDirectory(to)
}
