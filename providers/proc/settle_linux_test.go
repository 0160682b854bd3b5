package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/settle-cm/settle/model"
)

// These tests need a settle of their own: one that exits, is process 1, has a
// terminal, or was started in an odd way. The test binary plays it.

func init() {
	// run runs the shell text in COMMAND and prints how it went
	roles["run"] = func() {
		e, err := Run(context.Background(), mark(sh("%s", os.Getenv("COMMAND")), "run/child"))
		fmt.Printf("%s%v %v %q\n", e.Output, e, err, e.Warnings)
	}
	roles["grep"] = func() {
		c := model.Command{Argv: []string{"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"}, Dir: "/", Path: filepath.SplitList(os.Getenv("PATH"))}
		e, err := Run(context.Background(), c)
		fmt.Printf("%s%v %v %q\n", e.Output, e, err, e.Warnings)
	}
}

// TestBackgroundChildIsLeftRunning: a child that holds the output is left alone, and lives on
// when it writes, also after settle has gone.
func TestBackgroundChildIsLeftRunning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := play(t, "run", "DIR="+dir, "COMMAND=cd "+dir+`
		(echo $(exec sh -c 'echo $PPID') >pid
		 while ! test -e settle-is-gone; do sleep 0.05; done
		 trap 'echo died >fate' PIPE
		 echo late; seq 1 100000; echo lived >fate
		 sleep 60) & echo up`)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	quick(t, began, 2*time.Second)
	pid := pidIn(t, dir+"/pid")
	want := fmt.Sprintf("up\nexit 0 <nil> [\"left running in the background: sh (pid %d)", pid) // its sleep may be named too
	if err != nil || !strings.HasPrefix(string(out), want) {
		t.Fatalf("%v, got %s, want %s…", err, out, want)
	}
	if !alive(pid) {
		t.Fatal("the child is gone")
	}
	reader := readerOf(t, pid)
	if env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", reader)); err != nil || len(env) != 0 {
		t.Errorf("the reader has an environment: %q, %v", env, err)
	}
	if open := descriptorsOf(t, reader); len(open) != 3 {
		t.Errorf("the reader has %q", open)
	}
	if sid, err := unix.Getsid(reader); err != nil || sid != reader {
		t.Errorf("the reader is in session %d (%v)", sid, err)
	}
	if s, ok := readStat(reader); !ok || s.parent == cmd.Process.Pid {
		t.Errorf("the reader is a child of %d", s.parent)
	}
	if err := os.WriteFile(dir+"/settle-is-gone", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var fate []byte
	until(t, "the fate of the child", func() bool {
		fate, _ = os.ReadFile(dir + "/fate")
		return bytes.HasSuffix(fate, []byte("\n"))
	})
	if string(fate) != "lived\n" {
		t.Errorf("the child %s", fate)
	}
	killTree(pid)
	until(t, "the reader ends with its writers", func() bool { return !alive(reader) })
}

// descriptorsOf returns the open descriptors of a process without those of the Go runtime.
func descriptorsOf(t *testing.T, pid int) (open []string) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	fds, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		target, err := os.Readlink(dir + fd.Name())
		if err != nil || !strings.HasPrefix(target, "anon_inode:") && !strings.HasPrefix(target, "/sys/fs/cgroup/") {
			open = append(open, target)
		}
	}
	return open
}

// readerOf finds the reader of the pipe that a process writes to.
func readerOf(t *testing.T, pid int) (reader int) {
	t.Helper()
	pipe, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/1", pid))
	if err != nil {
		t.Fatal(err)
	}
	until(t, "a reader", func() bool {
		for _, pid := range listPIDs() {
			name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if string(name) == roleReader+"\x00" && hasOpen(pid, pipe) {
				reader = pid
			}
		}
		return reader != 0
	})
	t.Cleanup(func() { _ = syscall.Kill(reader, syscall.SIGKILL) })
	return reader
}

// killTree kills a process and its children.
func killTree(pid int) {
	for _, p := range listPIDs() {
		if s, ok := readStat(p); ok && s.parent == pid {
			_ = syscall.Kill(p, syscall.SIGKILL)
		}
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// TestBackgroundOutputInTimeIsKept: what it writes in time is part of the output.
func TestBackgroundOutputInTimeIsKept(t *testing.T) {
	t.Parallel()
	e, err := Run(t.Context(), sh("(sleep 0.2; echo late) & echo up"))
	if err != nil || e.Output != "up\nlate\n" || len(e.Warnings) != 0 {
		t.Errorf("%v, %v, %q, %q", e, err, e.Output, e.Warnings)
	}
}

// TestWarningIsRedacted: also in the names of processes.
func TestWarningIsRedacted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := sh("cp $(command -v sleep) %s/s3cr3t; %[1]s/s3cr3t 60 & echo $! >%[1]s/pid", dir)
	c.Redact = func() func([]byte, bool) []byte {
		return func(p []byte, _ bool) []byte { return bytes.ReplaceAll(p, []byte("s3cr3t"), []byte("***")) }
	}
	e, err := Run(t.Context(), c)
	want := fmt.Sprintf("left running in the background: *** (pid %d); ", pidIn(t, dir+"/pid"))
	if err != nil || len(e.Warnings) != 1 || !strings.HasPrefix(e.Warnings[0], want) {
		t.Errorf("%v, %q", err, e.Warnings)
	}
	c.Redact, c.Sensitive = nil, true
	e, err = Run(t.Context(), c)
	pidIn(t, dir+"/pid")
	if err != nil || len(e.Warnings) != 1 || !strings.HasPrefix(e.Warnings[0], "left running in the background: a process; ") {
		t.Errorf("of a sensitive command: %v, %q", err, e.Warnings)
	}
}

// TestStandardDescriptorsClosed: the child has a good 0, 1 and 2 all the same,
// and nothing else, whatever settle itself inherited.
func TestStandardDescriptorsClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	role := play(t, "run", "COMMAND=exec ls -l /proc/self/fd >"+dir+"/fds")
	for _, how := range []string{"<&-", "<&- >&-", "<&- >&- 2>&-", "2>&- 7<" + dir + " 9>" + dir + "/lock"} {
		cmd := exec.Command("/bin/sh", "-c", "exec "+role.Path+" "+how)
		cmd.Env = role.Env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v, %s", how, err, out)
		}
		fds, err := os.ReadFile(dir + "/fds")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(string(fds)) {
			if i := strings.Index(line, " -> "); i > 0 {
				fd := line[strings.LastIndex(line[:i], " ")+1 : i]
				got = append(got, fd+" "+strings.TrimSpace(line[i+4:]))
			}
		}
		if len(got) != 4 || got[0] != "0 /dev/null" || got[1] != "1 "+dir+"/fds" || !strings.HasPrefix(got[2], "2 pipe:") || !strings.HasPrefix(got[3], "3 /proc/") {
			t.Errorf("%s: %q", how, got) // 3 is where ls looks
		}
	}
}

