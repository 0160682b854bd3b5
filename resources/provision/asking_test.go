package provision_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
	"github.com/settle-cm/settle/resources"
)

// What a helper is told, to the byte, from the three ways to say it.
func TestInventory(t *testing.T) {
	const whole = `{"agents":[],"classes":["a"],"collectives":[],"data_plugins":[],"facts":{"big":12345678901234567890,"deep":{"t":"x","yes":"yes"},"exp":1e3,"list":[1.0,true,null,"1"],"octal":"0123"},` +
		`"machines":[{"name":"m","state":"s","version":"1.0.0"}],"main_collective":"","upgradable":false,"version":"0.30.0"}`
	const facts = `{"agents":[],"classes":[],"collectives":[],"data_plugins":[],"facts":{"rack":12},"machines":[],"main_collective":"","upgradable":false,"version":""}`
	inMap := "inventory:\n  classes: [a]\n  version: 0.30.0\n  machines: [{name: m, state: s, version: 1.0.0}]\n" +
		"  facts: {big: 12345678901234567890, exp: 1e3, octal: 0123, list: [1.0, true, null, '1'], deep: {t: x, yes: yes}}"
	inFile := `{"classes":["a"],"version":"0.30.0","machines":[{"name":"m","state":"s","version":"1.0.0"}],"facts":{"list":[1.0,true,null,"1"],"big":12345678901234567890,"exp":1e3,"octal":"0123","deep":{"t":"x","yes":"yes"}}}`
	tests := []struct{ name, properties, file, want string }{
		{"a map", inMap, "", whole},
		{"a file", "inventory_file: inventory.json", inFile, whole},
		{"a command", "inventory_command: cat inventory.json", inFile, whole},
		{"facts alone", "inventory_command: cat inventory.json", `{"rack": 12}`, facts},
		{"facts alone, in a map", "inventory: {rack: 12}", "", facts},
		{"a version beside it", "inventory: {rack: 12}\nversion: 1e3", "", strings.Replace(facts, `"version":""`, `"version":"1e3"`, 1)},
		{"the version of a command", "inventory: {facts: {rack: 12}, version: '1'}\nversion_command: echo 0.31.0", "", strings.Replace(facts, `"version":""`, `"version":"0.31.0"`, 1)},
		{"upgrades", "inventory: {rack: 12}\nversion_command: echo 2\nfeatures: [upgrades]\non_upgrade: 'true'", "", strings.Replace(strings.Replace(facts, `"version":""`, `"version":"2"`, 1), `"upgradable":false`, `"upgradable":true`, 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			s.write("inventory.json", tt.file)
			s.answers(fixture(t, "05-defer"))
			s.want(s.apply(tt.properties), model.Deferred, "…")
			text, err := json.Marshal(tt.want)
			if err != nil {
				t.Fatal(err)
			}
			want := `{"identity":"node1.example.net","csr":null,"ed25519_pubkey":null,"inventory":` + string(text) + `,"jwt":null}`
			if got := s.read("input.json"); got != want {
				t.Errorf("the helper was told\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestInventoriesThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"[]": "the inventory is not one JSON object", "": "the inventory is not one JSON object", `{"facts": 1}`: "the inventory has a number in facts",
		`{"facts": {}, "rack": 1}`: `"rack" is not a key of an inventory: put it under facts`,
	} {
		s := newSite(t)
		s.answers("{}")
		s.write("inventory.json", text)
		s.want(s.apply("inventory_file: inventory.json"), model.Failed, "inventory_file "+s.path("inventory.json")+": "+want)
	}
	s := newSite(t)
	s.answers("{}")
	s.want(s.apply("inventory_file: gone.json"), model.Failed, "inventory_file: open "+s.path("gone.json")+": no such file or directory")
	s.want(s.apply("inventory_command: sh -c 'echo no facts >&2; exit 3'"), model.Failed, `inventory_command sh -c 'echo no facts >&2; exit 3': exited 3; its standard error ends with "no facts"`)
}

func TestInventoryOfThisMachine(t *testing.T) {
	s := newSite(t)
	s.answers(fixture(t, "05-defer"))
	m, problems := load(s.dir, strings.Replace(s.manifest(""), "inventory: {facts: {rack: 12}}", "site: x", 1), resources.World{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if _, err := m.Resources[0].Spec.Run(t.Context(), model.Stage{}); err != nil {
		t.Fatal(err)
	}
	var in struct{ Inventory string }
	var inv struct{ Facts struct{ Hostname string } }
	if err := json.Unmarshal([]byte(s.read("input.json")), &in); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(in.Inventory), &inv); err != nil {
		t.Fatal(err)
	}
	if name, err := os.Hostname(); err != nil || inv.Facts.Hostname != name {
		t.Errorf("inventory %s", in.Inventory)
	}
}

// A preview never asks.
func TestAPreviewNeverAsksTheHelper(t *testing.T) {
	s := newSite(t)
	newIssuer(s)
	s.script("touch asked; echo '{}'")
	for _, properties := range []string{"", "features: [pki]", ed25519, "version_command: touch asked", "inventory_command: touch asked"} {
		s.want(s.walk(engine.Preview, s.manifest(properties)), model.WouldRun, "would ask the helper")
		if _, err := os.Stat(s.path("asked")); err == nil {
			t.Fatal("something was asked")
		}
	}
	if tree := s.tree(); tree != "" {
		t.Errorf("something was written:\n%s", tree)
	}
	if _, err := os.Stat(s.path("state")); err == nil {
		t.Error("something was written to the state directory")
	}
	s.write("paused", "")
	o := s.walk(engine.Preview, s.manifest("pause_file: paused"))
	s.want(o, model.WouldRun, "would ask the helper")
	s.warns(o, "provisioning is paused, cannot run ./helper for "+identity+": "+s.path("paused")+" exists")
	if err := os.Remove(s.path("helper")); err != nil {
		t.Fatal(err)
	}
	s.warns(s.walk(engine.Preview, s.manifest("")), s.path("helper")+" does not exist")
}

// A preview that asks says what the answer would change, and writes nothing.
func TestAPreviewThatAsks(t *testing.T) {
	s := newSite(t)
	newIssuer(s)
	foresee := func(properties string) *model.Result {
		t.Helper()
		before := s.tree()
		o := s.walkWith(engine.Preview, s.manifest(properties), true)
		if after := s.tree(); after != before {
			t.Errorf("something was written:\n%s", after)
		}
		return o
	}
	s.answers(fixture(t, "08-policies"))
	o := foresee("")
	s.want(o, model.WouldRun, "would be changed: policies/rpcutil.policy written, policies/rego/default.rego written, server.conf written")
	for _, line := range []string{"+++ " + s.path("etc/policies/rpcutil.policy"), "+policy default deny", "+loglevel = warn"} {
		if !strings.Contains(o.Diff, line+"\n") {
			t.Errorf("the difference lacks %q:\n%s", line, o.Diff)
		}
	}
	s.apply("")
	s.want(foresee(""), model.Stable, "as the helper says")
	s.answers(strings.Replace(fixture(t, "08-policies"), `"loglevel"`, `"plugin.nats.pass": "hunter2", "plugin.security.choria.token_file": "/x", "plugin.nats.user": "toomanysecrets", "loglevel"`, 1))
	o = foresee("features: [jwt]\njwt_verify: issuer.public\njwt: provisioning.jwt")
	s.want(o, model.WouldRun, "would be changed: server.conf written")
	for _, line := range []string{"+plugin.nats.pass = ***", "+plugin.security.choria.token_file = /x", "+plugin.nats.user = ***"} {
		if !strings.Contains(o.Diff, line+"\n") {
			t.Errorf("the difference lacks %q:\n%s", line, o.Diff)
		}
	}
	s.answers(fixture(t, "03-ed25519-claims"))
	o = foresee(ed25519)
	s.want(o, model.WouldRun, "would be changed: server.seed written, server.jwt written, server.conf written")
	if want := "+++ " + s.path("etc/server.seed") + "\n***\n"; !strings.Contains(o.Diff, want) || strings.Contains(o.Diff, "eyJ") {
		t.Errorf("the difference shows a secret, or not that there is one:\n%s", o.Diff)
	}
	if _, err := os.Stat(s.path("state/.provision")); err == nil {
		t.Error("a key was kept")
	}
	s.answers(fixture(t, "05-defer"))
	s.want(foresee(""), model.WouldRun, "would be deferred: CMDB has no record of node1.example.net yet")
	s.answers(fixture(t, "06-shutdown"))
	s.want(foresee("on_shutdown: touch stopped"), model.WouldRun, "would be shut down: node1.example.net was decommissioned")
	s.answers(fixture(t, "09-upgrade"))
	s.want(foresee("features: [upgrades]\nversion_command: echo 1\non_upgrade: touch upgraded"), model.WouldRun, "would be upgraded to 0.31.0")
	s.answers(fixture(t, "25-empty-object"))
	s.want(foresee(""), model.Failed, "helper ./helper for "+identity+": the reply is refused: no configuration: the reply is an empty object")
	for _, name := range []string{"stopped", "upgraded"} {
		if _, err := os.Stat(s.path(name)); err == nil {
			t.Error("an on_ command was run")
		}
	}
	first := "  - exec:\n      - first: {command: 'true', before: 'provision#" + identity + "'}\n"
	s.answers(fixture(t, "08-policies"))
	s.want(s.walkWith(engine.Preview, s.manifest("")+first, true), model.MayRun, "the helper's answer was read before exec#first runs")
}

// What is in the input never shows, however a helper fails.
func TestNothingOfTheInputShows(t *testing.T) {
	s := newSite(t)
	newIssuer(s)
	s.script("cat >&2; exit 1")
	for _, properties := range []string{ed25519, ed25519 + "\ntimeout: 5s"} {
		o := s.apply(properties)
		s.want(o, model.Failed, "helper ./helper for "+identity+": exited 1; its standard error ends with …")
		for what, text := range map[string]string{"reason": o.Reason, "output": o.Output, "streamed": strings.Join(s.heard, "\n")} {
			if strings.Contains(text, "toomanysecrets") || strings.Contains(text, "s3cret") {
				t.Errorf("%s shows a secret: %s", what, text)
			}
			if what != "reason" && !strings.Contains(text, `"cht":"***"`) {
				t.Errorf("%s does not show what was hidden: %s", what, text)
			}
		}
	}
	s.script(`cat >/dev/null; echo '{"defer": true, "msg": "toomanysecrets!"}'`)
	s.want(s.apply(ed25519), model.Deferred, "***!")
	s.script(`cat >/dev/null; echo '{"toomanysecrets": true}'`)
	o := s.apply(ed25519)
	if strings.Contains(o.Reason, "toomanysecrets") || strings.Contains(o.Warnings[0], "toomanysecrets") {
		t.Errorf("%s, %v", o.Reason, o.Warnings)
	}
}

func TestALeftoverChildDoesNotSpoilTheReply(t *testing.T) {
	s := newSite(t)
	s.write("reply.json", minimal(""))
	s.script("cat reply.json; sleep 600 & echo $! >child")
	o := s.apply("")
	s.want(o, model.Changed, "server.conf written")
	if len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], "sleep (pid ") {
		t.Errorf("warnings %v", o.Warnings)
	}
	if err := exec.Command("kill", strings.TrimSpace(s.read("child"))).Run(); err != nil {
		t.Error(err)
	}
}

func TestTries(t *testing.T) {
	s := newSite(t)
	s.write("reply.json", minimal(""))
	s.script("cat >/dev/null; test -e once || { touch once; exit 1; }; cat reply.json")
	o := s.apply("tries: 3\ntry_sleep: 1ms")
	s.want(o, model.Changed, "server.conf written")
	if o.Attempts != 2 {
		t.Errorf("%d attempts", o.Attempts)
	}
	s.script("sleep 600")
	o = s.apply("tries: 2\ntry_sleep: 1ms\ntimeout: 100ms")
	s.want(o, model.Failed, "helper ./helper for "+identity+": timed out after 100ms")
	if o.Attempts != 2 {
		t.Errorf("%d attempts", o.Attempts)
	}
}

func TestMeasuresOfAProvisionAreSummedOverItsAttempts(t *testing.T) {
	s := newSite(t)
	s.write("paused", "")
	s.write("reply.json", minimal(""))
	s.script("cat >/dev/null; test -e once || { touch once; exit 1; }; cat reply.json")
	const properties = "site: london\ntries: 2\ntry_sleep: 1ms"
	tests := []struct {
		name, properties string
		want             model.Measures // with a second for any time
	}{
		{"failed, then wrote", properties, model.Measures{"helper_runs": 2, "helper_seconds": 1, "helper_errors": 1, "files_written": 1}},
		{"wrote nothing", properties, model.Measures{"helper_runs": 1, "helper_seconds": 1}},
		{"paused", properties + "\npause_file: paused", model.Measures{"paused": 1}},
		{"not started", properties + "\nhelper: ./gone", model.Measures{"helper_errors": 1}},
		{"no inventory", properties + "\ninventory_file: gone", nil},
		{"timed out", "timeout: 50ms\nhelper: sleep 600", model.Measures{"helper_runs": 1, "helper_seconds": 1, "helper_errors": 1}},
		{"refused", "helper: echo 1", model.Measures{"helper_runs": 1, "helper_seconds": 1, "helper_errors": 1}},
	}
	for _, tt := range tests {
		text := s.manifest(tt.properties)
		if strings.Contains(tt.properties, "helper:") {
			text = strings.Replace(text, "          helper: ./helper\n", "", 1)
		}
		o := s.walk(engine.Apply, text)
		if o.Measures["helper_seconds"] > 0 {
			o.Measures["helper_seconds"] = 1
		}
		if !maps.Equal(o.Measures, tt.want) {
			t.Errorf("%s: %+v, want %+v (%s)", tt.name, o.Measures, tt.want, o.Reason)
		}
	}
}

// Of a sensitive provision nothing is said that the helper said.
func TestASensitiveProvision(t *testing.T) {
	s := newSite(t)
	const sensitive = "sensitive: true"
	s.script("cat >/dev/null; echo hunter2 >&2; echo hunter2")
	check := func(o *model.Result, status model.Status, reason string) {
		t.Helper()
		s.want(o, status, reason)
		text, err := json.Marshal(s.report)
		if err != nil {
			t.Fatal(err)
		}
		if all := string(text) + strings.Join(s.heard, "\n"); strings.Contains(all, "hunter2") || strings.Contains(all, "./helper") {
			t.Errorf("it shows: %s", all)
		}
	}
	check(s.apply(sensitive), model.Failed, "helper *** for "+identity+": its answer is refused; settle helper run says why")
	s.script("cat >/dev/null; echo hunter2 >&2; exit 1")
	check(s.apply(sensitive), model.Failed, "helper *** for "+identity+": exited 1")
	s.answers(minimal(`, "hunter2": 1, "action_policies": {"a.policy": "hunter2"}`))
	check(s.apply(sensitive), model.Changed, "policies/a.policy written, server.conf written")
	s.answers(minimal(`, "action_policies": {"a.policy": "hunter2 "}`))
	check(s.walkWith(engine.Preview, s.manifest(sensitive), true), model.WouldRun, "would be changed: policies/a.policy written")
	s.write("paused", "")
	check(s.apply(sensitive+"\npause_file: paused"), model.Failed, "provisioning is paused, cannot run *** for "+identity+": …")
}
