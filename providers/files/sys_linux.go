package files

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// openDirectory also opens a directory that can be entered but not listed.
const openDirectory = unix.O_PATH | unix.O_DIRECTORY

// openWithoutLinks opens a directory in one call. It fails when a link is on the way.
func openWithoutLinks(dir string) (int, error) {
	return unix.Openat2(unix.AT_FDCWD, dir, &unix.OpenHow{
		Flags: openDirectory | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
}

// openEntry opens an entry of a directory itself.
func openEntry(dir int, name string) (*entry, error) {
	fd, err := openRetry(dir, name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	i := &entry{fd: fd}
	if err := unix.Fstat(fd, &i.stat); err != nil {
		i.close()
		return nil, err
	}
	if i.stat.Mode&unix.S_IFMT == unix.S_IFLNK {
		if i.target, err = readlink(fd, ""); err != nil {
			i.close()
			return nil, err
		}
	}
	return i, nil
}

func (i *entry) chown(_ int, _ string, uid, gid int) error {
	return unix.Fchownat(i.fd, "", uid, gid, unix.AT_EMPTY_PATH)
}

func (i *entry) chmod(_ int, _ string, mode uint32) error {
	err := unix.Fchmodat(i.fd, "", mode, unix.AT_EMPTY_PATH)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINVAL) { // a kernel before 6.6
		err = unix.Chmod("/proc/self/fd/"+strconv.Itoa(i.fd), mode)
	}
	return err
}

// version returns the inode and the time of the last change of an entry.
func version(st *unix.Stat_t) (inode uint64, changed int64) { return st.Ino, st.Ctim.Nano() }

// mountPoint returns the path of a mount at an entry or below it, or "".
func (p *parent) mountPoint(base string) string {
	dir, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(p.fd))
	if err != nil {
		return ""
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "" // the kernel refuses what it can
	}
	path := filepath.Join(dir, base)
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(string(table)) {
		const pointField = 4
		fields := strings.Fields(line)
		if len(fields) <= pointField {
			continue
		}
		at := unescape.Replace(fields[pointField])
		if at == path || strings.HasPrefix(at, path+"/") {
			return at
		}
	}
	return ""
}

// exchangeAt swaps two entries of directories in one step.
func exchangeAt(dirA int, a string, dirB int, b string) error {
	return unix.Renameat2(dirA, a, dirB, b, unix.RENAME_EXCHANGE)
}

// renameNoReplaceAt renames an entry to a name that is free.
func renameNoReplaceAt(dirFrom int, from string, dirTo int, to string) error {
	return unix.Renameat2(dirFrom, from, dirTo, to, unix.RENAME_NOREPLACE)
}

// syncFilesystem syncs the file system of an open directory.
func syncFilesystem(dir int) error { return unix.Syncfs(dir) }

// isImmutable reports whether an open file has an attribute that forbids any change.
func isImmutable(fd int) bool {
	const immutable, appendOnly = 0x10, 0x20
	flags, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
	return err == nil && flags&(immutable|appendOnly) != 0
}

// allowChanges is the command that removes the attribute.
const allowChanges = "chattr -i -a"
