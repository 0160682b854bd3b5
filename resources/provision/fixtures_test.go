package provision_test

import (
	"strings"
	"testing"

	"github.com/settle-cm/settle/model"
)

// TestFixtures holds what becomes of a server to the verdicts of the contract
// (docs/helpers.md), from the manifest to the files.
func TestFixtures(t *testing.T) {
	const (
		conf  = "etc 0755\netc/server.conf 0600"
		token = conf + "\netc/server.jwt 0600\netc/server.seed 0600"
	)
	pki, ed25519 := "features: [pki]", "features: [ed25519]\njwt_verify: issuer.public\njwt_signing_key: issuer.seed\njwt: provisioning.jwt"
	upgrades := "features: [upgrades]\nversion_command: cat version\non_upgrade: cp /dev/null upgraded"
	tests := []struct {
		fixture, properties string
		status              model.Status
		reason              string // after "helper … for …: " when it failed
		tree                string
		again               model.Status
	}{
		{"01-minimal", "", model.Changed, "server.conf written", conf, model.Stable},
		{"02-pki", pki, model.Failed, "the reply is refused: $.certificate: the certificate is not for our key; sign the csr that came with this request", "", model.Failed},
		{"03-ed25519-claims", ed25519, model.Changed, "server.seed written, server.jwt written, server.conf written", token, model.Stable},
		{"04-ed25519-upstream-exp", ed25519, model.Changed, "server.seed written, server.jwt written, server.conf written", token, model.Stable},
		{"05-defer", "", model.Deferred, "CMDB has no record of node1.example.net yet", "", model.Deferred},
		{"05-defer", pki, model.Deferred, "CMDB has no record of node1.example.net yet", "", model.Deferred},
		{"06-shutdown", "", model.Shutdown, "node1.example.net was decommissioned", "", model.Shutdown},
		{"08-policies", "", model.Changed, "policies/rpcutil.policy written, policies/rego/default.rego written, server.conf written",
			"etc 0755\netc/policies 0700\netc/policies/rego 0700\netc/policies/rego/default.rego 0400\netc/policies/rpcutil.policy 0400\netc/server.conf 0600", model.Stable},
		{"09-upgrade", "", model.Changed, "server.conf written", conf, model.Stable},
		{"09-upgrade", upgrades, model.Failed, `on_upgrade cp /dev/null upgraded: the version is "0.30.0" after it, not "0.31.0"`, "", model.Failed},
		{"20-defer-and-shutdown", "", model.Deferred, "which one?", "", model.Deferred},
		{"21-defer-with-configuration", "", model.Deferred, "cfssl integration failed", "", model.Deferred},
		{"23-certificate-without-ca", "", model.Failed, "the reply is refused: $.certificate: a certificate without a ca; answer with certificate, ca and ssldir", "", model.Failed},
		{"25-empty-object", "", model.Failed, "the reply is refused: no configuration: the reply is an empty object", "", model.Failed},
		{"26-typo-configuraton", "", model.Failed, `the reply is refused: no configuration: received "configuraton" (did you mean "configuration"?)`, "", model.Failed},
		{"27-number-value", "", model.Failed, "$.configuration.registerinterval: expected a string, got a number", "", model.Failed},
		{"28-bool-value", "", model.Failed, `$.configuration["plugin.choria.server.provision"]: expected a string, got a boolean`, "", model.Failed},
		{"29-newline-in-value", "", model.Failed, "the reply is refused: $.configuration.loglevel: the value has a line break …", "", model.Failed},
		{"30-provision-not-disabled", "", model.Changed, "server.conf written", conf, model.Stable},
		{"31-policy-named-by-agent", "", model.Failed, `the reply is refused: $.action_policies.rpcutil: the name does not end in .policy; did you mean "rpcutil.policy"?`, "", model.Failed},
		{"32-policy-path-traversal", "", model.Failed, `the reply is refused: $.opa_policies["../../../evil.rego"]: the name is not that of a file in the policy directory`, "", model.Failed},
		{"33-exp-string", ed25519, model.Failed, "$.server_claims.exp: expected a number, got a string", "", model.Failed},
		{"34-permission-typo", "", model.Failed, `the reply is refused: $.server_claims.permissions.stream: is not a permission of a server; did you mean "streams"?`, "", model.Failed},
		{"34-permission-typo", ed25519, model.Failed, `the reply is refused: $.server_claims.permissions.stream: is not a permission of a server; did you mean "streams"?`, "", model.Failed},
		{"40-zero-bytes", "", model.Failed, "zero bytes received: it exited 0 and wrote nothing to standard output", "", model.Failed},
		{"41-null", "", model.Failed, "the reply is refused: no configuration: the reply is null", "", model.Failed},
		{"42-array", "", model.Failed, `the reply is not an object but an array: "[]\n"`, "", model.Failed},
		{"43-log-line-before", "", model.Failed, `the reply is not exactly one JSON object: it begins with "Loading CA...\n…`, "", model.Failed},
		{"44-two-documents", "", model.Failed, "the reply is more than one JSON object: another value begins at byte 208: …", "", model.Failed},
		{"45-truncated", "", model.Failed, "the reply ends in the middle of the JSON object, after 60 bytes, in $.configuration", "", model.Failed},
		{"46-duplicate-defer", "", model.Failed, "$.defer: is given twice", "", model.Failed},
	}
	for _, tt := range tests {
		t.Run(tt.fixture, func(t *testing.T) {
			s := newSite(t)
			newIssuer(s)
			s.write("version", "0.30.0\n")
			s.answers(fixture(t, tt.fixture))
			reason := tt.reason
			if tt.status == model.Failed && !strings.HasPrefix(reason, "on_upgrade") {
				reason = "helper ./helper for " + identity + ": " + reason
			}
			s.want(s.apply(tt.properties), tt.status, reason)
			if got := s.tree(); got != tt.tree {
				t.Errorf("the server has\n%s\nwant\n%s", got, tt.tree)
			}
			if again := s.apply(tt.properties); again.Status != tt.again {
				t.Errorf("again: %s: %s", again.Status, again.Reason)
			}
		})
	}
}
