//go:build linux

package service_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/settle-cm/settle/testdata/machine"
)

// units are made in the machine: one of every kind that matters.
const units = `
cd /etc/systemd/system
unit() { cat >"$1"; }
unit sleeper.service <<'U'
[Service]
ExecStart=/bin/sleep 1000
[Install]
WantedBy=multi-user.target
U
unit reloads.service <<'U'
[Service]
ExecStart=/bin/sleep 1000
ExecReload=/bin/sh -c 'echo reloaded >> /root/reloads'
[Install]
WantedBy=multi-user.target
U
unit static.service <<'U'
[Service]
ExecStart=/bin/sleep 1000
U
unit also.service <<'U'
[Service]
ExecStart=/bin/sleep 1000
[Install]
Also=also.socket
U
unit also.socket <<'U'
[Socket]
ListenStream=/run/also.sock
[Install]
WantedBy=sockets.target
U
unit aliased.service <<'U'
[Service]
ExecStart=/bin/sleep 1000
[Install]
Alias=other.service
U
unit once.service <<'U'
[Service]
Type=oneshot
ExecStart=/bin/true
U
unit stay.service <<'U'
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
U
unit crash.service <<'U'
[Service]
ExecStart=/bin/sh -c 'echo dying: no config; sleep 0.2; exit 3'
U
unit loop.service <<'U'
[Service]
ExecStart=/bin/sh -c 'exit 4'
Restart=always
RestartSec=0.1
StartLimitIntervalSec=0
U
unit app@.service <<'U'
[Service]
ExecStart=/bin/sleep 1000
[Install]
WantedBy=multi-user.target
U
systemctl daemon-reload
`

// host is a machine with settle and the units in it.
type host struct {
	*machine.Machine
	t *testing.T
}

func start(t *testing.T) host {
	m := machine.Start(t)
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", filepath.Join(m.Share, "settle"), "../../cmd/settle")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m.Shell(t, units)
	return host{m, t}
}

// settle runs settle with a manifest that declares services, one a line.
func (h host) settle(command string, services ...string) (output string, code int) {
	h.t.Helper()
	text := "name: services\nresources:\n  - service:\n      - " + strings.Join(services, "\n      - ") + "\n"
	return h.manifest(command, text)
}

func (h host) manifest(command, text string) (output string, code int) {
	h.t.Helper()
	path := h.Write(h.t, "settle.yaml", text)
	argv := append([]string{"/share/settle"}, strings.Fields(command)...)
	return h.Run(h.t, append(argv, "--state-dir", "/root/state", path)...)
}

// converges applies services, and checks that a second apply and a plan find
// nothing to do.
func (h host) converges(services ...string) {
	h.t.Helper()
	if out, code := h.settle("apply", services...); code != 0 {
		h.t.Fatalf("apply exits %d:\n%s", code, out)
	}
	if out, code := h.settle("apply --detailed-exitcode", services...); code != 0 {
		h.t.Errorf("the second apply exits %d:\n%s", code, out)
	}
}

func (h host) expect(unit, property, want string) {
	h.t.Helper()
	if got := strings.TrimSpace(h.Shell(h.t, "systemctl show --value -p "+property+" -- "+unit)); got != want {
		h.t.Errorf("%s of %s is %q, want %q", property, unit, got, want)
	}
}

func (h host) fails(want string, services ...string) {
	h.t.Helper()
	if out, code := h.settle("apply", services...); code != 1 || !strings.Contains(out, want) {
		h.t.Errorf("exit %d without %q:\n%s", code, want, out)
	}
}

