package provision_test

import (
	"crypto/x509"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	lib "github.com/choria-io/tokens"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/engine"
	"github.com/settle-cm/settle/resources"
)

// TestFixtures holds what becomes of a server to the verdicts of the contract
// (provision.md, section 8), from the manifest to the files.
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

func TestCertificates(t *testing.T) {
	s := newSite(t)
	how := newSigning(t)
	s.signs(how)
	const pki = "features: [pki]"
	s.want(s.apply(pki), model.Changed, "ssl/private.pem written, ssl/csr.pem written, ssl/ca.pem written, ssl/certificate.pem written, server.conf written")
	want := "etc 0755\netc/server.conf 0600\netc/ssl 0700\netc/ssl/ca.pem 0644\netc/ssl/certificate.pem 0644\netc/ssl/csr.pem 0644\netc/ssl/private.pem 0600"
	if got := s.tree(); got != want {
		t.Errorf("the server has\n%s\nwant\n%s", got, want)
	}
	was := s.read("etc/ssl/certificate.pem")
	s.want(s.apply(pki), model.Stable, "as the helper says") // although it signs a new one at every call
	if s.read("etc/ssl/certificate.pem") != was {
		t.Error("the certificate was replaced")
	}

	how.SANs = []string{"alias.example.net"}
	s.signs(how)
	s.want(s.apply(pki), model.Changed, "ssl/certificate.pem written")

	old := how
	old.Age = 201 * 24 * time.Hour // of 300
	s.signs(old)
	s.apply(pki) // kept: the one that is there is young
	if err := os.Remove(s.path("etc/ssl/certificate.pem")); err != nil {
		t.Fatal(err)
	}
	s.want(s.apply(pki), model.Changed, "ssl/certificate.pem written")
	s.signs(how)
	s.want(s.apply(pki), model.Changed, "ssl/certificate.pem written") // less than a third was left
	s.want(s.apply(pki), model.Stable, "as the helper says")

	how = newSigning(t)
	how.SANs = []string{"alias.example.net"}
	s.signs(how)
	s.want(s.apply(pki), model.Changed, "ssl/ca.pem written, ssl/certificate.pem written") // of another authority with the same name

	how.Name = "node2.example.net"
	s.signs(how)
	s.want(s.apply(pki), model.Failed, "helper ./helper for "+identity+`: the reply is refused: $.certificate: the certificate is for "node2.example.net", not for "node1.example.net"`)
}

// request is the certificate request that the helper was asked to sign.
func (s *site) request() (string, *x509.CertificateRequest) {
	s.Helper()
	var in struct {
		CSR struct{ CSR string }
	}
	if err := json.Unmarshal([]byte(s.read("input.json")), &in); err != nil {
		s.Fatal(err)
	}
	csr, err := x509.ParseCertificateRequest(block(in.CSR.CSR))
	if err != nil {
		s.Fatal(err)
	}
	return in.CSR.CSR, csr
}

// A request that waits for someone's approval is the same at the next call.
func TestARequestSurvivesADeferral(t *testing.T) {
	s := newSite(t)
	how := newSigning(t)
	how.Defer = true
	s.signs(how)
	const pki = "features: [pki]"
	s.want(s.apply(pki), model.Deferred, "waiting for approval")
	first, csr := s.request()
	if csr.Subject.String() != "CN="+identity || len(csr.DNSNames) != 0 {
		t.Errorf("the request is for %s, %v", csr.Subject, csr.DNSNames)
	}
	s.want(s.apply(pki), model.Deferred, "waiting for approval")
	if second, _ := s.request(); second != first {
		t.Error("the second request is another one")
	}
	if tree := s.tree(); tree != "" {
		t.Errorf("something was written:\n%s", tree)
	}
	how.Defer = false
	s.signs(how)
	s.want(s.apply(pki), model.Changed, "ssl/private.pem written, …")
	if third, _ := s.request(); third != first || s.read("etc/ssl/csr.pem") != first {
		t.Error("the request that was approved is another one")
	}
	if waiting, _ := os.ReadDir(s.path("state/.provision")); len(waiting) > 0 {
		t.Errorf("%d keys still wait", len(waiting))
	}
}

