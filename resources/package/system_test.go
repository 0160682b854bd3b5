//go:build linux

package pkg_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/settle-cm/settle/testdata/machine"
)

// repository makes a small package repository in the machine: versions, an
// epoch, a configuration file, slow and failing scripts, a conflict.
const repository = `
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
repo=/srv/repo; mkdir -p $repo
build() { # name version control postinst conffile
  d=$(mktemp -d); mkdir -p $d/DEBIAN $d/usr/share/doc/$1 $d/etc
  echo "$1 $2" >$d/usr/share/doc/$1/about
  printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: t <t@example.org>\nDescription: t\n%b' $1 $2 "$3" >$d/DEBIAN/control
  if [ -n "$4" ]; then printf '#!/bin/sh\n%s\n' "$4" >$d/DEBIAN/postinst; chmod 755 $d/DEBIAN/postinst; fi
  if [ -n "$5" ]; then echo "$5" >$d/etc/$1.conf; echo /etc/$1.conf >$d/DEBIAN/conffiles; fi
  dpkg-deb --root-owner-group --build $d $repo >/dev/null
}
build tool 1.0-1 '' '' 'setting 1'
build tool 1.1-1 '' '' 'setting 2'
build tool 2:0.5-1 '' '' 'setting 3'
build slow 1.0 '' 'sleep 4' ''
build bad 1.0 '' 'echo I fail; exit 7' ''
build lib 1.0 '' '' ''
build app 1.0 'Depends: lib\n' '' ''
build rival 1.0 'Conflicts: app\n' '' ''
(cd $repo && dpkg-scanpackages -m . >Packages 2>/dev/null)
rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/* /var/lib/apt/lists/*
echo "deb [trusted=yes] file:$repo ./" >/etc/apt/sources.list
`

// host is a machine with settle and the repository in it.
type host struct {
	*machine.Machine
	t *testing.T
}

