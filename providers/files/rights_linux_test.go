package files_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
	"github.com/settle-cm/settle/providers/files"
)

const nobody = 65534

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: it gives files to others, or mounts")
	}
}

// public is a directory that nobody can get into.
func public(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestPutAndAdjustSetTheOwner(t *testing.T) {
	needRoot(t)
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, kind := range []disk.Kind{disk.Regular, disk.Directory, disk.Link} {
		_, _, err := files.Put(path, disk.NewFile{Kind: kind, Target: "/", Mode: bits(0o4751), UID: bits(12), GID: bits(34), Force: true})
		must(t, err)
		found, err := files.Look(path)
		must(t, err)
		if found.Kind != kind || found.UID != 12 || found.GID != 34 || kind != disk.Link && found.Mode != 0o4751 {
			t.Errorf("put %s: %+v", kind, found)
		}
		must(t, files.Adjust(path, nil, bits(56), nil))
		found, err = files.Look(path)
		must(t, err)
		if found.UID != 56 || found.GID != 34 {
			t.Errorf("adjusted %s: %+v", kind, found)
		}
	}
	write(t, filepath.Join(dir, "suid"), "")
	must(t, files.Adjust(filepath.Join(dir, "suid"), bits(0o4755), bits(12), nil))
	if found, err := files.Look(filepath.Join(dir, "suid")); err != nil || found.Mode != 0o4755 || found.UID != 12 {
		t.Errorf("setuid and owner at once: %+v, %v", found, err)
	}
	must(t, files.Adjust(filepath.Join(dir, "suid"), bits(0o4755), bits(13), nil)) // a change of owner alone takes setuid away
	if found, err := files.Look(filepath.Join(dir, "suid")); err != nil || found.Mode != 0o4755 || found.UID != 13 {
		t.Errorf("owner of a setuid file: %+v, %v", found, err)
	}
}

func TestNewDirectoryInheritsSetgid(t *testing.T) {
	needRoot(t)
	t.Parallel()
	dir := t.TempDir()
	must(t, os.Chown(dir, 0, 34))
	must(t, syscall.Chmod(dir, 0o2755))
	for name, n := range map[string]disk.NewFile{
		"file":  {Kind: disk.Regular, Mode: bits(0o640)},
		"usual": {Kind: disk.Directory},
		"own":   {Kind: disk.Directory, Mode: bits(0o755)},
	} {
		_, _, err := files.Put(filepath.Join(dir, name), n)
		must(t, err)
		found, err := files.Look(filepath.Join(dir, name))
		must(t, err)
		want := map[string]uint32{"file": 0o640, "usual": 0o2755, "own": 0o755}[name]
		if found.GID != 34 || found.Mode != want {
			t.Errorf("%s: %+v; want mode %04o", name, found, want)
		}
	}
}

// Whoever may write in a directory must not lead settle out of it.
func TestLinksOfOtherUsersAreNotFollowed(t *testing.T) {
	needRoot(t)
	for _, tt := range []struct {
		name      string
		mode      os.FileMode
		dirOwner  int
		linkOwner int
		followed  bool
	}{
		{"a stranger's in /tmp", 0o777 | os.ModeSticky, 0, nobody, false},
		{"a stranger's where anybody may write", 0o777, 0, nobody, false},
		{"our own", 0o777 | os.ModeSticky, nobody, 0, true},
		{"of the directory's owner", 0o777 | os.ModeSticky, nobody, nobody, true},
		{"a stranger's where he could not have laid it", 0o755, 0, nobody, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			victim, dir := t.TempDir(), public(t, tt.mode)
			must(t, os.Symlink(victim, filepath.Join(dir, "way")))
			must(t, os.Lchown(filepath.Join(dir, "way"), tt.linkOwner, tt.linkOwner))
			must(t, os.Chown(dir, tt.dirOwner, 0))
			must(t, os.Chmod(dir, tt.mode))
			err := put(filepath.Join(dir, "way", "file"), "x")
			if _, statErr := os.Stat(filepath.Join(victim, "file")); (statErr == nil) != tt.followed || (err == nil) != tt.followed {
				t.Errorf("followed: %v, Put = %v", statErr == nil, err)
			}
			if err != nil && !strings.Contains(err.Error(), "it is not followed") {
				t.Errorf("Put = %v", err)
			}
			if _, err := files.Look(filepath.Join(dir, "way", "file")); (err == nil) != tt.followed {
				t.Errorf("Look = %v", err)
			}
			must(t, put(filepath.Join(dir, "way"), "x"))
			if left := len(tree(t, victim)); (left == 1) != tt.followed {
				t.Errorf("the link itself was written through: %d files", left)
			}
		})
	}
}