func TestServicesOfSystemd(t *testing.T) {
	h := start(t)
	// Subtests share the machine and run in order, each with units of its own.
	t.Run("a unit is started and enabled", func(t *testing.T) {
		h.t = t
		h.converges("sleeper: {enable: true, steady: 0}")
		h.expect("sleeper", "ActiveState", "active")
		h.expect("sleeper", "UnitFileState", "enabled")
	})
	t.Run("an instance of a template", func(t *testing.T) {
		h.t = t
		h.converges("app@blue: {enable: true, steady: 0}")
		h.expect("app@blue", "ActiveState", "active")
	})
	t.Run("a static unit is not enabled again and again", func(t *testing.T) { // s4
		h.t = t
		h.converges("static: {enable: true, steady: 0}")
		h.converges("static: {enable: false, steady: 0}")
	})
	t.Run("an indirect and an aliased unit are enabled once", func(t *testing.T) { // s5
		h.t = t
		h.converges("also: {enable: true, ensure: any}", "aliased: {enable: true, ensure: any}")
		h.expect("also.socket", "UnitFileState", "enabled")
		if out, code := h.settle("plan", "also: {enable: true, ensure: any}"); code != 0 || !strings.Contains(out, "may run") {
			t.Errorf("plan exits %d:\n%s", code, out)
		}
	})
	t.Run("stop and mask in one run", func(t *testing.T) { // s3, s2
		h.t = t
		h.Shell(t, "mkdir -p /usr/lib/systemd/system && mv /etc/systemd/system/reloads.service /usr/lib/systemd/system/ && systemctl daemon-reload && systemctl start reloads")
		h.converges("reloads: {masked: true, ensure: stopped}")
		h.expect("reloads", "LoadState", "masked")
		h.fails("reloads.service is masked: set masked: false", "reloads: {}")
		h.converges("reloads: {masked: false, steady: 0}")
	})
	t.Run("the mask of an administrator's unit is refused", func(t *testing.T) {
		h.t = t
		h.fails("which mask would have to replace", "static: {masked: true, ensure: stopped}")
	})
	t.Run("a oneshot never stays running", func(t *testing.T) {
		h.t = t
		h.fails("is a oneshot without RemainAfterExit", "once: {}")
		h.converges("stay: {steady: 0}") // s10: active (exited) counts
	})
	t.Run("a crash right after the start fails with the unit's own words", func(t *testing.T) { // s13
		h.t = t
		h.fails("dying: no config", "crash: {}")
		h.fails("start: failed (exit-code, status 3)", "crash: {}") // also after it has failed before
	})
	t.Run("a unit that systemd restarts again and again does not run", func(t *testing.T) {
		h.t = t
		if out, code := h.settle("apply", "loop: {}"); code != 1 {
			t.Errorf("exit %d:\n%s", code, out)
		}
		h.converges("loop: {ensure: stopped}")
	})
	t.Run("a unit that is not there", func(t *testing.T) {
		h.t = t
		h.fails("there is no unit nosuch.service", "nosuch: {}")
		h.converges("nosuch: {ensure: stopped, enable: false}")
	})
	t.Run("a unit file's first drop-in reaches the restarted process", testDropIn(h)) // s1
	t.Run("enabling does not swallow the restart", testEnableAndRestart(h))           // s7
	t.Run("a changed Install section is enabled again", testChangedInstallSection(h)) // s6
	t.Run("a reload of a unit that cannot reload stays owed", testReloadStaysOwed(h)) // s8
	t.Run("a refresh is restart, reload, or a start", testRefresh(h))                 // s9, s14
	t.Run("a plan without guards starts nothing", func(t *testing.T) {
		h.t = t
		if out, _ := h.settle("plan --no-guards", "sleeper: {}"); !strings.Contains(out, "service not read") {
			t.Errorf("plan says:\n%s", out)
		}
	})
	t.Run("one query answers for all services of a converged run", testOneQuery(h))
	t.Run("random changes converge", testRandomChanges(h))
}

// withFile is a manifest in which a service subscribes to a file.
func withFile(path, content, service string) string {
	return fmt.Sprintf(`name: file-and-service
resources:
  - file:
      - %s:
          content: |
            %s
  - service:
      - %s
`, path, strings.ReplaceAll(content, "\n", "\n            "), service)
}

func testDropIn(h host) func(*testing.T) {
	return func(t *testing.T) {
		h.t = t
		h.Shell(t, "mkdir -p /etc/systemd/system/sleeper.service.d && systemctl start sleeper")
		const dropIn = "/etc/systemd/system/sleeper.service.d/env.conf"
		text := withFile(dropIn, "[Service]\nEnvironment=COLOUR=green", "sleeper: {steady: 0, subscribe: file#"+dropIn+"}")
		if out, code := h.manifest("apply", text); code != 0 {
			t.Fatalf("exit %d:\n%s", code, out)
		}
		environment := h.Shell(t, "tr '\\0' '\\n' </proc/$(systemctl show --value -p MainPID sleeper)/environ")
		if !strings.Contains(environment, "COLOUR=green") {
			t.Errorf("the process was started from the old definition:\n%s", environment)
		}
	}
}

func testEnableAndRestart(h host) func(*testing.T) {
	return func(t *testing.T) {
		h.t = t
		h.Shell(t, "systemctl disable sleeper; systemctl start sleeper")
		before := h.Shell(t, "systemctl show --value -p InvocationID sleeper")
		text := withFile("/root/enable.conf", "new", "sleeper: {enable: true, steady: 0, subscribe: file#/root/enable.conf}")
		if out, code := h.manifest("apply", text); code != 0 {
			t.Fatalf("exit %d:\n%s", code, out)
		}
		h.expect("sleeper", "UnitFileState", "enabled")
		if after := h.Shell(t, "systemctl show --value -p InvocationID sleeper"); after == before {
			t.Error("the unit was enabled and not restarted")
		}
	}
}

func testChangedInstallSection(h host) func(*testing.T) {
	return func(t *testing.T) {
		h.t = t
		h.converges("sleeper: {enable: true, steady: 0}")
		h.Shell(t, "sed -i 's/multi-user.target/graphical.target/' /etc/systemd/system/sleeper.service")
		h.converges("sleeper: {enable: true, steady: 0}")
		h.Shell(t, "test -L /etc/systemd/system/graphical.target.wants/sleeper.service")
	}
}

