//go:build linux || darwin

package proc

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
)

// roleVar makes the test binary play one of roles instead of running tests: for
// what can only be seen from a settle of its own.
const roleVar = "SETTLE_PROC_TEST"

var roles = map[string]func(){}

func TestMain(m *testing.M) {
	Main()
	if role := os.Getenv(roleVar); role != "" {
		_ = os.Unsetenv(roleVar)
		roles[role]()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// play returns the test binary in a role, its arguments in the variables.
func play(t *testing.T, role string, vars ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), roleVar+"="+role, "GORACE=atexit_sleep_ms=0")
	cmd.Env = append(cmd.Env, vars...)
	return cmd
}

// sh is a shell command with a short grace.
func sh(format string, args ...any) model.Command {
	return model.Command{
		Argv: []string{"/bin/sh", "-c", fmt.Sprintf(format, args...)}, Dir: "/",
		Env: []string{"PATH=" + os.Getenv("PATH")}, Grace: 200 * time.Millisecond,
	}
}

// mark gives a command a mark as settle would.
func mark(c model.Command, word string) model.Command {
	c.ProcessTag = word
	c.Env = append(c.Env, "SETTLE_RUN_ID="+word)
	return c
}

// until waits for something that must come, and soon.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// pidIn waits for a file that holds a pid. The process does not outlive the test.
func pidIn(t *testing.T, file string) int {
	t.Helper()
	var pid int
	until(t, "a pid in "+file, func() bool {
		text, _ := os.ReadFile(file)
		line, whole := strings.CutSuffix(string(text), "\n")
		pid, _ = strconv.Atoi(line)
		return whole && pid > 0
	})
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}

func alive(pid int) bool { return Alive(model.Process{PID: pid}) }

func gone(t *testing.T, pid int) {
	t.Helper()
	if alive(pid) {
		t.Errorf("process %d is still there", pid)
	}
}

// quick fails a test whose command took longer than promised. What a command must
// not wait for takes 60 s, so that there is room for a busy machine.
func quick(t *testing.T, began time.Time, limit time.Duration) {
	t.Helper()
	if took := time.Since(began); took > limit+20*time.Second {
		t.Errorf("took %v, promised is %v", took, limit)
	}
}

func TestExitCodesAndSignals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]model.Exit{
		"exit 0":                               {Began: true},
		"exit 3":                               {Began: true, Code: 3},
		"exit 256":                             {Began: true}, // eight bits are all there is
		"exit 137":                             {Began: true, Code: 137},
		"kill -9 $$":                           {Began: true, Signal: "SIGKILL"},
		"kill -TERM $$":                        {Began: true, Signal: "SIGTERM"},
		"exec >&- 2>&-; exit 4":                {Began: true, Code: 4},
		"echo a; echo b >&2; echo c; printf d": {Began: true, Output: "a\nb\nc\nd"},
		"read a && echo got":                   {Began: true, Code: 1},
		"exec >&- 2>&-; sleep 0.1; exit 5":     {Began: true, Code: 5},
	} {
		got, err := Run(t.Context(), sh("%s", text))
		if err != nil || fmt.Sprint(got, got.Output, got.Warnings) != fmt.Sprint(want, want.Output, want.Warnings) {
			t.Errorf("%s: got %v, output %q, warnings %q, error %v", text, got, got.Output, got.Warnings, err)
		}
	}
}

func TestExitIsNoticedWithoutPidfd(t *testing.T) {
	t.Parallel()
	c := sh("exec >&- 2>&-; sleep 0.2; exit 6")
	w, err := newWaker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.release()
	p, err := start(t.Context(), &c)
	if err != nil {
		t.Fatal(err)
	}
	if p.pidfd >= 0 {
		_ = syscall.Close(p.pidfd)
		p.pidfd = -1
	}
	p.c, p.wake, p.cause = &c, w, t.Context().Err
	p.out.open(&c, w)
	if err := p.supervise(); err != nil {
		t.Error(err)
	}
	if e, err := p.finish(); err != nil || e.Code != 6 {
		t.Error(e, err)
	}
}

func TestStdinIsWritten(t *testing.T) {
	t.Parallel()
	big := []byte(strings.Repeat("0123456789abcdef", 1<<18)) // 4 MiB
	for _, tt := range []struct {
		name, text string
		stdin      []byte
		want       string
	}{
		{"none is the null device", "cat; wc -c", nil, "0\n"},
		{"given but empty", "wc -c", []byte{}, "0\n"},
		{"given", "cat", []byte("a\x00b"), "a\x00b"},
		{"more than a pipe holds", "wc -c", big, strconv.Itoa(len(big)) + "\n"},
		{"more than a pipe holds, in and out", "cat | tee /dev/stderr | tail -c 4", big, "cdef"},
		{"it does not want it", "echo done", big, "done\n"},
		{"it wants the beginning", "head -c 3", big, "012"},
		{"it closes it and goes on", "exec <&-; sleep 0.1; echo done", big, "done\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := sh("%s", tt.text)
			c.Stdin = tt.stdin
			e, err := Run(t.Context(), c)
			if err != nil || e.Code != 0 || !strings.HasSuffix(e.Output, tt.want) {
				t.Errorf("%v, %v, output ends %q", e, err, e.Output[max(0, len(e.Output)-40):])
			}
		})
	}
}

