package provision_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
)

func TestConfigurationIsMadeSo(t *testing.T) {
	s := newSite(t)
	s.answers(minimal(`, "action_policies": {"b.policy": "B\n", "a.policy": "A\n"}`))
	s.want(s.apply(""), model.Changed, "policies/a.policy written, policies/b.policy written, server.conf written")
	want := "# written by settle from what the helper answers; changes made here are lost\nidentity = node1.example.net\nplugin.choria.server.provision = false\n"
	if got := s.read("etc/server.conf"); got != want {
		t.Errorf("configuration\n%s\nwant\n%s", got, want)
	}
	s.want(s.apply(""), model.Stable, "as the helper says")

	s.write("etc/server.conf", want+"loglevel = debug\n")
	s.want(s.apply(""), model.Changed, "server.conf written")
	for name, mode := range map[string]os.FileMode{"etc/server.conf": 0o644, "etc/policies/a.policy": 0o600} {
		if err := os.Chmod(s.path(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	s.want(s.apply(""), model.Changed, "policies/a.policy owner or mode set, server.conf owner or mode set")
	if err := os.Remove(s.path("etc/policies/a.policy")); err != nil {
		t.Fatal(err)
	}
	s.want(s.apply(""), model.Changed, "policies/a.policy written")
	s.want(s.apply(""), model.Stable, "as the helper says")
}

func TestConfigurationElsewhere(t *testing.T) {
	s := newSite(t)
	s.answers(minimal(""))
	path := s.path("else/where/choria.conf")
	s.want(s.apply("config_file: else/where/choria.conf"), model.Changed, path+" written")
	s.want(s.apply("config_file: else/where/choria.conf"), model.Stable, "as the helper says")
}

func TestPoliciesArePruned(t *testing.T) {
	s := newSite(t)
	s.answers(minimal(`, "action_policies": {"a.policy": "A"}, "opa_policies": {"a.rego": "R"}`))
	s.apply("")
	for _, name := range []string{"policies/old.policy", "policies/notes.txt", "policies/old.rego", "policies/rego/old.rego", "policies/rego/old.policy"} {
		s.write("etc/"+name, "x")
	}
	s.want(s.apply(""), model.Changed, "policies/old.policy removed, policies/rego/old.rego removed")

	s.write("etc/policies/old.policy", "x")
	s.answers(minimal(``))
	s.want(s.apply(""), model.Stable, "as the helper says")
	s.answers(minimal(`, "action_policies": null`))
	s.want(s.apply(""), model.Stable, "as the helper says")
	s.answers(minimal(`, "action_policies": {}`))
	s.want(s.apply(""), model.Changed, "policies/a.policy removed, policies/old.policy removed")
	if got := s.read("etc/policies/rego/a.rego"); got != "R" {
		t.Errorf("a policy of the other kind became %q", got)
	}
}

func TestUpgrades(t *testing.T) {
	s := newSite(t)
	s.write("version", "0.30.0\n")
	s.answers(minimal(`, "upgrade": "0.31.0"`))
	upgrade := func(script string) string {
		s.write("upgrade.sh", script)
		return "features: [upgrades]\nversion_command: cat version\non_upgrade: sh upgrade.sh\n"
	}
	s.want(s.apply(upgrade("echo no network >&2; exit 4")), model.Failed, "on_upgrade sh upgrade.sh: exit 4")
	s.want(s.apply(upgrade("echo $SETTLE_UPGRADE_VERSION >version")), model.Changed, "upgraded to 0.31.0")
	if tree := s.tree(); tree != "" {
		t.Errorf("the rest of the reply was applied:\n%s", tree)
	}
	s.want(s.apply(upgrade("touch again")), model.Changed, "server.conf written")
	if _, err := os.Stat(s.path("again")); err == nil {
		t.Error("it was upgraded to what it was")
	}
	s.want(s.apply(upgrade("")), model.Stable, "as the helper says")

	s.answers(strings.Replace(minimal(`, "upgrade": "0.32.0"`), "node1", "node3", 1))
	o := s.apply(upgrade("exit 4") + "upgrade_optional: true")
	s.want(o, model.Changed, "server.conf written")
	s.warns(o, "on_upgrade sh upgrade.sh: exit 4; the upgrade is optional")
	s.answers(`{"upgrade": "0.32.0"}`)
	s.want(s.apply(upgrade("true")+"upgrade_optional: true"), model.Failed, "helper ./helper for "+identity+`: the reply is refused: no configuration: received "upgrade"`)
}

// A server is stopped once, until the helper says something else.
func TestShutdownHappensOnce(t *testing.T) {
	s := newSite(t)
	const properties = "on_shutdown: sh -c 'echo stopped >>stops; test ! -e broken'"
	stops := func(n int) {
		t.Helper()
		if got := strings.Count(s.read("stops"), "stopped"); got != n {
			t.Errorf("stopped %d times, want %d", got, n)
		}
	}
	s.write("stops", "")
	s.write("broken", "")
	s.answers(fixture(t, "06-shutdown"))
	s.want(s.apply(properties), model.Failed, "on_shutdown sh -c …")
	stops(1)
	if err := os.Remove(s.path("broken")); err != nil {
		t.Fatal(err)
	}
	s.want(s.apply(properties), model.Shutdown, "node1.example.net was decommissioned")
	stops(2)
	s.want(s.apply(properties), model.Shutdown, "node1.example.net was decommissioned")
	stops(2)
	s.script("exit 1") // says nothing
	s.want(s.apply(properties), model.Failed, "helper ./helper for "+identity+": exited 1")
	s.answers(fixture(t, "06-shutdown"))
	s.want(s.apply(properties), model.Shutdown, "node1.example.net was decommissioned")
	stops(2)
	s.answers(fixture(t, "05-defer"))
	s.want(s.apply(properties), model.Deferred, "CMDB has no record of node1.example.net yet")
	s.answers(fixture(t, "06-shutdown"))
	s.want(s.apply(properties), model.Shutdown, "node1.example.net was decommissioned")
	stops(3)
}

func TestPaused(t *testing.T) {
	s := newSite(t)
	s.script("touch asked; echo '{}'")
	s.write("paused", "")
	s.want(s.apply("pause_file: paused"), model.Failed, "provisioning is paused, cannot run ./helper for "+identity+": "+s.path("paused")+" exists")
	if _, err := os.Stat(s.path("asked")); err == nil {
		t.Error("the helper was asked")
	}
}

// A provision that failed before it wrote anything owes no refresh; one that
// failed half way does.
func TestDebts(t *testing.T) {
	s := newSite(t)
	subscriber := "  - exec:\n      - restart: {command: 'true', refreshonly: true, subscribe: 'provision#" + identity + "'}\n"
	s.script("exit 1")
	s.want(s.walk(engine.Apply, s.manifest("")+subscriber), model.Failed, "…")
	if len(s.memory.Owed) > 0 {
		t.Errorf("owed: %v", s.memory.Owed)
	}
	s.answers(fixture(t, "08-policies"))
	s.want(s.walk(engine.Apply, s.manifest("config_file: /proc/server.conf")+subscriber), model.Failed, "…")
	if len(s.memory.Owed) != 1 {
		t.Errorf("owed: %v", s.memory.Owed)
	}
	o := s.walk(engine.Apply, s.manifest("")+subscriber)
	s.want(o, model.Changed, "server.conf written")
	if len(s.memory.Owed) > 0 {
		t.Errorf("owed: %v", s.memory.Owed)
	}
}

func TestConditions(t *testing.T) {
	s := newSite(t)
	s.script("touch asked; echo '{}'")
	s.write("there", "")
	for properties, reason := range map[string]string{
		"creates: there": "creates " + s.path("there") + " exists", "unless: test -e there": "unless exit 0", "onlyif: 'false'": "onlyif exit 1", "refreshonly: true": "refreshonly",
	} {
		s.want(s.apply(properties), model.Stable, reason)
	}
	if _, err := os.Stat(s.path("asked")); err == nil {
		t.Error("the helper was asked")
	}
	s.want(s.walk(engine.Preview, s.manifest("unless: test -e gone")), model.WouldRun, "unless exit 1")
}

// A file that is a link is replaced, never written through; one that is a
// directory is left alone.
func TestOddFilesInTheWay(t *testing.T) {
	s := newSite(t)
	s.answers(minimal(""))
	s.write("elsewhere", "precious")
	if err := os.Mkdir(s.path("etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(s.path("elsewhere"), s.path("etc/server.conf")); err != nil {
		t.Fatal(err)
	}
	s.want(s.apply(""), model.Changed, "server.conf written")
	if s.read("elsewhere") != "precious" {
		t.Error("it was written through a link")
	}
	if err := os.Remove(s.path("etc/server.conf")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(s.path("etc/server.conf"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.want(s.apply(""), model.Failed, s.path("etc/server.conf")+" is a directory, not a file")
}

func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give files away")
	}
	s := newSite(t)
	s.answers(fixture(t, "08-policies"))
	s.want(s.apply("owner: '1234'\ngroup: '4321'"), model.Changed, "…")
	for _, name := range []string{"etc", "etc/server.conf", "etc/policies", "etc/policies/rego", "etc/policies/rpcutil.policy"} {
		out, err := exec.Command("stat", "-c", "%u:%g", s.path(name)).Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != "1234:4321" {
			t.Errorf("%s is %s's, %v", name, got, err)
		}
	}
	s.want(s.apply("owner: '1234'\ngroup: '4321'"), model.Stable, "as the helper says")
	s.want(s.apply("owner: nobody-at-all"), model.Failed, `user "nobody-at-all" does not exist`)
}