func testReloadStaysOwed(h host) func(*testing.T) {
	return func(t *testing.T) {
		h.t = t
		h.Shell(t, "systemctl start sleeper")
		const reload = "sleeper: {refresh: reload, steady: 0, subscribe: file#/root/owed.conf}"
		if out, code := h.manifest("apply", withFile("/root/owed.conf", "1", reload)); code != 1 || !strings.Contains(out, "cannot reload: set refresh: reload_or_restart") {
			t.Fatalf("exit %d:\n%s", code, out)
		}
		before := h.Shell(t, "systemctl show --value -p InvocationID sleeper")
		repaired := strings.Replace(reload, "reload", "reload_or_restart", 1)
		if out, code := h.manifest("apply", withFile("/root/owed.conf", "1", repaired)); code != 0 || !strings.Contains(out, "refresh owed") {
			t.Errorf("exit %d:\n%s", code, out)
		}
		if h.Shell(t, "systemctl show --value -p InvocationID sleeper") == before {
			t.Error("the owed refresh did not restart the unit")
		}
	}
}

func testRefresh(h host) func(*testing.T) {
	return func(t *testing.T) {
		h.t = t
		const service = "reloads: {refresh: reload, steady: 0, subscribe: file#/root/refresh.conf}"
		h.Shell(t, "systemctl stop reloads; rm -f /root/reloads")
		if out, code := h.manifest("apply", withFile("/root/refresh.conf", "1", service)); code != 0 {
			t.Fatalf("exit %d:\n%s", code, out)
		}
		h.Shell(t, "test ! -e /root/reloads && systemctl is-active reloads") // it was started instead
		if out, code := h.manifest("plan", withFile("/root/refresh.conf", "2", service)); code != 0 || !strings.Contains(out, "would refresh") {
			t.Errorf("plan exits %d:\n%s", code, out)
		}
		if out, code := h.manifest("apply", withFile("/root/refresh.conf", "2", service)); code != 0 {
			t.Fatalf("exit %d:\n%s", code, out)
		}
		h.Shell(t, "test $(wc -l </root/reloads) = 1")
	}
}

func testOneQuery(h host) func(*testing.T) {
	return func(t *testing.T) {
		h.t = t
		services := []string{"sleeper: {steady: 0}", "static: {steady: 0}", "stay: {steady: 0}", "app@blue: {steady: 0}"}
		h.converges(services...)
		h.Shell(t, `mkdir -p /root/count && printf '#!/bin/sh\necho >>/root/queries\nexec /bin/systemctl.real "$@"\n' >/root/count/systemctl && chmod +x /root/count/systemctl &&
mv /bin/systemctl /bin/systemctl.real && cp /root/count/systemctl /bin/systemctl; rm -f /root/queries`)
		defer h.Shell(t, "mv /bin/systemctl.real /bin/systemctl")
		if out, code := h.settle("apply", services...); code != 0 {
			t.Errorf("exit %d:\n%s", code, out)
		}
		if n := strings.TrimSpace(h.Shell(t, "wc -l </root/queries")); n != "1" {
			t.Errorf("%s systemctl processes, want 1", n)
		}
	}
}

// rounds is how many random changes are made. For the long form:
//
//	SETTLE_SYSTEM_TESTS=1 go test ./resources/service -rounds 200 -timeout 30m
var rounds = flag.Int("rounds", 8, "random changes of a service that are made and repaired")

func testRandomChanges(h host) func(*testing.T) {
	return func(t *testing.T) {
		h.t = t
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		changes := []string{
			"systemctl start sleeper", "systemctl stop sleeper", "systemctl enable sleeper", "systemctl disable sleeper",
			"systemctl kill -s KILL sleeper || true", "echo '# edited' >>/etc/systemd/system/sleeper.service",
			"mkdir -p /etc/systemd/system/sleeper.service.d; echo '[Unit]' >/etc/systemd/system/sleeper.service.d/$(date +%N).conf",
		}
		wanted := []string{
			"sleeper: {enable: true, steady: 0}", "sleeper: {enable: false, steady: 0}",
			"sleeper: {ensure: stopped, enable: true}", "sleeper: {ensure: any, enable: false}",
		}
		for range *rounds {
			var script []string
			for range 1 + random.IntN(3) {
				script = append(script, changes[random.IntN(len(changes))])
			}
			h.Shell(t, strings.Join(script, "\n"))
			service := wanted[random.IntN(len(wanted))]
			planned, _ := h.settle("plan", service)
			out, code := h.settle("apply", service)
			if code != 0 {
				t.Fatalf("after %q, %s exits %d:\n%s", script, service, code, out)
			}
			if strings.Contains(out, "1 changed") && strings.Contains(planned, "0 to do") {
				t.Errorf("after %q the plan says stable, and apply changes:\n%s%s", script, planned, out)
			}
			if out, code := h.settle("apply --detailed-exitcode", service); code != 0 {
				t.Fatalf("after %q, the second apply of %s exits %d:\n%s", script, service, code, out)
			}
		}
	}
}