func TestARequestOfAnotherServerIsMadeAnew(t *testing.T) {
	s := newSite(t)
	s.signs(newSigning(t))
	s.apply("features: [pki]")
	key := s.read("etc/ssl/private.pem")
	s.want(s.apply("features: [pki]\nidentity: node2.example.net"), model.Changed, "ssl/private.pem written, ssl/csr.pem written, ssl/certificate.pem written, server.conf written")
	if s.read("etc/ssl/private.pem") == key {
		t.Error("two servers share a key")
	}
	key = s.read("etc/ssl/private.pem")
	if err := os.Remove(s.path("etc/ssl/csr.pem")); err != nil {
		t.Fatal(err)
	}
	s.want(s.apply("features: [pki]\nidentity: node2.example.net"), model.Changed, "ssl/csr.pem written")
	if s.read("etc/ssl/private.pem") != key {
		t.Error("a request that was lost made a new key")
	}
}

func TestNoRequestForAPrivilegedName(t *testing.T) {
	s := newSite(t)
	s.script("touch asked; echo '{}'")
	s.want(s.apply("features: [pki]\nidentity: boss.privileged.mcollective"), model.Failed,
		`no certificate is requested for "boss.privileged.mcollective": cert_deny_list has \.privileged.mcollective$`)
	s.want(s.apply("features: [pki]\ncert_deny_list: ['/^node1/']"), model.Failed, `no certificate is requested for "node1.example.net": cert_deny_list has ^node1`)
	if _, err := os.Stat(s.path("asked")); err == nil {
		t.Error("the helper was asked")
	}
}

// A key from the helper takes the place of ours, and our request with it.
func TestAKeyFromTheHelper(t *testing.T) {
	s := newSite(t)
	how := newSigning(t)
	s.signs(how)
	s.apply("features: [pki]")
	key := s.read("etc/ssl/private.pem")
	given := newSigning(t).CAKey
	cert, err := how.sign(publicOf(t, given), identity)
	if err != nil {
		t.Fatal(err)
	}
	how.Reply = map[string]any{"key": given, "certificate": cert}
	s.signs(how)
	s.want(s.apply("features: [pki]"), model.Changed, "ssl/private.pem written, ssl/csr.pem removed, ssl/certificate.pem written")
	if s.read("etc/ssl/private.pem") != given || given == key {
		t.Error("the key is not the helper's")
	}
	s.want(s.apply("features: [pki]"), model.Stable, "as the helper says")
	s.answersSigned(how, cert)
	s.want(s.apply(""), model.Stable, "as the helper says")

	if cert, err = how.sign(publicOf(t, key), identity); err != nil {
		t.Fatal(err)
	}
	s.answersSigned(how, cert)
	s.want(s.apply(""), model.Failed, "helper ./helper for "+identity+": the reply is refused: $.certificate: the certificate is not for the private key that the server has")
}

func publicOf(t *testing.T, key string) any {
	t.Helper()
	if private, err := x509.ParsePKCS1PrivateKey(block(key)); err == nil {
		return private.Public()
	}
	private, err := x509.ParseECPrivateKey(block(key))
	if err != nil {
		t.Fatal(err)
	}
	return private.Public()
}

// answersSigned answers with a certificate that was signed before.
func (s *site) answersSigned(how signing, cert string) {
	s.Helper()
	extra, err := json.Marshal(map[string]string{"certificate": cert, "ca": how.CACert, "ssldir": s.path("etc/ssl")})
	if err != nil {
		s.Fatal(err)
	}
	s.answers(minimal("," + strings.Trim(string(extra), "{}")))
}

func TestTheCertificateGoesWhereTheHelperSays(t *testing.T) {
	s := newSite(t)
	how := newSigning(t)
	given := newSigning(t).CAKey
	cert, err := how.sign(publicOf(t, given), identity)
	if err != nil {
		t.Fatal(err)
	}
	extra, err := json.Marshal(map[string]string{"key": given, "certificate": cert, "ca": how.CACert, "ssldir": s.path("etc/other/ssl")})
	if err != nil {
		t.Fatal(err)
	}
	s.answers(minimal("," + strings.Trim(string(extra), "{}")))
	s.want(s.apply(""), model.Changed, "other/ssl/private.pem written, other/ssl/ca.pem written, other/ssl/certificate.pem written, server.conf written")
	if s.read("etc/other/ssl/private.pem") != given {
		t.Error("the key is not the helper's")
	}
}

// issuer is one who signs servers' tokens and the token with which they ask.
type issuer struct{ public, seed string }

