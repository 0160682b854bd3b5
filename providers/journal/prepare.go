package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// prepare creates missing state directories and checks, before anything runs, that
// the state can be written.
func (s Store) prepare() error {
	if err := s.prepareDir(); err != nil {
		return err
	}
	dir := s.Path()
	if err := makeDir(dir); err != nil {
		return s.explain("make state directory", dir, err)
	}
	if err := s.checkTrust(dir, false); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o700); err != nil { // it may be readable by others so far
		return s.explain("use state directory", dir, err)
	}
	if err := checkWritable(dir); err != nil {
		return s.explain("write to state directory", dir, err)
	}
	return s.checkContents()
}

// checkContents makes sure that the files in the identity's directory can be
// written. Finding out at the first record is too late: resources would have run
// that the journal does not know.
func (s Store) checkContents() error {
	path := s.file("journal")
	file, err := openRegular(path, os.O_WRONLY)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return s.explain("save state", path, err)
	default:
		_ = file.Close() // nothing was written
	}
	runs := filepath.Dir(s.reportFile(""))
	if _, err := os.Lstat(runs); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := s.checkTrust(runs, false); err != nil {
		return err
	}
	if err := checkWritable(runs); err != nil {
		return s.explain("save reports", runs, err)
	}
	return nil
}

func (s Store) prepareDir() error {
	err := makeParents(s.Dir)
	if err == nil {
		err = makeDir(s.Dir)
	}
	if err != nil {
		return s.explain("make state directory", s.Dir, err)
	}
	return s.checkTrust(s.Dir, true)
}

// makeParents makes the missing directories above one of ours, and syncs them:
// after a power loss a state whose parent is gone is gone too. Others share them,
// for example ~/.local.
func makeParents(dir string) error {
	parent := filepath.Dir(dir)
	if _, err := os.Stat(parent); err == nil || parent == dir {
		return nil
	}
	if err := makeParents(parent); err != nil {
		return err
	}
	if err := os.Mkdir(parent, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	return syncDir(filepath.Dir(parent))
}

// checkTrust refuses a directory through which another user could make settle
// change files of others, or forget owed refreshes: a link, a directory of another
// user, or one that others may write. The state directory itself may be a link of
// ours. Its parents are not judged.
func (s Store) checkTrust(dir string, link bool) error {
	info, err := os.Lstat(dir)
	if err == nil && link && info.Mode()&fs.ModeSymlink != 0 {
		if uid, ok := ownerOf(info); !ok || uid == os.Geteuid() {
			info, err = os.Stat(dir)
		}
	}
	if err != nil {
		return s.explain("use state directory", dir, err)
	}
	uid, known := ownerOf(info)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return &Error{Message: fmt.Sprintf("cannot use state directory: %s is a symbolic link; remove it, or name another directory with --state-dir", dir)}
	case !info.IsDir():
		return s.explain("use state directory", dir, syscall.ENOTDIR)
	case known && uid != os.Geteuid():
		return &Error{Message: fmt.Sprintf("cannot use state directory: %s is owned by %s, and this is %s%s", dir, userName(uid), userName(os.Geteuid()), adviceStateDir)}
	case known && info.Mode().Perm()&0o022 != 0:
		return &Error{Message: fmt.Sprintf("cannot use state directory: others may write to %s; look at what is in it, then run chmod go-w %s%s", dir, dir, adviceStateDir)}
	}
	return nil
}

// makeDir creates one directory with mode 0700 whatever the umask, and syncs its
// parent so that it survives a power loss.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		info, statErr := os.Stat(dir)
		switch {
		case statErr != nil:
			return statErr
		case !info.IsDir():
			return syscall.ENOTDIR
		}
		return nil
	}
	if err == nil {
		err = os.Chmod(dir, 0o700)
	}
	if err == nil {
		err = syncDir(filepath.Dir(dir))
	}
	return err
}

// openFile opens one of our files, creates it if needed, and sets its mode to 0600.
func openFile(path string, flags int) (*os.File, error) {
	file, err := openRegular(path, flags|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.Mode().Perm() != 0o600 {
		err = file.Chmod(0o600)
	}
	if err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}
	return file, nil
}

// openRegular opens one of our files and refuses anything but a regular file.
func openRegular(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, flags|openNoFollow|openNonBlocking, 0o600)
	if errors.Is(err, syscall.ENXIO) {
		return nil, errSpecial // a pipe without a reader, or a socket
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = syscall.EISDIR
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errSpecial
	}
	if err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}
	return file, nil
}

var errSpecial = errors.New("it is not a regular file")

// readFile returns the content of one of our files.
func readFile(path string) ([]byte, error) {
	file, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	text := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead)) // one read takes it all
	_, err = text.ReadFrom(file)
	return text.Bytes(), err
}

// syncDir makes the names in a directory survive a power loss.
func syncDir(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = file.Sync()
	_ = file.Close() // nothing was written
	return err
}

// replaceFile replaces a file atomically: it holds the old or the new text.
func replaceFile(path string, text []byte) (err error) {
	temp := path + ".new"
	file, err := openFile(temp, os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp) // the next attempt reuses it
		}
	}()
	if _, err = file.Write(text); err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	return err
}