// A directory that turns into a stranger's link between two looks at it leads
// nowhere either.
func TestDirectoryReplacedByALinkIsNotEntered(t *testing.T) {
	needRoot(t)
	t.Parallel()
	victim, dir := t.TempDir(), public(t, 0o777)
	way, link := filepath.Join(dir, "way"), filepath.Join(dir, "link")
	must(t, os.Mkdir(way, 0o777))
	must(t, os.Symlink(victim, link))
	must(t, os.Lchown(link, nobody, nobody))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, way, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
			}
		}
	}()
	written, refused := 0, 0
	for start := time.Now(); ; {
		took := time.Since(start)
		if raced := written > 0 && refused > 0; raced && took > 2*time.Second || took > 20*time.Second {
			break
		}
		if err := put(filepath.Join(way, "file"), "x"); err != nil {
			refused++
		} else {
			written++
		}
	}
	close(stop)
	<-stopped
	if left := tree(t, victim); len(left) > 0 {
		t.Errorf("written where the link leads: %v", left)
	}
	t.Logf("%d written, %d refused", written, refused)
}

func TestHardLinksOfOtherUsersAreRefused(t *testing.T) {
	needRoot(t)
	t.Parallel()
	secret, dir := filepath.Join(t.TempDir(), "secret"), public(t, 0o777)
	write(t, secret, "secret")
	path := filepath.Join(dir, "file")
	must(t, os.Link(secret, path))
	if f, err := files.Open(path); err == nil {
		f.Close()
		t.Error("a file that may be anybody's was opened")
	}
	if err := files.Adjust(path, bits(0o666), nil, nil); err == nil {
		t.Error("a file that may be anybody's was changed")
	}
	must(t, put(path, "mine"))
	info, err := os.Stat(secret)
	must(t, err)
	if content, _ := os.ReadFile(secret); string(content) != "secret" || info.Mode().Perm() != 0o600 {
		t.Errorf("the other name changed: %q, %v", content, info.Mode())
	}
}

func TestImmutableFileIsNamed(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	write(t, path, "old")
	for _, frozen := range []string{path, dir} {
		if out, err := exec.Command("chattr", "+i", frozen).CombinedOutput(); err != nil {
			t.Skipf("chattr does not work here: %s", out)
		}
		want := frozen + " is immutable or append-only; chattr -i -a " + frozen
		_, removed := files.Remove(path, false)
		attempts := map[string]error{"put": put(path, "new"), "remove": removed, "barrier": files.Obstacle(path)}
		if frozen == path {
			attempts["adjust"] = files.Adjust(path, bits(0o644), nil, nil)
		}
		must(t, exec.Command("chattr", "-i", frozen).Run())
		for what, err := range attempts {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q", what, err, want)
			}
		}
		if diff := cmp.Diff(map[string]string{"file": "0600 old"}, tree(t, dir)); diff != "" {
			t.Error(diff)
		}
	}
}