func TestStartedGetsTheProcess(t *testing.T) {
	t.Parallel()
	c := sh("echo $$; sleep 0.1")
	var p model.Process
	c.Started = func(got model.Process) error {
		p = got
		if !Alive(got) {
			t.Error("it is not alive")
		}
		if got.Start != 0 && Alive(model.Process{PID: got.PID, Start: got.Start + 1}) {
			t.Error("another with its pid is alive")
		}
		return nil
	}
	e, err := Run(t.Context(), c)
	if err != nil || strings.TrimSpace(e.Output) != strconv.Itoa(p.PID) {
		t.Errorf("%v, %v: told of %d, it is %s", e, err, p.PID, e.Output)
	}
	if Alive(p) {
		t.Error("it is still alive")
	}

	refuse := fmt.Errorf("no")
	began := time.Now()
	c = sh("sleep 60")
	c.Started = func(got model.Process) error { p = got; return refuse }
	if e, err = Run(t.Context(), c); err != refuse || !e.Began || e.Signal != "SIGTERM" {
		t.Errorf("%v, %v", e, err)
	}
	quick(t, began, time.Second)
	gone(t, p.PID)
}

func TestZombieIsNotAlive(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/bin/true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	until(t, "a zombie is not alive", func() bool { return !alive(cmd.Process.Pid) })
	if !alive(os.Getpid()) || alive(0) || alive(-1) {
		t.Error("we are alive, 0 and -1 are nobody")
	}
}

func TestUmaskIsSet(t *testing.T) {
	t.Parallel()
	mine := syscall.Umask(0o22)
	syscall.Umask(mine)
	for _, umask := range []int{0, 0o22, 0o77, 0o123} {
		c := sh("umask")
		c.Umask = &umask
		if e, err := Run(t.Context(), c); err != nil || e.Output != fmt.Sprintf("%04o\n", umask) {
			t.Errorf("%o: %v, %v, %q", umask, e, err, e.Output)
		}
		pid, err := forkUmaskAlone(umask, "/bin/sh", []string{"sh", "-c", fmt.Sprintf("test $(umask) = %04o", umask)}, &syscall.ProcAttr{Env: os.Environ()})
		if err != nil {
			t.Fatal(err)
		}
		if code, sig, err := reap(pid); code != 0 || sig != "" || err != nil {
			t.Errorf("%o, where only the whole process can: %d %s %v", umask, code, sig, err)
		}
		if e, err := Run(t.Context(), sh("umask")); err != nil || e.Output != fmt.Sprintf("%04o\n", mine) {
			t.Errorf("ours is %o, an ordinary child had %s (%v)", mine, e.Output, err)
		}
	}
}

func TestUserIsSwitched(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root may switch to another user")
	}
	c := sh("id -u; id -g; id -G")
	c.User = &model.Credential{UID: 65534, GID: 65533, Groups: []uint32{65533, 65531}}
	if e, err := Run(t.Context(), c); err != nil || e.Output != "65534\n65533\n65533 65531\n" {
		t.Errorf("%v, %v, %q", e, err, e.Output)
	}
	who := c.User
	c.User = &model.Credential{UID: 1<<32 - 1, GID: 7}
	if e, err := Run(t.Context(), c); e.Began || err == nil || err.Error() != "switching to user 4294967295 and group 7 is not possible: the system, or this user namespace, has no such number" {
		t.Errorf("a number that nobody can have: %v, %v", e, err)
	}
	c.User = who
	c.Argv[2], c.Stdin = "cat /dev/stdin; echo out >/dev/stdout; echo err >/dev/stderr", []byte("in\n")
	if e, err := Run(t.Context(), c); err != nil || e.Output != "in\nout\nerr\n" {
		t.Errorf("by their names: %v, %v, %q", e, err, e.Output)
	}
	c.Dir = t.TempDir() // of root, 0700 above it
	if err := os.Chmod(c.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	e, err := Run(t.Context(), c)
	if want := "cwd " + c.Dir + ": user 65534 has no permission to enter it"; e.Began || err == nil || err.Error() != want {
		t.Errorf("%v, %v, want %s", e, err, want)
	}
}

func init() {
	roles["switch"] = func() {
		c := sh("id")
		c.User = &model.Credential{UID: 1, GID: 1}
		_, err := Run(context.Background(), c)
		fmt.Print(err)
	}
}

func TestUserNeedsRoot(t *testing.T) {
	t.Parallel()
	cmd := play(t, "switch")
	if os.Getuid() == 0 {
		file := filepath.Join(t.TempDir(), "test")
		copyFile(t, cmd.Path, file) // other users may not reach our own file
		for dir := filepath.Dir(file); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		cmd.Path = file
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	if want := "switching to user 1 is not permitted: only root may"; err != nil || string(out) != want {
		t.Errorf("%v, got %q, want %q", err, out, want)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o755); err != nil {
		t.Fatal(err)
	}
}
