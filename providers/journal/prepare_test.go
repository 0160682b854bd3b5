//go:build unix

package journal

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestStateIsReadableByItsOwnerOnly(t *testing.T) {
	t.Parallel()
	for _, umask := range []string{"0", "022", "077", "0177"} {
		t.Run("umask "+umask, func(t *testing.T) {
			t.Parallel()
			s := Store{Dir: filepath.Join(t.TempDir(), "state"), Identity: "web"}
			o := start(t, "touch", s, umask)
			if said := o.rest(t); said != "touched\n" {
				t.Fatal(said)
			}
			count := 0
			err := filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := d.Info()
				if err != nil {
					return err
				}
				want := os.FileMode(0o600)
				if d.IsDir() {
					want = 0o700
				}
				if info.Mode().Perm() != want {
					t.Errorf("%s is %v, want %v", path, info.Mode().Perm(), want)
				}
				count++
				return nil
			})
			if err != nil || count != 7 { // state, web, journal, lock, paused, runs, r1.json
				t.Errorf("%d files: %v", count, err)
			}
		})
	}
}

func TestOpenModesAreCorrected(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	j := locked(t, s, "r1")
	appendAll(t, j, owe)
	closed(t, j)
	for path, mode := range map[string]os.FileMode{s.Path(): 0o755, s.file("journal"): 0o777, s.file("lock"): 0o777} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	j = locked(t, s, "r2")
	appendAll(t, j, owe)
	closed(t, j)
	for path, want := range map[string]os.FileMode{s.Path(): 0o700, s.file("journal"): 0o600, s.file("lock"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s is %v, want %v (%v)", path, info.Mode().Perm(), want, err)
		}
	}
}

// write makes a file, and the directories above it.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestObstaclesAreExplained(t *testing.T) {
	t.Parallel()
	const flag = "; name another directory with --state-dir"
	rows := []struct {
		name string
		make func(t *testing.T, s Store)
		want string // DIR is the state directory
	}{
		{"a file above the state directory", func(t *testing.T, s Store) { write(t, filepath.Dir(s.Dir), "x") },
			"cannot make state directory: DIR: not a directory" + flag},
		{"a file for the state directory", func(t *testing.T, s Store) { write(t, s.Dir, "x") },
			"cannot make state directory: DIR: not a directory" + flag},
		{"a file for the identity's directory", func(t *testing.T, s Store) { write(t, s.Path(), "x") },
			"cannot make state directory: DIR/web: not a directory" + flag},
		{"a directory for the lock", func(t *testing.T, s Store) { write(t, s.file("lock/x"), "x") },
			"cannot lock state: DIR/web/lock: is a directory" + flag},
		{"a pipe for the lock", func(t *testing.T, s Store) {
			if err := errors.Join(os.MkdirAll(s.Path(), 0o700), syscall.Mkfifo(s.file("lock"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}, "cannot lock state: DIR/web/lock: it is not a regular file" + flag},
		{"a link for the lock", func(t *testing.T, s Store) {
			elsewhere := s.file("elsewhere")
			write(t, elsewhere, "theirs")
			if err := os.Symlink(elsewhere, s.file("lock")); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if text, err := os.ReadFile(elsewhere); err != nil || string(text) != "theirs" {
					t.Errorf("it wrote through the link: %q, %v", text, err)
				}
			})
		}, "cannot lock state: DIR/web/lock: it is a symbolic link, or its path has too many of them" + flag},
		{"a directory for the journal", func(t *testing.T, s Store) { write(t, s.file("journal/x"), "x") },
			"cannot save state: DIR/web/journal: is a directory" + flag},
		{"a journal that is none", func(t *testing.T, s Store) { write(t, s.file("journal"), "x\n") },
			"state is damaged: DIR/web/journal:1: it is not the first line of a journal of settle; nothing was run. " +
				"Restore the file, or move it away and apply with --on-missing-state refresh: then every subscriber is refreshed once, since what was owed is lost"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := Store{Dir: filepath.Join(t.TempDir(), "above", "state"), Identity: "web"}
			row.make(t, s)
			_, err := s.Lock(t.Context(), 0, apply("r1"))
			var stated *Error
			if want := strings.ReplaceAll(row.want, "DIR", s.Dir); err == nil || err.Error() != want {
				t.Errorf("says %v\nwant %s", err, want)
			}
			if !errors.As(err, &stated) {
				t.Errorf("%T is not an Error", err)
			}
		})
	}
}

func TestLinkToTheStateDirectoryIsFollowed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	target := t.TempDir()
	if err := os.Symlink(target, s.Dir); err != nil {
		t.Fatal(err)
	}
	closed(t, locked(t, s, "r1"))
	if _, err := os.Stat(filepath.Join(target, "web", "lock")); err != nil {
		t.Error(err)
	}
}