// newIssuer writes an issuer's files and a provisioning token of it.
func newIssuer(s *site) issuer {
	s.Helper()
	public, key := newKey(s.T)
	i := issuer{public, key}
	s.write("issuer.public", public+"\n")
	s.write("issuer.seed", key+"\n")
	s.write("provisioning.jwt", provisioningToken(s.T, key, time.Hour))
	return i
}

const ed25519 = "features: [ed25519]\njwt_verify: issuer.public\njwt_signing_key: issuer.seed\njwt: provisioning.jwt"

func TestTokens(t *testing.T) {
	s := newSite(t)
	i := newIssuer(s)
	s.answers(fixture(t, "03-ed25519-claims"))
	s.apply(ed25519)
	claims, err := lib.ParseServerToken(s.read("etc/server.jwt"), decodeHex(t, i.public))
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := claims.IsMatchingSeedFile(s.path("etc/server.seed")); !ok || err != nil {
		t.Errorf("the token is not the seed's: %v", err)
	}
	want := lib.ServerPermissions{Submission: true, Streams: true, Governor: true, ServiceHost: true}
	if claims.ChoriaIdentity != identity || claims.OrganizationUnit != "choria" || strings.Join(claims.Collectives, ",") != "choria" || *claims.Permissions != want ||
		strings.Join(claims.AdditionalPublishSubjects, ",") != "acme.metrics.>" || claims.ExpiresAt.Unix() != 2208988800 || claims.Issuer != "Choria Provisioner" {
		t.Errorf("claims %+v", claims)
	}
	token, seed := s.read("etc/server.jwt"), s.read("etc/server.seed")
	s.want(s.apply(ed25519), model.Stable, "as the helper says")

	s.answers(strings.Replace(fixture(t, "03-ed25519-claims"), `"ou": "choria"`, `"ou": "acme"`, 1))
	s.want(s.apply(ed25519), model.Changed, "server.jwt written")
	if s.read("etc/server.jwt") == token || s.read("etc/server.seed") != seed {
		t.Error("another organization needs another token, and the same seed")
	}
	s.write("etc/server.jwt", token[:len(token)-4]+"AAAA")
	s.want(s.apply(ed25519), model.Changed, "server.jwt written")
	if err := os.Remove(s.path("etc/server.seed")); err != nil {
		t.Fatal(err)
	}
	s.want(s.apply(ed25519), model.Changed, "server.seed written, server.jwt written")
	s.write("etc/server.seed", "x")
	s.want(s.apply(ed25519), model.Failed, s.path("etc/server.seed")+": it is not the 64 hex digits of an ed25519 seed")
}

func TestWhatATokenSaysByDefault(t *testing.T) {
	tests := []struct {
		name, reply, properties string
		collectives             string
		validity                time.Duration
	}{
		{"nothing said", minimal(""), "", "mcollective", 365 * 24 * time.Hour},
		{"a security provider", `{"configuration": {"plugin.security.provider": "choria", "plugin.choria.server.provision": "false"}}`, "", "choria", 365 * 24 * time.Hour},
		{"collectives of the configuration", `{"configuration": {"plugin.security.provider": "choria", "collectives": " a, b ,", "plugin.choria.server.provision": "false"}}`, "server_jwt_validity: 30d", "a,b", 30 * 24 * time.Hour},
		{"an expiry that is none", minimal(`, "server_claims": {"exp": 157680000}`), "server_jwt_validity: 30d", "mcollective", 30 * 24 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			i := newIssuer(s)
			s.answers(tt.reply)
			s.want(s.apply(ed25519+"\n"+tt.properties), model.Changed, "server.seed written, …")
			claims, err := lib.ParseServerToken(s.read("etc/server.jwt"), decodeHex(t, i.public))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(claims.Collectives, ","); got != tt.collectives || claims.OrganizationUnit != "choria" || claims.Permissions != nil {
				t.Errorf("claims %+v", claims)
			}
			if validity := claims.ExpiresAt.Sub(claims.IssuedAt.Time); (validity - tt.validity).Abs() > time.Minute {
				t.Errorf("valid for %s", validity)
			}
			s.want(s.apply(ed25519+"\n"+tt.properties), model.Stable, "as the helper says")
		})
	}
}

