//go:build linux || darwin

package proc

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/settle-cm/settle/model"
)

// newStartError words the error with which a file could not be started.
func newStartError(file string, err error) error {
	return &StartError{describeStartError(file, err), err}
}

func describeStartError(file string, err error) string {
	name := quoteWord(file)
	var errno syscall.Errno
	_ = errors.As(err, &errno) // errno stays 0 otherwise
	switch errno {
	case syscall.ENOENT, syscall.ENOTDIR:
		if _, stat := os.Lstat(file); stat != nil {
			return name + " does not exist"
		}
		if _, stat := os.Stat(file); stat != nil {
			return name + " is a symbolic link to a file that does not exist"
		}
		return name + ": " + describeMissingInterpreter(file)
	case syscall.EACCES:
		return describeNoAccess(file)
	case syscall.ENOEXEC:
		return name + " " + describeBadFormat(file)
	case syscall.ETXTBSY:
		return name + " is busy: a process has it open for writing"
	case syscall.E2BIG:
		return name + ": the arguments and the environment are longer than the system allows"
	case syscall.EINVAL:
		return name + ": an argument or an environment value holds a NUL byte, which no process can be given"
	case syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE:
		return "cannot start another process: " + err.Error()
	}
	return fmt.Sprintf("start %s: %v", name, err)
}

// describeNoAccess says why a file may not be executed.
func describeNoAccess(file string) string {
	name := quoteWord(file)
	st, err := os.Stat(file)
	switch {
	case err != nil:
		return name + ": no permission to look into its directory"
	case st.IsDir():
		return name + " is a directory"
	case !st.Mode().IsRegular():
		return name + " is not a regular file"
	case st.Mode()&0o111 == 0:
		return name + " is not executable"
	case isNoexec(file):
		return name + " is executable, but its file system is mounted noexec"
	}
	if interpreter, _ := readShebang(file); interpreter != "" {
		if err := checkExecutable(interpreter); err != nil {
			return fmt.Sprintf("%s: its interpreter %q is not executable", name, interpreter)
		}
	}
	return name + ": no permission to execute it"
}

// describeMissingInterpreter explains ENOENT for a file that exists.
func describeMissingInterpreter(file string) string {
	interpreter, crlf := readShebang(file)
	switch {
	case crlf:
		return fmt.Sprintf("interpreter %q not found: the file has Windows (CRLF) line ends", interpreter)
	case interpreter != "":
		return fmt.Sprintf("interpreter %q not found", interpreter)
	}
	if loader := readELFLoader(file); loader != "" {
		return fmt.Sprintf("its loader %q not found: it was built for another system", loader)
	}
	return "its interpreter or loader is missing"
}

// readShebang returns the interpreter of a script's first line. crlf is set when a
// carriage return ends that line.
func readShebang(file string) (interpreter string, crlf bool) {
	line, ok := bytes.CutPrefix(readHead(file), []byte("#!"))
	if !ok {
		return "", false
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	words := bytes.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) == 0 {
		return "", false
	}
	return string(words[0]), bytes.HasSuffix(words[0], []byte("\r"))
}

// describeBadFormat says which kind of file the kernel refused to run.
func describeBadFormat(file string) string {
	head := readHead(file)
	switch {
	case len(head) == 0:
		return "is empty or cannot be read: not a program the kernel can run"
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		return "is a program for another kind of machine"
	case bytes.HasPrefix(head, []byte("MZ")):
		return "is a program for Windows"
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf#!")):
		return "is not a program the kernel can run: a byte order mark stands before its #! line"
	case bytes.HasPrefix(head, []byte("#!")):
		return "is not a program the kernel can run: its #! line names no interpreter that it can run"
	}
	return "is not a program the kernel can run (no #! line): add one, or name its interpreter in front of it"
}

// readHead returns the first bytes of a file, as many as the kernel looks at; nil
// when it cannot be read.
func readHead(file string) []byte {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := io.ReadFull(f, head) // a short file is as good
	return head[:n]
}

// readELFLoader returns the dynamic loader that an ELF program names, "" for other files.
func readELFLoader(file string) string {
	f, err := elf.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP && p.Filesz < 4096 {
			name := make([]byte, p.Filesz)
			_, _ = p.ReadAt(name, 0)
			return strings.TrimRight(string(name), "\x00")
		}
	}
	return ""
}

// checkDir returns the error of a working directory that cannot be used.
func checkDir(dir string) error {
	var st syscall.Stat_t
	err := syscall.Stat(dir, &st)
	switch {
	case err == nil && st.Mode&syscall.S_IFMT == syscall.S_IFDIR:
		return nil
	case err == syscall.ENOENT:
		return &StartError{"cwd " + quoteWord(dir) + " does not exist", err}
	case err == nil || err == syscall.ENOTDIR:
		return &StartError{"cwd " + quoteWord(dir) + " is not a directory", syscall.ENOTDIR}
	case err == syscall.EACCES:
		return &StartError{"cwd " + quoteWord(dir) + ": no permission to enter it", err}
	}
	return &StartError{fmt.Sprintf("cwd %s: %v", quoteWord(dir), err), err}
}

// canEnter reports whether the mode bits let a user into a directory.
func canEnter(dir string, who *model.Credential) bool {
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		var st syscall.Stat_t
		if err := syscall.Stat(d, &st); err != nil {
			return false
		}
		bit := uint32(0o001)
		switch {
		case who.UID == 0 || who.UID == st.Uid:
			bit = 0o100
		case who.GID == st.Gid || slices.Contains(who.Groups, st.Gid):
			bit = 0o010
		}
		if who.UID != 0 && uint32(st.Mode)&bit == 0 {
			return false
		}
		if d == filepath.Dir(d) {
			return true
		}
	}
}