// unprivileged is the id of a user without rights.
const nobody = 65534

// asNobody runs a role as another user, in a directory that this user can reach.
func asNobody(t *testing.T, name string, s Store) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	program := filepath.Join(reachable(t), "settle.test")
	if out, err := exec.Command("cp", os.Args[0], program).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	cmd := exec.Command(program, s.Dir)
	cmd.Env = []string{role + "=" + name}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if exited := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exited) {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// reachable returns a temporary directory that every user can get to.
func reachable(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	open(t, filepath.Dir(dir), 0o755)
	return dir
}

// open reads the state under the lock and writes our name into the lock file.
func open(t *testing.T, dir string, mode os.FileMode) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, mode)); err != nil {
		t.Fatal(err)
	}
}

func TestStateOfAnotherUserIsRefused(t *testing.T) {
	t.Parallel()
	const flag = "; name another directory with --state-dir"
	rows := []struct {
		name string
		make func(t *testing.T, s Store)
		want string
	}{
		{"a state directory that could only be made by root", func(t *testing.T, s Store) { open(t, filepath.Dir(s.Dir), 0o755) },
			"cannot make state directory: DIR: permission denied (ABOVE is owned by root)" + flag},
		{"root's state directory", func(t *testing.T, s Store) { open(t, filepath.Dir(s.Dir), 0o755); open(t, s.Dir, 0o700) },
			"cannot use state directory: DIR is owned by root, and this is nobody" + flag},
		{"root's state of this manifest", func(t *testing.T, s Store) {
			open(t, filepath.Dir(s.Dir), 0o755)
			open(t, s.Path(), 0o755)
			open(t, s.Dir, 0o755)
			if err := os.Chown(s.Dir, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}, "cannot use state directory: DIR/web is owned by root, and this is nobody" + flag},
		{"one's own that was made read-only", func(t *testing.T, s Store) {
			open(t, filepath.Dir(s.Dir), 0o755)
			open(t, s.Dir, 0o500)
			if err := os.Chown(s.Dir, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}, "cannot make state directory: DIR/web: permission denied" + flag},
		{"one that everyone may use", func(t *testing.T, s Store) { open(t, filepath.Dir(s.Dir), 0o755); open(t, s.Dir, 0o777|os.ModeSticky) },
			"cannot use state directory: DIR is owned by root, and this is nobody" + flag},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if os.Geteuid() != 0 {
				t.Skip("only root can be another user")
			}
			s := Store{Dir: filepath.Join(reachable(t), "above", "state"), Identity: "web"}
			row.make(t, s)
			want := strings.NewReplacer("DIR", s.Dir, "ABOVE", filepath.Dir(s.Dir)).Replace(row.want)
			if got := asNobody(t, "touch", s); got != want {
				t.Errorf("says %s\nwant %s", got, want)
			}
		})
	}
	t.Run("root does not write into a user's", func(t *testing.T) {
		t.Parallel()
		if os.Geteuid() != 0 {
			t.Skip("only root can be another user")
		}
		s := newStore(t)
		if err := errors.Join(os.MkdirAll(s.Path(), 0o700), os.Chown(s.Path(), nobody, nobody)); err != nil {
			t.Fatal(err)
		}
		_, err := s.Lock(t.Context(), 0, apply("r1"))
		if err == nil || !strings.Contains(err.Error(), "is owned by nobody, and this is root") {
			t.Errorf("says %v", err)
		}
	})
}

func TestOtherUsersAreNamed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	theirs := Store{Dir: filepath.Join(reachable(t), "theirs"), Identity: s.Identity}
	expect := func(what string, want []string) {
		t.Helper()
		if got := s.checkOtherStore(theirs.Dir, "bob"); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	expect("nothing there", nil)
	write(t, filepath.Join(theirs.Dir, "another", "journal"), "x")
	expect("of another manifest", nil)
	write(t, theirs.file("journal"), "x")
	expect("of this one", []string{"bob has state of this manifest too, in " + theirs.Path() + ": what is owed there is not known here"})
	if got := theirs.checkOtherStore(theirs.Dir, "bob"); got != nil {
		t.Errorf("one's own: %q", got)
	}
	for _, user := range []string{"", "root", "no such user"} {
		if got := s.OtherUsers(func(string) string { return user }, 0); got != nil {
			t.Errorf("root, called by %q: %q", user, got)
		}
	}
	want := "bob may have state of this manifest in " + theirs.Dir + ": it cannot be read"
	if got := asNobody(t, "others", theirs); got != want {
		t.Errorf("says %q, want %q", got, want)
	}
}