// mounted is a small file system of its own.
func mounted(t *testing.T, options string) string {
	t.Helper()
	needRoot(t)
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("may not mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestFullFileSystemKeepsTheOldFile(t *testing.T) {
	dir := mounted(t, "size=64k")
	path := filepath.Join(dir, "file")
	write(t, path, "old")
	err := put(path, strings.Repeat("x", 1<<20))
	if !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("Put = %v", err)
	}
	if diff := cmp.Diff(map[string]string{"file": "0600 old"}, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestReadOnlyFileSystemIsNamed(t *testing.T) {
	dir := mounted(t, "")
	path := filepath.Join(dir, "file")
	write(t, path, "old")
	must(t, unix.Mount("none", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	_, removed := files.Remove(path, false)
	for what, err := range map[string]error{
		"put": put(path, "new"), "remove": removed, "adjust": files.Adjust(path, bits(0o644), nil, nil), "barrier": files.Obstacle(path),
	} {
		if !errors.Is(err, unix.EROFS) || errors.Is(err, model.ErrNotPermitted) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// In a container /etc/hosts is a file that is mounted: no rename replaces it.
func TestMountedFileIsNamed(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	path, other := filepath.Join(dir, "hosts"), filepath.Join(dir, "other")
	write(t, path, "old")
	write(t, other, "other")
	if err := unix.Mount(other, path, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("may not mount: %v", err)
	}
	err := put(path, "new")
	must(t, unix.Unmount(path, 0))
	if err == nil || !strings.Contains(err.Error(), "something is mounted at "+path+", which") {
		t.Errorf("Put = %v", err)
	}
	if diff := cmp.Diff(map[string]string{"hosts": "0600 old", "other": "0600 other"}, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// What SELinux would do is not to be seen here, only that its attribute stays.
func TestPutKeepsExtendedAttributes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	write(t, path, "old")
	// user::rw- user:1234:r-- group::r-- mask::r-- other::---
	acl := "\x02\x00\x00\x00\x01\x00\x06\x00\xff\xff\xff\xff\x02\x00\x04\x00\xd2\x04\x00\x00\x04\x00\x04\x00\xff\xff\xff\xff\x10\x00\x04\x00\xff\xff\xff\xff\x20\x00\x00\x00\xff\xff\xff\xff"
	kept := map[string]string{"user.comment": strings.Repeat("long ", 200)}
	if os.Geteuid() == 0 {
		kept["security.selinux"] = "system_u:object_r:etc_t:s0\x00"
	}
	for name, value := range kept {
		if err := unix.Setxattr(path, name, []byte(value), 0); errors.Is(err, unix.ENOTSUP) {
			t.Skipf("no extended attributes here: %v", err)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Setxattr(path, "system.posix_acl_access", []byte(acl), 0); err == nil {
		kept["system.posix_acl_access"] = acl
	}
	if os.Geteuid() == 0 {
		must(t, unix.Setxattr(path, "security.capability", []byte("\x01\x00\x00\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), 0))
	}
	before, err := files.Look(path)
	must(t, err)
	_, lost, err := files.Put(path, disk.NewFile{Kind: disk.Regular, Content: text("new"), Mode: &before.Mode})
	if err != nil || lost != nil {
		t.Fatal(lost, err)
	}
	for name, want := range kept {
		buf := make([]byte, 4096)
		n, err := unix.Getxattr(path, name, buf)
		if err != nil || string(buf[:n]) != want {
			t.Errorf("%s: %q, %v; want %q", name, buf[:max(n, 0)], err, want)
		}
	}
	if _, err := unix.Getxattr(path, "security.capability", make([]byte, 64)); !errors.Is(err, unix.ENODATA) {
		t.Errorf("rights went over to a new content: %v", err)
	}
	if after, err := files.Look(path); err != nil || after.Mode != before.Mode {
		t.Errorf("mode %04o, %v; want %04o", after.Mode, err, before.Mode)
	}
}

func TestWithoutRightsPutNamesTheDirectory(t *testing.T) {
	needRoot(t)
	t.Parallel()
	dir := public(t, 0o755)
	must(t, os.Mkdir(filepath.Join(dir, "closed"), 0o700))
	must(t, os.Mkdir(filepath.Join(dir, "mine"), 0o300))
	write(t, filepath.Join(dir, "theirs"), "x")
	write(t, filepath.Join(dir, "mine", "unread"), "x")
	must(t, os.Chmod(filepath.Join(dir, "mine", "unread"), 0))
	must(t, os.Chown(filepath.Join(dir, "mine", "unread"), nobody, nobody))
	write(t, filepath.Join(dir, "mine", "root's"), "x")
	must(t, os.Chown(filepath.Join(dir, "mine", "root's"), nobody, 0))
	must(t, os.Chown(filepath.Join(dir, "mine"), nobody, nobody))
	cmd := exec.Command("/proc/self/exe") // nobody may not enter the directory of the test binary
	cmd.Env = []string{role + "=nobody " + dir}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	must(t, err)
	want := `look: true look at DIR/closed/file: permission denied
open: true open DIR/theirs: permission denied
put: true write DIR/new: permission denied
barrier: true write in DIR: permission denied
give: true replace DIR/mine/given: give it to uid 0: operation not permitted
adjust: true change DIR/theirs: set mode 0666: operation not permitted
put where one may not list: false 
put over one's own that one may not read: false 
setgid to a group that is not one's own: false change DIR/mine/root's: set mode 2755: the system makes it 0755
`
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Error(diff)
	}
}
