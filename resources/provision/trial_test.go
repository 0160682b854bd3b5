package provision_test

import (
	"strings"
	"testing"
	"time"

	"github.com/settle-cm/settle/resources/provision"
	"github.com/settle-cm/settle/resources/provision/contract"
)

func TestTry(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	sample := func(name string) *contract.Input {
		t.Helper()
		for _, s := range contract.Samples() {
			if s.Name == name {
				in, err := contract.ParseInput(s.Data)
				if err != nil {
					t.Fatal(err)
				}
				return in
			}
		}
		t.Fatalf("no sample %s", name)
		return nil
	}
	tests := []struct {
		input, fixture string
		upgrades       bool
		action         string
		files          string
	}{
		{"none", "01-minimal", false, "apply", "/etc/choria/server.conf"},
		{"none", "08-policies", false, "apply", "/etc/choria/policies/rpcutil.policy /etc/choria/policies/rego/default.rego /etc/choria/server.conf"},
		{"pki", "02-pki", false, "apply", "/etc/choria/ssl/ca.pem /etc/choria/ssl/certificate.pem /etc/choria/server.conf"},
		{"captured/pki", "02-pki", false, "refuse", ""},
		{"captured/jwt_ed25519", "03-ed25519-claims", false, "apply", "/etc/choria/jwted/etc/server.jwt /etc/choria/jwted/etc/server.conf"},
		{"jwt", "03-ed25519-claims", false, "apply", "/etc/choria/server.conf"},
		{"none", "09-upgrade", false, "apply", "/etc/choria/server.conf"},
		{"none", "09-upgrade", true, "upgrade", ""},
		{"none", "05-defer", false, "defer", ""},
		{"none", "06-shutdown", false, "shutdown", ""},
		{"none", "25-empty-object", false, "refuse", ""},
	}
	for _, tt := range tests {
		t.Run(tt.input+"/"+tt.fixture, func(t *testing.T) {
			trial, err := provision.Try(sample(tt.input), []byte(fixture(t, tt.fixture)), tt.upgrades, now)
			if err != nil {
				t.Fatal(err)
			}
			var files []string
			for _, f := range trial.Files {
				files = append(files, f.Path)
			}
			if got := strings.Join(files, " "); trial.Action.String() != tt.action || got != tt.files {
				t.Errorf("%s %s, want %s %s", trial.Action, got, tt.action, tt.files)
			}
		})
	}
	trial, err := provision.Try(sample("none"), []byte(`{"configuration": {"plugin.choria.server.provision": "false", "plugin.nats.pass": "hunter2"}}`), false, now)
	if err != nil || strings.Contains(trial.Files[0].Text, "hunter2") || !strings.Contains(trial.Files[0].Text, "plugin.nats.pass = ***\n") {
		t.Errorf("%v, %v", trial, err)
	}
	if _, err := provision.Try(sample("none"), nil, false, now); err == nil {
		t.Error("nothing is taken for a reply")
	}
}
