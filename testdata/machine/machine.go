//go:build linux

// Package machine boots disposable Debian machines for tests: systemd as PID 1
// over a copy-on-write view of this machine's own files, in namespaces of its own.
// Nothing that happens in one reaches the machine outside. It needs root and is
// used by tests only.
package machine

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Variable is the environment variable that turns system tests on.
const Variable = "SETTLE_SYSTEM_TESTS"

const (
	bootLimit    = 60 * time.Second // for systemd to come up
	commandLimit = 3 * time.Minute  // for one command in the machine
	pollPace     = 50 * time.Millisecond
)

//go:embed boot.sh
var bootScript []byte

// Machine is a running disposable machine.
type Machine struct {
	// Share is a directory outside that the machine sees as /share.
	Share string

	dir    string
	pid    int // of systemd, seen from outside
	group  []string
	holder *exec.Cmd
}

// Require skips the test unless system tests are turned on and can run here.
func Require(t testing.TB) {
	t.Helper()
	switch {
	case os.Getenv(Variable) != "1":
		t.Skipf("boots a machine: set %s=1", Variable)
	case os.Geteuid() != 0:
		t.Skip("boots a machine: needs root")
	}
	for _, program := range []string{"unshare", "nsenter", "/lib/systemd/systemd"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("boots a machine: %s is not installed (packages util-linux, systemd)", program)
		}
	}
}

// Start boots a machine that ends with the test.
func Start(t testing.TB) *Machine {
	t.Helper()
	Require(t)
	m, err := boot()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.stop)
	return m
}

func boot() (*Machine, error) {
	dir, err := os.MkdirTemp("", "settle-machine-")
	if err != nil {
		return nil, fmt.Errorf("boot machine: %w", err)
	}
	m := &Machine{dir: dir, Share: filepath.Join(dir, "share")}
	script := filepath.Join(dir, "boot.sh")
	if err := errors.Join(os.WriteFile(script, bootScript, 0o700), os.Mkdir(m.Share, 0o755)); err != nil {
		m.stop()
		return nil, fmt.Errorf("boot machine: %w", err)
	}
	var log bytes.Buffer
	// The shell enters the machine's own control group before it makes the namespace.
	m.holder = exec.Command("/bin/sh", "-c", `for g in $2; do echo $$ >"$g/cgroup.procs" || true; done
exec unshare --mount --pid --fork --uts --ipc --cgroup --kill-child "$0" "$1"`, script, dir, strings.Join(m.makeGroups(), " "))
	m.holder.Stdout, m.holder.Stderr = &log, &log
	m.holder.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := m.holder.Start(); err != nil {
		m.stop()
		return nil, fmt.Errorf("boot machine: %w", err)
	}
	if err := m.await(); err != nil {
		m.stop()
		return nil, fmt.Errorf("boot machine: %w: %s", err, log.String())
	}
	return m, nil
}

// makeGroups makes a control group for the machine in every hierarchy that
// systemd uses, and returns their directories.
func (m *Machine) makeGroups() []string {
	for _, parent := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd"} {
		if _, err := os.Stat(filepath.Join(parent, "cgroup.procs")); err != nil {
			continue
		}
		group := filepath.Join(parent, filepath.Base(m.dir))
		if os.Mkdir(group, 0o755) == nil {
			m.group = append(m.group, group)
		}
	}
	return m.group
}

// await waits until systemd has started.
func (m *Machine) await() error {
	children := fmt.Sprintf("/proc/%d/task/%d/children", m.holder.Process.Pid, m.holder.Process.Pid)
	for end := time.Now().Add(bootLimit); time.Now().Before(end); time.Sleep(pollPace) {
		text, err := os.ReadFile(children)
		if err != nil {
			return errors.New("it ended while it started")
		}
		m.pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			continue
		}
		if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", m.pid)); string(name) != "systemd\n" {
			continue
		}
		out, _ := m.command(context.Background(), "systemctl", "is-system-running").Output()
		if state := strings.TrimSpace(string(out)); state == "running" || state == "degraded" {
			return nil
		}
	}
	return fmt.Errorf("systemd did not start within %s", bootLimit)
}

func (m *Machine) command(ctx context.Context, argv ...string) *exec.Cmd {
	enter := []string{"-t", strconv.Itoa(m.pid), "-m", "-p", "-u", "-i", "-C", "-r", "-w", "--"}
	c := exec.CommandContext(ctx, "nsenter", append(enter, argv...)...)
	c.WaitDelay = time.Second
	c.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8"}
	return c
}

// Run runs a command in the machine and returns its output (both streams) and
// exit code. A command that does not end within three minutes fails the test.
func (m *Machine) Run(t testing.TB, argv ...string) (output string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandLimit)
	defer cancel()
	text, err := m.command(ctx, argv...).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		t.Fatalf("%q did not end within %s:\n%s", argv, commandLimit, text)
	case errors.As(err, &exit):
		return string(text), exit.ExitCode()
	case err != nil:
		t.Fatalf("%q: %v", argv, err)
	}
	return string(text), 0
}

// Shell runs a shell script in the machine and fails the test unless it exits 0.
func (m *Machine) Shell(t testing.TB, script string) string {
	t.Helper()
	output, code := m.Run(t, "/bin/sh", "-euc", script)
	if code != 0 {
		t.Fatalf("exit %d: %s\n%s", code, script, output)
	}
	return output
}

// Write writes a file in the shared directory and returns its path in the machine.
func (m *Machine) Write(t testing.TB, name, text string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(m.Share, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return "/share/" + name
}

func (m *Machine) stop() {
	if m.pid > 0 {
		_ = syscall.Kill(m.pid, syscall.SIGKILL) // PID 1 of its namespace: all its processes end with it
	}
	if m.holder != nil && m.holder.Process != nil {
		_ = m.holder.Wait() // it was killed, or could not boot
	}
	for _, group := range m.group {
		for end := time.Now().Add(5 * time.Second); !removeGroup(group) && time.Now().Before(end); {
			time.Sleep(pollPace) // until its processes are reaped
		}
	}
	_ = os.RemoveAll(m.dir)
}

// removeGroup removes a control group with all groups below it, and reports
// whether it is gone. Only directories can be removed there, the deepest first.
func removeGroup(group string) bool {
	entries, _ := os.ReadDir(group)
	for _, entry := range entries {
		if entry.IsDir() {
			removeGroup(filepath.Join(group, entry.Name()))
		}
	}
	return os.Remove(group) == nil
}
