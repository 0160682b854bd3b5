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

// prepare makes the directories of the state where they are missing, and makes
// sure, before anything runs, that what is remembered can be written.
func (s Store) prepare() error {
	if err := s.prepareDir(); err != nil {
		return err
	}
	dir := s.Path()
	if err := makeDir(dir); err != nil {
		return s.explain("make state directory", dir, err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return s.explain("use state directory", dir, err)
	}
	if uid, ok := ownerOf(info); ok && uid != os.Geteuid() {
		return &Error{Message: fmt.Sprintf("cannot use state directory: %s is owned by %s, and this is %s%s", dir, userName(uid), userName(os.Geteuid()), adviceStateDir)}
	}
	if info.Mode().Perm() != 0o700 { // e.g. unpacked from an archive under umask 0
		if err := os.Chmod(dir, 0o700); err != nil {
			return s.explain("use state directory", dir, err)
		}
	}
	if err := checkWritable(dir); err != nil {
		return s.explain("write to state directory", dir, err)
	}
	return s.checkContents()
}

// usable makes sure of what is in the identity's directory already: to learn
// that the journal takes no line from its first line is too late, by then
// resources have run of which it says nothing.
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
	if err = makeDir(runs); err == nil {
		err = checkWritable(runs)
	}
	if err != nil {
		return s.explain("save reports", runs, err)
	}
	return nil
}

func (s Store) prepareDir() error {
	err := os.MkdirAll(filepath.Dir(s.Dir), 0o755) // not ours alone: e.g. ~/.local
	if err == nil {
		err = makeDir(s.Dir)
	}
	if err != nil {
		return s.explain("make state directory", s.Dir, err)
	}
	return nil
}

// makeDir makes one directory of ours, for nobody else whatever the umask, and
// makes sure that it outlives a power loss.
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

// openFile opens a file of ours, makes it when it is missing, and never lets
// anyone else read it.
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

// openRegular opens a file of ours, and nothing else that bears its name.
func openRegular(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, flags|openNoFollow|openNonBlocking, 0o600)
	if errors.Is(err, syscall.ENXIO) {
		return nil, errSpecial // a pipe that nobody reads, or a socket
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

// readFile reads a whole file of ours.
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

// syncDir makes the names in a directory outlive a power loss.
func syncDir(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = file.Sync()
	_ = file.Close() // nothing was written
	return err
}

// replaceFile puts a whole file in the place of another, or leaves that as it was.
func replaceFile(path string, text []byte) (err error) {
	temp := path + ".new"
	file, err := openFile(temp, os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp) // the next attempt takes it over where it stays
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
