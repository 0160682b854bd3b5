//go:build linux || darwin

package files_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/disk"
	"github.com/settle-cm/settle/providers/files"
)

// role makes the test binary another process: one that writes a file until it
// is killed, or one that tries something as nobody.
const role = "SETTLE_FILES_TEST"

var roles = map[string]func(arg string){"writer": writeForEver, "swapper": swapForEver, "nobody": tryAsNobody}

func TestMain(m *testing.M) {
	name, arg, _ := strings.Cut(os.Getenv(role), " ")
	if play, ok := roles[name]; ok {
		play(arg)
	}
	os.Exit(m.Run())
}

func bits(mode uint32) *uint32 { return &mode }

func text(content string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	}
}

func put(path, content string) error {
	_, _, err := files.Put(path, disk.NewFile{Kind: disk.Regular, Content: text(content)})
	return err
}

// tree lists what is in a directory: kind, mode and content of each path.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, path) // it is below dir
		switch {
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			found[rel] = "→ " + target
			return err
		case info.IsDir():
			found[rel] = fmt.Sprintf("%04o/", info.Mode().Perm())
			return nil
		case !info.Mode().IsRegular():
			found[rel] = "special"
			return nil
		}
		content, err := os.ReadFile(path)
		found[rel] = fmt.Sprintf("%04o %s", info.Mode().Perm(), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// lay makes a small tree with a bit of everything.
func lay(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(
		os.WriteFile(at("file"), []byte("old"), 0o600),
		os.Mkdir(at("dir"), 0o750),
		os.WriteFile(at("dir/inner"), []byte("deep"), 0o644),
		os.Symlink("file", at("link")),
		os.Symlink("dir", at("dirlink")),
		syscall.Mkfifo(at("pipe"), 0o600),
		os.Chmod(at("dir"), 0o750), os.Chmod(at("dir/inner"), 0o644),
	)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPutReplacesAPath(t *testing.T) {
	file := func(content string) disk.NewFile {
		return disk.NewFile{Kind: disk.Regular, Content: text(content)}
	}
	with := func(n disk.NewFile, change func(*disk.NewFile)) disk.NewFile {
		change(&n)
		return n
	}
	forced := func(n *disk.NewFile) { n.Force = true }
	tests := []struct {
		name string
		path string
		put  disk.NewFile
		want map[string]string // what is different afterwards; "" is gone
		err  string
	}{
		{name: "a file that was missing has the usual mode", path: "new", put: file("x"), want: map[string]string{"new": "0644 x"}},
		{name: "an empty file", path: "new", put: disk.NewFile{Kind: disk.Regular}, want: map[string]string{"new": "0644 "}},
		{name: "a mode", path: "new", put: with(file("x"), func(n *disk.NewFile) { n.Mode = bits(0o640) }), want: map[string]string{"new": "0640 x"}},
		{name: "a mode that lets nobody in", path: "new", put: with(file(""), func(n *disk.NewFile) { n.Mode = bits(0) }), want: map[string]string{"new": "0000 "}},
		{name: "over a file", path: "file", put: file("x"), want: map[string]string{"file": "0644 x"}},
		{name: "over a link: the link goes, not what it points to", path: "link", put: file("x"), want: map[string]string{"link": "0644 x"}},
		{name: "through a link on the way", path: "dirlink/inner", put: file("x"), want: map[string]string{"dir/inner": "0644 x"}},
		{name: "a directory", path: "new", put: disk.NewFile{Kind: disk.Directory}, want: map[string]string{"new": "0755/"}},
		{name: "a directory with a mode", path: "new", put: disk.NewFile{Kind: disk.Directory, Mode: bits(0o700)}, want: map[string]string{"new": "0700/"}},
		{name: "a link", path: "new", put: disk.NewFile{Kind: disk.Link, Target: "any/where"}, want: map[string]string{"new": "→ any/where"}},
		{name: "a link over a link", path: "link", put: disk.NewFile{Kind: disk.Link, Target: "dir"}, want: map[string]string{"link": "→ dir"}},
		{name: "a link over a file", path: "file", put: disk.NewFile{Kind: disk.Link, Target: "dir"}, want: map[string]string{"file": "→ dir"}},
		{name: "not over a directory", path: "dir", put: file("x"), err: "replace DIR/dir: it is a directory, which only force replaces"},
		{name: "over a directory by force", path: "dir", put: with(file("x"), forced), want: map[string]string{"dir": "0644 x", "dir/inner": ""}},
		{name: "a link over a directory by force", path: "dir", put: disk.NewFile{Kind: disk.Link, Target: "file", Force: true}, want: map[string]string{"dir": "→ file", "dir/inner": ""}},
		{name: "no directory over a file", path: "file", put: disk.NewFile{Kind: disk.Directory}, err: "replace DIR/file: it is a file, which only force replaces"},
		{name: "a directory over a file by force", path: "file", put: disk.NewFile{Kind: disk.Directory, Force: true}, want: map[string]string{"file": "0755/"}},
		{name: "not over a pipe, whatever the force", path: "pipe", put: with(file("x"), forced), err: "replace DIR/pipe: it is a special file, which is never replaced"},
		{name: "no directory to put it in", path: "no/where/new", put: file("x"), err: "open directory DIR/no: it does not exist; set parents: true, or declare the directory as a file resource"},
		{name: "a file on the way", path: "file/new", put: file("x"), err: "open directory DIR/file: not a directory"},
		{name: "the content fails", path: "file", put: with(file(""), func(n *disk.NewFile) {
			n.Content = func(io.Writer) error { return errors.New("it burns") }
		}), err: "replace DIR/file: it burns"},
		{name: "it is not ready", path: "file", put: with(file("x"), func(n *disk.NewFile) {
			n.Ready = func(path string) error {
				content, err := os.ReadFile(path)
				return errors.Join(err, fmt.Errorf("%s has %s", filepath.Base(path), content))
			}
		}), err: "replace DIR/file: .file.settle-new has x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := lay(t)
			want := tree(t, dir)
			done, lost, err := files.Put(filepath.Join(dir, tt.path), tt.put)
			if got := message(err, dir); got != tt.err || done != (tt.err == "") || lost != nil {
				t.Fatalf("Put = %v, %v, %q; want %q", done, lost, got, tt.err)
			}
			for path, what := range tt.want {
				if want[path] = what; what == "" {
					delete(want, path)
				}
			}
			if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// message is an error's text with the test's directory named DIR.
func message(err error, dir string) string {
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), dir, "DIR")
}

func TestLookDescribesAPath(t *testing.T) {
	t.Parallel()
	dir := lay(t)
	if err := os.Link(filepath.Join(dir, "file"), filepath.Join(dir, "again")); err != nil {
		t.Fatal(err)
	}
	me, us := uint32(os.Geteuid()), uint32(os.Getegid())
	for path, want := range map[string]disk.State{
		"file":          {Kind: disk.Regular, Mode: 0o600, Size: 3, Names: 2},
		"dir/inner":     {Kind: disk.Regular, Mode: 0o644, Size: 4, Names: 1},
		"dirlink/inner": {Kind: disk.Regular, Mode: 0o644, Size: 4, Names: 1},
		"link":          {Kind: disk.Link, Target: "file", Names: 1},
		"pipe":          {Kind: disk.Special, Mode: 0o600, Names: 1},
		"dir":           {Kind: disk.Directory, Mode: 0o750},
		"no":            {},
		"no/where":      {},
		"file/below":    {},
		"dir/../file":   {Kind: disk.Regular, Mode: 0o600, Size: 3, Names: 2},
	} {
		got, err := files.Look(filepath.Join(dir, path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if want.Kind != disk.Missing {
			want.UID, want.GID = me, us
		}
		if want.Kind == disk.Link || want.Kind == disk.Directory { // what systems disagree on
			got.Mode, got.Size, got.Names = want.Mode, want.Size, want.Names
		}
		got.Inode, got.Changed = 0, 0
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

func TestPathWithACircleOfLinksIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := errors.Join(os.Symlink("b", filepath.Join(dir, "a")), os.Symlink("a", filepath.Join(dir, "b"))); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Look(filepath.Join(dir, "a", "file")); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("Look = %v; want ELOOP", err)
	}
}

func TestOpenRefusesOtherThanRegularFiles(t *testing.T) {
	t.Parallel()
	dir := lay(t)
	for _, name := range []string{"pipe", "dir", "link", "no"} {
		if f, err := files.Open(filepath.Join(dir, name)); err == nil {
			f.Close()
			t.Errorf("%s was opened", name)
		}
	}
	f, err := files.Open(filepath.Join(dir, "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if content, err := io.ReadAll(f); string(content) != "old" || err != nil {
		t.Errorf("read %q, %v", content, err)
	}
}

func TestAdjustSetsModeAndOwner(t *testing.T) {
	t.Parallel()
	dir := lay(t)
	want := tree(t, dir)
	for path, mode := range map[string]uint32{"file": 0o440, "dir": 0o711, "pipe": 0o644, "link": 0o777} {
		if err := files.Adjust(filepath.Join(dir, path), bits(mode), nil, nil); err != nil {
			t.Error(err)
		}
	}
	want["file"], want["dir"] = "0440 old", "0711/"
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
	if err := files.Adjust(filepath.Join(dir, "no"), bits(0), nil, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Adjust of a missing file = %v", err)
	}
}

func TestRemoveNeedsTreeForADirectory(t *testing.T) {
	for _, tt := range []struct {
		path string
		tree bool
		gone []string
		err  string
	}{
		{path: "file", gone: []string{"file"}},
		{path: "link", gone: []string{"link"}},
		{path: "dirlink", tree: true, gone: []string{"dirlink"}},
		{path: "pipe", gone: []string{"pipe"}},
		{path: "no"},
		{path: "dir", err: "remove DIR/dir: it is a directory, which only force removes"},
		{path: "dir", tree: true, gone: []string{"dir", "dir/inner"}},
	} {
		t.Run(fmt.Sprint(tt.path, tt.tree), func(t *testing.T) {
			t.Parallel()
			dir := lay(t)
			want := tree(t, dir)
			done, err := files.Remove(filepath.Join(dir, tt.path), tt.tree)
			if got := message(err, dir); got != tt.err || done != (len(tt.gone) > 0) {
				t.Fatalf("Remove = %v, %q; want %q", done, got, tt.err)
			}
			for _, path := range tt.gone {
				delete(want, path)
			}
			if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRemoveOfADeepTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 40 {
		deep := filepath.Join(dir, "tree", fmt.Sprint(i%5), "a", "b", fmt.Sprint(i))
		if err := os.MkdirAll(deep, 0o755); err != nil {
			t.Fatal(err)
		}
		for j := range 60 {
			if err := os.WriteFile(filepath.Join(deep, fmt.Sprint(j)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if done, err := files.Remove(filepath.Join(dir, "tree"), true); !done || err != nil {
		t.Fatal(done, err)
	}
	if left := tree(t, dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestBackupCopiesEveryKind(t *testing.T) {
	t.Parallel()
	dir, state := lay(t), t.TempDir()
	for _, name := range []string{"file", "link", "dir", "pipe"} {
		if err := files.Backup(filepath.Join(dir, name), state); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"file": "0600 old", "link": "→ file", "dir": "0700/", "dir/inner": "0600 deep"}
	if diff := cmp.Diff(want, tree(t, filepath.Join(state, dir))); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("newer"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := files.Backup(filepath.Join(dir, "file"), state); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, tree(t, filepath.Join(state, dir))); diff != "" {
		t.Errorf("the first copy did not stay: %s", diff)
	}
}

// A name as long as they get leaves no room for a temporary one made from it.
func TestPutAcceptsTheLongestName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := strings.Repeat("n", 255)
	if _, _, err := files.Put(filepath.Join(dir, name), disk.NewFile{Kind: disk.Regular, Content: text("x")}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{name: "0644 x"}, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestObstacleNamesAMissingDirectory(t *testing.T) {
	t.Parallel()
	dir := lay(t)
	for path, want := range map[string]string{
		"file":  "",
		"new":   "",
		"no/at": "open directory DIR/no: it does not exist; set parents: true, or declare the directory as a file resource",
	} {
		if got := message(files.Obstacle(filepath.Join(dir, path)), dir); got != want {
			t.Errorf("%s: %q; want %q", path, got, want)
		}
	}
}

// tryAsNobody tells how far a user without rights gets in a directory.
func tryAsNobody(dir string) {
	_, looked := files.Look(filepath.Join(dir, "closed", "file"))
	_, opened := files.Open(filepath.Join(dir, "theirs"))
	_, _, given := files.Put(filepath.Join(dir, "mine", "given"), disk.NewFile{Kind: disk.Regular, UID: bits(0)})
	for _, try := range []struct {
		what string
		err  error
	}{
		{"look", looked},
		{"open", opened},
		{"put", put(filepath.Join(dir, "new"), "x")},
		{"barrier", files.Obstacle(filepath.Join(dir, "new"))},
		{"give", given},
		{"adjust", files.Adjust(filepath.Join(dir, "theirs"), bits(0o666), nil, nil)},
		{"put where one may not list", put(filepath.Join(dir, "mine", "file"), "x")},
		{"put over one's own that one may not read", put(filepath.Join(dir, "mine", "unread"), "x")},
		{"setgid to a group that is not one's own", files.Adjust(filepath.Join(dir, "mine", "root's"), bits(0o2755), nil, nil)},
	} {
		fmt.Printf("%s: %v %s\n", try.what, errors.Is(try.err, model.ErrNotPermitted), message(try.err, dir))
	}
	os.Exit(0)
}
