//go:build linux || darwin

package proc

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// LookPath returns the file that a command with this first word would start, or
// the error that it would end with. A word with a slash is a path relative to dir;
// a bare word is searched only in path, never in dir. Nothing is started, so errors
// that only the kernel can find (bad format, missing interpreter) do not show.
func LookPath(argv0, dir string, path []string) (string, error) {
	if strings.Contains(argv0, "/") {
		file := argv0
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, argv0)
		}
		if err := checkExecutable(file); err != nil {
			return "", newStartError(file, err)
		}
		return file, nil
	}
	if argv0 == "" {
		return "", &StartError{"the command is empty", nil}
	}
	var searched []string
	var skipped string
	var found string // exists but is not executable
	for _, d := range path {
		if !filepath.IsAbs(d) { // "" and "." would be the current directory
			skipped = fmt.Sprintf("; %q in the search path is skipped, only absolute directories are searched", d)
			continue
		}
		file := filepath.Join(d, argv0)
		err := checkExecutable(file)
		if err == nil {
			return file, nil
		}
		if errors.Is(err, syscall.EACCES) && found == "" {
			found = file
		}
		searched = append(searched, d)
	}
	if found != "" {
		return "", newStartError(found, syscall.EACCES)
	}
	where := " in " + quoteWord(strings.Join(searched, ":"))
	switch {
	case len(searched) == 0 && skipped == "":
		where = ": the search path is empty"
	case len(searched) == 0:
		where = ""
	}
	return "", &StartError{quoteWord(argv0) + " not found" + where + skipped, syscall.ENOENT}
}

// checkExecutable returns an error unless file is a regular file that we may execute.
func checkExecutable(file string) error {
	var st syscall.Stat_t
	if err := syscall.Stat(file, &st); err != nil {
		return err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return syscall.EACCES
	}
	if err := unix.Faccessat(unix.AT_FDCWD, file, unix.X_OK, unix.AT_EACCESS); err != nil {
		return syscall.EACCES
	}
	return nil
}