// A token that does not verify fails the resource before the helper hears of it.
func TestATokenThatDoesNotVerify(t *testing.T) {
	s := newSite(t)
	newIssuer(s)
	_, other := newKey(t)
	s.script("touch asked; echo '{}'")
	properties := "features: [jwt]\njwt_verify: issuer.public\njwt: provisioning.jwt"
	s.write("provisioning.jwt", provisioningToken(t, other, time.Hour))
	s.want(s.apply(properties), model.Failed, "verify the provisioning token "+s.path("provisioning.jwt")+": token signature is invalid: …")
	s.write("issuer.public", "x")
	s.want(s.apply(properties), model.Failed, "verify the provisioning token "+s.path("provisioning.jwt")+": the key is neither PEM nor …")
	if err := os.Remove(s.path("provisioning.jwt")); err != nil {
		t.Fatal(err)
	}
	s.want(s.apply(properties), model.Failed, "verify the provisioning token: open "+s.path("provisioning.jwt")+": no such file or directory")
	if _, err := os.Stat(s.path("asked")); err == nil {
		t.Error("the helper was asked")
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
	foresee := func(properties string) *model.Outcome {
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
	if strings.Contains(o.Reason, "toomanysecrets") || strings.Contains(o.Warnings[0].Message, "toomanysecrets") {
		t.Errorf("%s, %v", o.Reason, o.Warnings)
	}
}

func TestALeftoverChildDoesNotSpoilTheReply(t *testing.T) {
	s := newSite(t)
	s.write("reply.json", minimal(""))
	s.script("cat reply.json; sleep 600 & echo $! >child")
	o := s.apply("")
	s.want(o, model.Changed, "server.conf written")
	if len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0].Message, "sleep (pid ") {
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

// What metrics count of each attempt.
func TestHelped(t *testing.T) {
	s := newSite(t)
	s.write("paused", "")
	s.write("reply.json", minimal(""))
	s.script("cat >/dev/null; test -e once || { touch once; exit 1; }; cat reply.json")
	const properties = "site: london\ntries: 2\ntry_sleep: 1ms"
	tests := []struct {
		name, properties string
		want             []model.Helped // with Took as 0 or 1
	}{
		{"failed, then wrote", properties, []model.Helped{{Site: "london", Took: 1, Failed: true}, {Site: "london", Took: 1, Wrote: true}}},
		{"wrote nothing", properties, []model.Helped{{Site: "london", Took: 1}}},
		{"paused", properties + "\npause_file: paused", []model.Helped{{Site: "london", Paused: true}}},
		{"not started", properties + "\nhelper: ./gone", []model.Helped{{Site: "london", Failed: true}}},
		{"never got so far", properties + "\ninventory_file: gone", []model.Helped{{Site: "london"}}},
		{"timed out", "timeout: 50ms\nhelper: sleep 600", []model.Helped{{Took: 1, Failed: true}}},
		{"refused", "helper: echo 1", []model.Helped{{Took: 1, Failed: true}}},
	}
	for _, tt := range tests {
		text := s.manifest(tt.properties)
		if strings.Contains(tt.properties, "helper:") {
			text = strings.Replace(text, "          helper: ./helper\n", "", 1)
		}
		o := s.walk(engine.Apply, text)
		for i := range o.Helped {
			o.Helped[i].Took = min(o.Helped[i].Took, 1)
		}
		if !slices.Equal(o.Helped, tt.want) {
			t.Errorf("%s: %+v, want %+v (%s)", tt.name, o.Helped, tt.want, o.Reason)
		}
	}
}

// A provision that failed before it wrote anything owes no refresh; one that
// failed half way does.
func TestDebts(t *testing.T) {
	s := newSite(t)
	subscriber := "  - exec:\n      - restart: {command: 'true', refreshonly: true, subscribe: 'provision#" + identity + "'}\n"
	s.script("exit 1")
	s.want(s.walk(engine.Apply, s.manifest("")+subscriber), model.Failed, "…")
	if len(s.memory.Debts) > 0 {
		t.Errorf("owed: %v", s.memory.Debts)
	}
	s.answers(fixture(t, "08-policies"))
	s.write("file", "")
	s.want(s.walk(engine.Apply, s.manifest("config_file: file/server.conf")+subscriber), model.Failed, "…")
	if len(s.memory.Debts) != 1 {
		t.Errorf("owed: %v", s.memory.Debts)
	}
	o := s.walk(engine.Apply, s.manifest("")+subscriber)
	s.want(o, model.Changed, "server.conf written")
	if len(s.memory.Debts) > 0 {
		t.Errorf("owed: %v", s.memory.Debts)
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
