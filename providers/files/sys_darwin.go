package files

import "golang.org/x/sys/unix"

// openDirectory opens a directory to work in it.
const openDirectory = unix.O_RDONLY | unix.O_DIRECTORY

// openWithoutLinks needs a system call that this system lacks.
func openWithoutLinks(string) (int, error) { return -1, unix.ENOSYS }

// openEntry returns an entry of a directory, and opens it when it is a directory.
func openEntry(dir int, name string) (*entry, error) {
	i := &entry{fd: -1}
	err := unix.Fstatat(dir, name, &i.stat, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	switch i.stat.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		i.fd, err = openRetry(dir, name, openDirectory|unix.O_NOFOLLOW, 0)
	case unix.S_IFLNK:
		i.target, err = readlink(dir, name)
	}
	return i, err
}

func (i *entry) chown(dir int, name string, uid, gid int) error {
	return unix.Fchownat(dir, name, uid, gid, unix.AT_SYMLINK_NOFOLLOW)
}

func (i *entry) chmod(dir int, name string, mode uint32) error {
	return unix.Fchmodat(dir, name, mode, unix.AT_SYMLINK_NOFOLLOW)
}

// version returns the inode and the time of the last change of an entry.
func version(st *unix.Stat_t) (inode uint64, changed int64) { return st.Ino, st.Ctim.Nano() }

// mountPoint needs the table of mounts, which this system does not offer as a file.
func (p *parent) mountPoint(string) string { return "" }

// exchangeAt swaps two entries of directories in one step.
func exchangeAt(dirA int, a string, dirB int, b string) error {
	return unix.RenameatxNp(dirA, a, dirB, b, unix.RENAME_SWAP)
}

// renameNoReplaceAt renames an entry to a name that is free.
func renameNoReplaceAt(dirFrom int, from string, dirTo int, to string) error {
	return unix.RenameatxNp(dirFrom, from, dirTo, to, unix.RENAME_EXCL)
}

// syncFilesystem syncs all file systems: this system cannot sync one of them.
func syncFilesystem(int) error { return unix.Sync() }

// isImmutable reports whether an open file has an attribute that forbids any change.
func isImmutable(fd int) bool {
	const immutable = unix.UF_IMMUTABLE | unix.UF_APPEND | unix.SF_IMMUTABLE | unix.SF_APPEND
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Flags&immutable != 0
}

// allowChanges is the command that removes the attribute.
const allowChanges = "chflags nouchg,nouappnd"