func start(t *testing.T) *host {
	m := machine.Start(t)
	if _, code := m.Run(t, "which", "dpkg-scanpackages", "apt-get"); code != 0 {
		t.Skip("makes a repository: needs dpkg-dev and apt")
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", filepath.Join(m.Share, "settle"), "../../cmd/settle")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m.Shell(t, repository)
	return &host{m, t}
}

func (h *host) settle(command string, resources ...string) (output string, code int) {
	h.t.Helper()
	text := "name: packages\nresources:\n  - package:\n      - " + strings.Join(resources, "\n      - ") + "\n"
	path := h.Write(h.t, "settle.yaml", text)
	argv := append([]string{"/share/settle"}, strings.Fields(command)...)
	return h.Run(h.t, append(argv, "--state-dir", "/root/state", path)...)
}

// converges applies resources, and checks that a second apply changes nothing.
func (h *host) converges(resources ...string) (output string) {
	h.t.Helper()
	output, code := h.settle("apply", resources...)
	if code != 0 {
		h.t.Fatalf("apply exits %d:\n%s", code, output)
	}
	if out, code := h.settle("apply --detailed-exitcode", resources...); code != 0 {
		h.t.Errorf("the second apply exits %d:\n%s", code, out)
	}
	return output
}

func (h *host) fails(want string, resources ...string) {
	h.t.Helper()
	if out, code := h.settle("apply", resources...); code != 1 || !strings.Contains(out, want) {
		h.t.Errorf("exit %d without %q:\n%s", code, want, out)
	}
}

func (h *host) expect(name, want string) {
	h.t.Helper()
	got, _ := h.Run(h.t, "dpkg-query", "-W", "-f=${Version} ${db:Status-Abbrev}", name)
	if got = strings.TrimSpace(got); got != want && !(want == "" && (got == "un" || strings.Contains(got, "no packages found"))) {
		h.t.Errorf("%s is %q, want %q", name, got, want)
	}
}

func TestPackagesOfApt(t *testing.T) {
	h := start(t)
	// The subtests share the machine and run in order.
	for _, sub := range []struct {
		name string
		test func(h *host)
	}{
		{"an unknown package makes the index be read", (*host).testUnknown},
		{"a version is installed, upgraded and downgraded", (*host).testVersions},
		{"a hold is kept over changes", (*host).testHold},
		{"a changed configuration file is kept with a warning", (*host).testConfigurationFile},
		{"removals of other packages are refused in plan and apply", (*host).testRemovals},
		{"a failed script is reported, and purging repairs", (*host).testFailedScript},
		{"an interrupted installation is repaired by the next run", (*host).testInterrupted},
		{"another package manager is waited for and named", (*host).testLock},
		{"a converged run starts one process", (*host).testOneProcess},
		{"a user without rights gets a clear answer", (*host).testWithoutRoot},
	} {
		t.Run(sub.name, func(t *testing.T) {
			h.t = t
			sub.test(h)
		})
	}
}

func (h *host) testUnknown() {
	if out, _ := h.settle("plan", "app: {}"); !strings.Contains(out, "does not know it: it is read anew first") {
		h.t.Errorf("plan says:\n%s", out)
	}
	h.fails("apt knows no package app (index of", "app: {update: never}")
	h.converges("app: {}")
	h.expect("lib", "1.0 ii")
	h.fails("apt knows no package nosuch", "nosuch: {}")
	h.fails("apt knows no version 1.0 of tool: 2:0.5-1, 1.1-1, 1.0-1; write 1.0-* for any revision", "tool: {ensure: \"1.0\"}")
}

func (h *host) testVersions() {
	if out, _ := h.settle("plan", "tool: {ensure: 1.0-1}"); !strings.Contains(out, "+ tool 1.0-1") {
		h.t.Errorf("plan says:\n%s", out)
	}
	h.converges("tool: {ensure: 1.0-1}")
	h.expect("tool", "1.0-1 ii")
	h.converges("tool: {ensure: \"1.*\"}") // any version that fits satisfies a pattern
	h.expect("tool", "1.0-1 ii")
	h.converges("tool: {ensure: latest}")
	h.expect("tool", "2:0.5-1 ii")
	h.fails("tool 2:0.5-1 is installed, 1.1-1 is wanted: set downgrade: true", "tool: {ensure: 1.1-1, downgrade: false}")
	h.converges("tool: {ensure: 1.1-1}")
	h.expect("tool", "1.1-1 ii")
}

func (h *host) testHold() {
	h.converges("tool: {ensure: 1.0-1, hold: true}")
	h.expect("tool", "1.0-1 hi")
	h.converges("tool: {ensure: 1.1-1, hold: true}")
	h.expect("tool", "1.1-1 hi")
	h.fails("tool is held at 1.1-1 (apt-mark hold)", "tool: {ensure: latest}")
	h.converges("tool: {ensure: latest, hold: false}")
	h.expect("tool", "2:0.5-1 ii")
}

func (h *host) testConfigurationFile() {
	h.converges("tool: {ensure: 1.0-1}")
	h.Shell(h.t, "echo mine >/etc/tool.conf")
	out, code := h.settle("apply", "tool: {ensure: 1.1-1}")
	if code != 0 || !strings.Contains(out, "kept /etc/tool.conf; the package's is /etc/tool.conf.dpkg-dist") {
		h.t.Errorf("exit %d:\n%s", code, out)
	}
	h.Shell(h.t, "test $(cat /etc/tool.conf) = mine")
}

func (h *host) testRemovals() {
	for _, command := range []string{"plan", "apply"} {
		if out, code := h.settle(command, "lib: {ensure: absent}"); code != 1 || !strings.Contains(out, "would remove app: set removals: true") {
			h.t.Errorf("%s exits %d:\n%s", command, code, out)
		}
		if out, code := h.settle(command, "rival: {}"); code != 1 || !strings.Contains(out, "would remove app") {
			h.t.Errorf("%s exits %d:\n%s", command, code, out)
		}
	}
	h.converges("rival: {removals: true}")
	h.expect("app", "")
	h.converges("rival: {ensure: purged}", "lib: {ensure: absent}")
}

func (h *host) testFailedScript() {
	h.fails("the post-installation script of bad failed: exit 7", "bad: {}")
	h.expect("bad", "1.0 iF")
	if out, _ := h.settle("plan", "bad: {}"); !strings.Contains(out, "not configured") {
		h.t.Errorf("plan says:\n%s", out)
	}
	h.converges("bad: {ensure: purged}")
	h.expect("bad", "")
}

func (h *host) testInterrupted() {
	h.Shell(h.t, `apt-get -q update >/dev/null
setsid apt-get -q -y -o Dpkg::Use-Pty=0 install slow=1.0 >/root/slow.log 2>&1 &
pid=$!
until pgrep -f '[s]low.postinst' >/dev/null; do
  test -d /proc/$pid || { cat /root/slow.log; exit 1; }
  sleep 0.1
done
/bin/kill -KILL -- -$pid
wait $pid || true`)
	h.expect("slow", "1.0 iF")
	h.converges("slow: {}", "lib: {}")
	h.expect("slow", "1.0 ii")
	h.converges("slow: {ensure: purged}")
}

func (h *host) testLock() {
	h.Shell(h.t, `cat >/root/lock.py <<'P'
import fcntl, time
f = open("/var/lib/dpkg/lock-frontend", "w")
fcntl.lockf(f, fcntl.LOCK_EX)
open("/root/locked", "w")
time.sleep(20)
P
python3 /root/lock.py >/dev/null 2>&1 &
until test -e /root/locked; do sleep 0.1; done`)
	h.fails("another package manager runs: pid", "lib: {ensure: absent, lock_timeout: 1s}")
	h.fails("(python3), waited 1s", "lib: {ensure: absent, lock_timeout: 1s}")
	h.converges("lib: {ensure: absent}") // waits until the lock is free
}

func (h *host) testOneProcess() {
	names := strings.Fields(h.Shell(h.t, "dpkg-query -W -f='${Package}\\n' | sort -u | head -200"))
	for i := range names {
		names[i] = "\"" + names[i] + "\": {}"
	}
	h.Shell(h.t, `mv /usr/bin/dpkg-query /usr/bin/dpkg-query.real
printf '#!/bin/sh\necho >>/root/queries\nexec /usr/bin/dpkg-query.real "$@"\n' >/usr/bin/dpkg-query
chmod +x /usr/bin/dpkg-query; rm -f /root/queries`)
	defer h.Shell(h.t, "mv /usr/bin/dpkg-query.real /usr/bin/dpkg-query")
	if out, code := h.settle("apply", names...); code != 0 || !strings.Contains(out, "0 changed") {
		h.t.Errorf("exit %d:\n%s", code, out)
	}
	if n := strings.TrimSpace(h.Shell(h.t, "wc -l </root/queries")); n != "1" {
		h.t.Errorf("%s dpkg-query processes, want 1", n)
	}
}

func (h *host) testWithoutRoot() {
	path := h.Write(h.t, "settle.yaml", "- package:\n    - lib: {}\n")
	h.Shell(h.t, "cp "+path+" /tmp/lib.yaml && chmod 644 /tmp/lib.yaml && chmod 755 /share && chmod 755 /share/settle")
	out, code := h.Run(h.t, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/share/settle", "apply", "--state-dir", "/tmp/nobody", "/tmp/lib.yaml")
	if code == 0 || !strings.Contains(out, "changing packages needs root") {
		h.t.Errorf("exit %d:\n%s", code, out)
	}
}