// TestChildHasDefaultSignals: whatever settle was started with.
func TestChildHasDefaultSignals(t *testing.T) {
	t.Parallel()
	role := play(t, "grep") // not by a shell: some clear their mask
	cmd := exec.Command("env", "--ignore-signal=HUP,INT,QUIT,PIPE,TSTP,TTIN,TTOU,USR1", "--block-signal=TERM,CHLD,USR2", role.Path)
	cmd.Env = role.Env
	out, err := cmd.CombinedOutput()
	want := "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nexit 0 <nil> []\n"
	if err != nil || string(out) != want {
		if strings.Contains(string(out), "unrecognized option") {
			t.Skip("this env cannot set signals")
		}
		t.Errorf("%v, %s", err, out)
	}
}

// TestChildHasNoTerminal: a command that wants the terminal is told at once that it has none.
func TestChildHasNoTerminal(t *testing.T) {
	t.Parallel()
	ptm, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer ptm.Close()
	n, err := unix.IoctlGetInt(int(ptm.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(ptm.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skip(err)
	}
	pts, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer pts.Close()
	var out bytes.Buffer
	cmd := play(t, "run", "COMMAND=tty; stty sane </dev/tty; read v </dev/tty; exit 9")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pts, &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	began := time.Now()
	err = cmd.Run()
	quick(t, began, time.Second)
	if err != nil || !strings.HasPrefix(out.String(), "not a tty\n") || strings.Count(out.String(), "/dev/tty: No such device or address") != 2 {
		t.Errorf("%v, %s", err, out.String())
	}
}

// inNamespace returns a command that is process 1 of a namespace of its own.
func inNamespace(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	if out, err := exec.Command("unshare", "--pid", "--fork", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("no namespaces here: %v %s", err, out)
	}
	ns := exec.CommandContext(t.Context(), "unshare", "--pid", "--fork", "--mount-proc", "--kill-child", cmd.Path)
	ns.Env = cmd.Env
	return ns
}

func init() {
	roles["one"] = func() {
		if os.Getppid() != 1 {
			fmt.Printf("our parent is %d\n", os.Getppid())
		}
		for range 20 { // orphans for process 1
			c := sh("(sleep 0.05 & exec sleep 0.02) & exit 0")
			if _, err := Run(context.Background(), c); err != nil {
				fmt.Println(err)
			}
		}
		for zombies, end := 1, time.Now().Add(10*time.Second); zombies > 0 && time.Now().Before(end); {
			zombies = 0
			for _, pid := range listPIDs() {
				if s, ok := readStat(pid); ok && s.isDead() {
					zombies++
				}
			}
		}
		os.Exit(42)
	}
	roles["signal"] = func() {
		ctx, cancel := context.WithCancelCause(context.Background())
		c := sh("sleep 60")
		c.Started = func(model.Process) error { return os.WriteFile(os.Getenv("READY"), []byte("1\n"), 0o600) }
		go func() {
			time.Sleep(time.Minute)
			cancel(errors.New("nobody sent a signal"))
		}()
		_, err := Run(ctx, c)
		fmt.Println(err)
	}
}

func TestInitReapsOrphans(t *testing.T) {
	t.Parallel()
	out, err := inNamespace(t, play(t, "one")).CombinedOutput()
	exit := (*exec.ExitError)(nil)
	if !errors.As(err, &exit) || exit.ExitCode() != 42 || len(out) > 0 {
		t.Errorf("%v, %s", err, out)
	}
}

// TestInitPassesSignalsOn: settle dies of it by default, and process 1 says so.
func TestInitPassesSignalsOn(t *testing.T) {
	t.Parallel()
	ready := filepath.Join(t.TempDir(), "ready")
	cmd := inNamespace(t, play(t, "signal", "READY="+ready))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lineIn(t, ready)
	var one int
	for _, pid := range listPIDs() {
		if s, ok := readStat(pid); ok && s.parent == cmd.Process.Pid {
			one = pid
		}
	}
	if one == 0 {
		t.Fatal("process 1 not found")
	}
	if err := syscall.Kill(one, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	exit := (*exec.ExitError)(nil)
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 128+int(syscall.SIGTERM) {
		t.Error(err)
	}
}

// lineIn waits for a file to have a line.
func lineIn(t *testing.T, file string) {
	t.Helper()
	until(t, file, func() bool { text, _ := os.ReadFile(file); return bytes.HasSuffix(text, []byte("\n")) })
}
