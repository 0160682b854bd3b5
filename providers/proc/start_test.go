//go:build linux || darwin

package proc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
)

// oddFiles makes a directory of files that cannot be started, and one that can.
func oddFiles(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := func(name, content string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	file("plain", "hello\n", 0o644)
	file("script", "echo hi\n", 0o755)
	file("empty", "", 0o755)
	file("crlf", "#!/bin/sh\r\necho hi\r\n", 0o755)
	file("crlfarg", "#!/no/such/sh -e\r\necho hi\r\n", 0o755)
	file("nointerp", "#! /no/such/interp -x\n", 0o755)
	file("badinterp", "#!"+dir+"/plain\n", 0o755)
	file("bom", "\xef\xbb\xbf#!/bin/sh\n", 0o755)
	file("windows", "MZ\x90\x00", 0o755)
	file("bin/tool", "#!/bin/sh\necho tool in $PWD, called $0\n", 0o755)
	file("bin/plain", "", 0o644)
	file("odd name\x1b", "", 0o755)
	for link, to := range map[string]string{"dangling": "/no/such/target", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestStartErrors: each reason for which nothing starts has its own words.
func TestStartErrors(t *testing.T) {
	t.Parallel()
	dir := oddFiles(t)
	path := []string{"", ".", "bin", "/no/such/dir", dir + "/bin"}
	for _, tt := range []struct {
		name string
		c    model.Command
		want string // D is the directory
	}{
		{"not in the path", model.Command{Argv: []string{"ls"}, Path: []string{"/nonexistent", "/tmp/x"}}, "ls not found in /nonexistent:/tmp/x"},
		{"not in the path, but in the working directory", model.Command{Argv: []string{"script"}, Path: path}, `script not found in /no/such/dir:D/bin; "bin" in the search path is skipped, only absolute directories are searched`},
		{"no path", model.Command{Argv: []string{"ls"}}, "ls not found: the search path is empty"},
		{"only relative ones in the path", model.Command{Argv: []string{"script"}, Path: []string{"bin", "."}}, `script not found; "." in the search path is skipped, only absolute directories are searched`},
		{"only one that is not executable in the path", model.Command{Argv: []string{"plain"}, Path: path}, "D/bin/plain is not executable"},
		{"no words", model.Command{}, "the command is empty"},
		{"an empty word", model.Command{Argv: []string{""}, Path: path}, "the command is empty"},
		{"missing", model.Command{Argv: []string{"/no/such"}}, "/no/such does not exist"},
		{"missing, relative", model.Command{Argv: []string{"./such"}}, "D/such does not exist"},
		{"below a file", model.Command{Argv: []string{"plain/x"}}, "D/plain/x does not exist"},
		{"a link to nothing", model.Command{Argv: []string{"./dangling"}}, "D/dangling is a symbolic link to a file that does not exist"},
		{"a link to itself", model.Command{Argv: []string{"./loop"}}, "start D/loop: too many levels of symbolic links"},
		{"not executable", model.Command{Argv: []string{"./plain"}}, "D/plain is not executable"},
		{"a directory", model.Command{Argv: []string{"./bin"}}, "D/bin is a directory"},
		{"a device", model.Command{Argv: []string{"/dev/null"}}, "/dev/null is not a regular file"},
		{"no #! line", model.Command{Argv: []string{"./script"}}, "D/script is not a program the kernel can run (no #! line): add one, or name its interpreter in front of it"},
		{"empty", model.Command{Argv: []string{"./empty"}}, "D/empty is empty or cannot be read: not a program the kernel can run"},
		{"a byte order mark", model.Command{Argv: []string{"./bom"}}, "D/bom is not a program the kernel can run: a byte order mark stands before its #! line"},
		{"for Windows", model.Command{Argv: []string{"./windows"}}, "D/windows is a program for Windows"},
		{"CRLF", model.Command{Argv: []string{"./crlf"}}, `D/crlf: interpreter "/bin/sh\r" not found: the file has Windows (CRLF) line ends`},
		{"interpreter missing, and CRLF", model.Command{Argv: []string{"./crlfarg"}}, `D/crlfarg: interpreter "/no/such/sh" not found`},
		{"interpreter missing", model.Command{Argv: []string{"./nointerp"}}, `D/nointerp: interpreter "/no/such/interp" not found`},
		{"interpreter not executable", model.Command{Argv: []string{"./badinterp"}}, `D/badinterp: its interpreter "D/plain" is not executable`},
		{"an odd name", model.Command{Argv: []string{"./odd name\x1b"}}, `"D/odd name\x1b" is empty or cannot be read: not a program the kernel can run`},
		{"a NUL byte", model.Command{Argv: []string{"/bin/echo", "a\x00b"}}, "/bin/echo: an argument or an environment value holds a NUL byte, which no process can be given"},
		{"too long", model.Command{Argv: []string{"/bin/echo", strings.Repeat("x", 3<<20)}}, "/bin/echo: the arguments and the environment are longer than the system allows"},
		{"cwd missing", model.Command{Argv: []string{"/bin/true"}, Dir: "/no/such"}, "cwd /no/such does not exist"},
		{"cwd below a file", model.Command{Argv: []string{"/bin/true"}, Dir: dir + "/plain/x"}, "cwd D/plain/x is not a directory"},
		{"cwd a file", model.Command{Argv: []string{"/bin/true"}, Dir: dir + "/plain"}, "cwd D/plain is not a directory"},
		{"cwd missing comes before a program that is", model.Command{Argv: []string{"./x"}, Dir: "/no/such"}, "cwd /no/such does not exist"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.c.Dir == "" {
				tt.c.Dir = dir
			}
			e, err := Run(t.Context(), tt.c)
			start := (*StartError)(nil)
			if e.Began || !errors.As(err, &start) {
				t.Fatalf("%v, %v", e, err)
			}
			if got := strings.ReplaceAll(err.Error(), dir, "D"); got != tt.want {
				t.Errorf("\ngot  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestForeignMachine(t *testing.T) {
	t.Parallel()
	elf := filepath.Join(t.TempDir(), "elf")
	content, err := os.ReadFile("/bin/sh")
	if err != nil || !strings.HasPrefix(string(content), "\x7fELF") {
		t.Skip("no ELF here")
	}
	machine := content[18]
	content[18] = 0xf0 // none there is
	if err := os.WriteFile(elf, content, 0o755); err != nil {
		t.Fatal(err)
	}
	c := model.Command{Argv: []string{elf}, Dir: "/"}
	if e, err := Run(t.Context(), c); e.Began || err == nil || err.Error() != elf+" is a program for another kind of machine" {
		t.Errorf("%v, %v", e, err)
	}
	content[18] = machine
	content = []byte(strings.Replace(string(content), "/ld-linux", "/no-linux", 1))
	if err := os.WriteFile(elf, content, 0o755); err != nil {
		t.Fatal(err)
	}
	if e, err := Run(t.Context(), c); e.Began || err == nil || !strings.Contains(err.Error(), "/no-linux") || !strings.HasSuffix(err.Error(), "not found: it was built for another system") {
		t.Errorf("%v, %v", e, err)
	}
}

// TestSearchPathSelectsProgram: the search path decides, and what it names is what runs.
func TestSearchPathSelectsProgram(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"/a", "/b", "/sub"} {
		if err := os.Mkdir(dir+d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script := []byte("#!/bin/sh\necho $0 in $(pwd)\n")
	for name, mode := range map[string]os.FileMode{"/a/tool": 0o644, "/b/tool": 0o755, "/sub/mine": 0o755} {
		if err := os.WriteFile(dir+name, script, mode); err != nil {
			t.Fatal(err)
		}
	}
	path := []string{dir + "/a", dir + "/b"}
	for argv0, want := range map[string]string{
		"tool":              dir + "/b/tool in " + dir + "/sub\n",
		"./mine":            "./mine in " + dir + "/sub\n",
		"../b/tool":         "../b/tool in " + dir + "/sub\n",
		dir + "/sub/./mine": dir + "/sub/./mine in " + dir + "/sub\n",
	} {
		e, err := Run(t.Context(), model.Command{Argv: []string{argv0}, Dir: dir + "/sub", Path: path})
		if err != nil || e.Output != want {
			t.Errorf("%s: %v, %v, %q", argv0, e, err, e.Output)
		}
		file, err := LookPath(argv0, dir+"/sub", path)
		if err != nil || !strings.HasPrefix(file, dir) || checkExecutable(file) != nil {
			t.Errorf("look for %s: %s, %v", argv0, file, err)
		}
	}
	for _, argv0 := range []string{"mine", "./tool", "/no/such"} {
		_, want := Run(t.Context(), model.Command{Argv: []string{argv0}, Dir: dir + "/sub", Path: path})
		if _, err := LookPath(argv0, dir+"/sub", path); err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("%s: a plan says %v, the run %v", argv0, err, want)
		}
	}
}

// TestBusyProgramIsRetried: a program that is still open for writing is waited for, a little.
func TestBusyProgramIsRetried(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tool")
	copyFile(t, "/bin/echo", file)
	w, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := model.Command{Argv: []string{file, "hi"}, Dir: "/"}
	e, err := Run(t.Context(), c)
	if e.Began || !errors.Is(err, syscall.ETXTBSY) || err.Error() != file+" is busy: a process has it open for writing" {
		t.Errorf("%v, %v", e, err)
	}
	time.AfterFunc(20*time.Millisecond, func() { w.Close() })
	if e, err := Run(t.Context(), c); err != nil || e.Output != "hi\n" {
		t.Errorf("%v, %v", e, err)
	}
}

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Second: "1s", 90 * time.Second: "1m30s", 5 * time.Minute: "5m", time.Hour: "1h",
		90 * time.Minute: "1h30m", time.Hour + time.Second: "1h0m1s", 20 * time.Minute: "20m", 10 * time.Hour: "10h",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
